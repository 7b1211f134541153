import type { Writable } from 'node:stream'
import { systemClock } from '../../src/kernel/clock.ts'
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
  // A client's request must not end the process because its log line cannot be written.
  stderr.on('error', () => undefined)
  const stopped = stopSignal()
  const mock = await startMockPay(config, { clock: systemClock, write: (line) => void stderr.write(line) })
  const secrets = config.secretsDirectory ?? 'test values'
  stderr.write(`mock pay listening on ${config.bind}:${mock.port} (secrets=${secrets})\n`)
  await stopped
  await mock.close()
}

function stopSignal(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve())
  return promise
}
