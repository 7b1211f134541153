import { join } from 'node:path'
import { runPlatform } from '../../test/support/platform.ts'
import { startServer } from './servers.ts'

const PROGRAM = join(import.meta.dirname, '../../bin/platform.ts')

export interface PlatformServerOptions {
  readonly dataDir: string
  readonly port: number
}

/** The program as it is, its api alone, with the settings of production; its log goes to /dev/null. */
export function startApi({ dataDir, port }: PlatformServerOptions): Promise<AsyncDisposable> {
  return startServer({
    args: [PROGRAM, 'serve', '--module', 'api'],
    port,
    cwd: dataDir,
    env: {
      DATA_DIR: dataDir,
      LISTEN_ADDR: `127.0.0.1:${port}`,
      // Nothing listens there: events wait in the outbox, whose delivery is another benchmark.
      BUS_SERVER: 'nats://127.0.0.1:1',
      LOG_FORMAT: 'json',
      // Counted for each call as ever, and never reached.
      API_RATE_LIMIT: '1000000000',
    },
  })
}

/** A token of the administrator whom the first start has made. */
export async function issueToken(dataDir: string): Promise<string> {
  const { code, stdout, stderr } = await runPlatform(['token', 'issue', 'admin'], { dataDir })
  if (code !== 0) throw new Error(`no token could be issued: ${stderr}`)
  return stdout.trim()
}

/** A database with the current schema and nothing in it. */
export async function migrateDatabase(dataDir: string): Promise<void> {
  const { code, stderr } = await runPlatform(['db', 'migrate'], { dataDir })
  if (code !== 0) throw new Error(`no database could be made: ${stderr}`)
}
