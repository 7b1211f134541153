import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { eventually } from './eventually.ts'
import { systemPath } from './hosts/sandbox.ts'
import { freePort } from './loopback.ts'

/** A PgBouncer in transaction mode: a transaction gets any of a few connections to the server. */
export interface PgBouncer {
  /** Address of the same database, through PgBouncer. */
  readonly url: string
  stop(): Promise<void>
}

/** Starts a PgBouncer before the database of a URL; it ends with this process at the latest. */
export async function startPgBouncer(database: string, connections: number): Promise<PgBouncer> {
  const directory = mkdtempSync(join(tmpdir(), 'platform-pgbouncer-'))
  const port = await freePort()
  const { hostname, port: serverPort, username, pathname } = new URL(database)
  const url = `postgres://${username}@127.0.0.1:${port}${pathname}`
  // The account that it runs as has to read the files.
  chmodSync(directory, 0o755)
  writeFileSync(join(directory, 'users.txt'), `"${username}" ""\n`)
  const settings = [
    '[databases]',
    `* = host=${hostname} port=${serverPort} user=${username}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    `auth_file = ${join(directory, 'users.txt')}`,
    'pool_mode = transaction',
    `default_pool_size = ${connections}`,
    'max_client_conn = 200',
  ]
  const file = join(directory, 'pgbouncer.ini')
  writeFileSync(file, settings.join('\n'), { mode: 0o644 })
  // It refuses to run as root.
  const account = process.getuid?.() === 0 ? ['--reuid=65534', '--regid=65534', '--clear-groups'] : []
  const args = ['--pdeathsig', 'KILL', ...account, 'pgbouncer', '-q', file]
  const env = { PATH: systemPath() }
  const child = spawn('setpriv', args, { stdio: 'ignore', cwd: '/', env })
  const stop = async () => {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    rmSync(directory, { recursive: true, force: true })
  }
  try {
    await eventually('PgBouncer', () => canConnect(url))
  } catch (error) {
    await stop()
    throw error
  }
  return { url, stop }
}

async function canConnect(connectionString: string): Promise<boolean> {
  const client = new Client({ connectionString })
  client.on('error', () => undefined)
  await client.connect()
  await client.end()
  return true
}
