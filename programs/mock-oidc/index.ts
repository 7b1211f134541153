import type { Writable } from 'node:stream'
import { systemClock } from '../../src/kernel/clock.ts'
import { readMockConfig, type MockEnvironment } from './env.ts'
import { startMockOidc } from './server.ts'

/** The parts of the process that the program uses. */
export interface MockOidcContext {
  readonly env: MockEnvironment
  readonly stderr: Writable
}

/**
 * `platform mock-oidc`: serves until SIGTERM or SIGINT, then resolves. Rejects with a `ValueError` for an invalid
 * variable, and with the system's error when it cannot listen.
 */
export async function runMockOidc({ env, stderr }: MockOidcContext): Promise<void> {
  const config = readMockConfig(env)
  // A client's request must not end the process reason its log line cannot be written.
  stderr.on('error', () => undefined)
  const stopped = stopSignal()
  const provider = await startMockOidc(config, {
    clock: systemClock,
    write: (line) => void stderr.write(line),
  })
  const { bind, tokenMode, requireForm } = config
  stderr.write(
    `mock oidc listening on ${bind}:${provider.port} (token_mode=${tokenMode} require_form=${requireForm ? 1 : 0})\n`,
  )
  await stopped
  await provider.close()
}

function stopSignal(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve())
  return promise
}
