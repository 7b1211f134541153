import type { Environment } from './env.ts'
import { presentTime } from './env.ts'
import { ticketNotify } from './main.ts'
import type { Output } from './output.ts'

/** What the program has of the world. */
export interface TicketNotifyContext {
  readonly env: Environment
  readonly stdout: Output
  readonly stderr: Output
}

/**
 * `platform ticket-notify`: the program of the two released files, whose notification module is part of the executable
 * here. Resolves with its exit code (spec, Errors: Notifier exit codes).
 */
export function runTicketNotify(argv: readonly string[], context: TicketNotifyContext): Promise<number> {
  const { env, stdout, stderr } = context
  return ticketNotify(argv, {
    env,
    nodeVersion: process.versions.node,
    stdout,
    stderr,
    now: presentTime,
    loadNotify: () => import('./notify.ts'),
  })
}
