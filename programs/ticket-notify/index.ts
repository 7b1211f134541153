import type { Environment } from './env.ts'
import { currentTime } from './env.ts'
import { ticketNotify } from './main.ts'
import type { Output } from './output.ts'

/** The parts of the process that the program uses. */
export interface TicketNotifyContext {
  readonly env: Environment
  readonly stdout: Output
  readonly stderr: Output
}

/**
 * `platform ticket-notify`: the same program as the two released files, with the notification module inside the
 * executable. Resolves with its exit code.
 */
export function runTicketNotify(argv: readonly string[], context: TicketNotifyContext): Promise<number> {
  return ticketNotify(argv, {
    ...context,
    nodeVersion: process.versions.node,
    now: currentTime,
    loadNotify: () => import('./notify.ts'),
  })
}
