import type { Writable } from 'node:stream'
import { systemClock } from '../../src/kernel/clock.ts'
import { readMockDriveConfig, type MockDriveEnvironment } from './env.ts'
import { startMockDrive } from './server.ts'

/** The parts of the process that the program uses. */
export interface MockDriveContext {
  readonly env: MockDriveEnvironment
  readonly stderr: Writable
}

/**
 * `platform mock-drive`: serves until SIGTERM or SIGINT, then resolves. Rejects with a `ValueError` for an invalid
 * variable, and with the system's error when it cannot listen.
 */
export async function runMockDrive({ env, stderr }: MockDriveContext): Promise<void> {
  const config = readMockDriveConfig(env)
  // A client's request must not end the process because its log line cannot be written.
  stderr.on('error', () => undefined)
  const stopped = stopSignal()
  const server = await startMockDrive(config, {
    clock: systemClock,
    write: (line) => void stderr.write(line),
  })
  const storage = config.directory === undefined ? 'memory' : 'directory'
  stderr.write(`mock drive listening on ${config.bind}:${server.port} (storage=${storage})\n`)
  await stopped
  await server.close()
}

function stopSignal(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve())
  return promise
}
