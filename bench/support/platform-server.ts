import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { runPlatform } from '../../test/support/platform.ts'
import { startServer, type RunningServer } from './servers.ts'

/** The program from source, as `npm start` runs it. */
export const SOURCE = [process.execPath, join(import.meta.dirname, '../../bin/platform.mjs')] as const

export interface PlatformServerOptions {
  readonly dataDir: string
  readonly port: number
  /** Default: the api alone. */
  readonly modules?: string
  /** More than the settings below, or instead of them. */
  readonly env?: Readonly<Record<string, string>>
  /** A command that starts the program in its turn. */
  readonly under?: readonly string[]
  /** The program and its first arguments; default: from source, on this Node.js. */
  readonly program?: readonly string[]
}

/** The program as it is, with the settings of production; its log goes to /dev/null. */
export function startPlatform(options: PlatformServerOptions): Promise<RunningServer> {
  const { dataDir, port, modules = 'api', env = {}, under = [], program = SOURCE } = options
  return startServer({
    command: [...under, ...program, 'serve', '--module', modules],
    port,
    cwd: dataDir,
    env: { ...apiSettings(dataDir, port), ...env },
  })
}

/** The settings of an api in a benchmark. */
export function apiSettings(dataDir: string, port: number): Record<string, string> {
  return {
    DATA_DIR: dataDir,
    LISTEN_ADDR: `127.0.0.1:${port}`,
    GATEWAY_LISTEN_ADDR: '127.0.0.1:0',
    // Nothing listens there: events wait in the outbox, whose delivery is another benchmark.
    BUS_SERVER: 'nats://127.0.0.1:1',
    LOG_FORMAT: 'json',
    // Counted for each call as ever, and never reached.
    API_RATE_LIMIT: '1000000000',
  }
}

const ISSUE_LIMIT_MS = 300_000
const ISSUE_EVERY_MS = 100

/**
 * A token of the administrator that the first start creates. The server accepts connections before it has created that
 * user, so a refusal is tried again.
 */
export async function issueToken(dataDir: string): Promise<string> {
  const deadline = performance.now() + ISSUE_LIMIT_MS
  for (;;) {
    const { code, stdout, stderr } = await runPlatform(['token', 'issue', 'admin'], { dataDir })
    if (code === 0) return stdout.trim()
    if (performance.now() > deadline) throw new Error(`no token could be issued: ${stderr}`)
    await pause(ISSUE_EVERY_MS)
  }
}
