import type { Writable } from 'node:stream'
import { systemClock } from '../../src/kernel/clock.ts'
import { runUntilSignal } from '../mock-server/listener.ts'
import { readMockPayConfig, type MockPayEnvironment } from './env.ts'
import { startMockPay } from './server.ts'

/** The parts of the process that the program uses. */
export interface MockPayContext {
  readonly env: MockPayEnvironment
  readonly stderr: Writable
}

/**
 * `platform mock-pay`: serves until SIGTERM or SIGINT, then resolves. Rejects with a `ValueError` for an invalid
 * variable, and with the system's error when it cannot listen or use the directory for secrets.
 */
export async function runMockPay({ env, stderr }: MockPayContext): Promise<void> {
  const config = readMockPayConfig(env)
  const secrets = config.secretsDirectory ?? 'test values'
  await runUntilSignal(
    stderr,
    (write) => startMockPay(config, { clock: systemClock, write }),
    ({ port }) => `mock pay listening on ${config.bind}:${port} (secrets=${secrets})`,
  )
}
