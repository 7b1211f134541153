import { systemClock } from '../../src/kernel/clock.ts'
import { runUntilSignal, type MockProgramContext } from '../mock-server/listener.ts'
import { readMockPayConfig } from './env.ts'
import { startMockPay } from './server.ts'

/**
 * `platform mock-pay`: serves until SIGTERM or SIGINT, then resolves. Rejects with a `ValueError` for an invalid
 * variable, and with the system's error when it cannot listen or use the directory for secrets.
 */
export async function runMockPay({ env, stderr }: MockProgramContext): Promise<void> {
  const config = readMockPayConfig(env)
  const secrets = config.secretsDirectory ?? 'test values'
  await runUntilSignal(
    stderr,
    (write) => startMockPay(config, { clock: systemClock, write }),
    ({ port }) => `mock pay listening on ${config.bind}:${port} (secrets=${secrets})`,
  )
}
