import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chownSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { Client } from 'pg'
import { freePort } from './loopback.ts'

/** A PostgreSQL server for tests, in a temporary directory. */
export interface PostgresCluster {
  /** The URL of its database `postgres`; local connections need no password. */
  readonly url: string
  stop(): Promise<void>
}

/** An empty database for one test. */
export interface TestDatabase {
  readonly url: string
  /** Drops the database and its connections. */
  drop(): Promise<void>
}

const START_DEADLINE_MS = 30_000
const POLL_MS = 25
// /tmp is often a memory file system; /var/tmp survives a reboot (FHS), so it is on a disk.
const DISK = '/var/tmp'

const SETTINGS = ['listen_addresses=127.0.0.1', 'max_connections=200', 'timezone=UTC']
// The data need not survive a power loss.
const NOT_DURABLE = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off']

// `read` returns when the test process ends for any reason (finished, failed, interrupted, killed), because that closes
// standard input. The script then stops the server and removes its files.
const SUPERVISOR = `
  set -eu
  bin=$1 directory=$2 port=$3
  shift 3
  trap 'rm -rf "$directory"' EXIT
  exec >"$directory/log" 2>&1
  "$bin/initdb" -D "$directory/data" -U postgres -A trust -E UTF8 --locale=C.UTF-8 --no-sync --no-instructions
  "$bin/postgres" -D "$directory/data" -p "$port" -k "$directory" "$@" &
  server=$!
  read -r _ || true
  kill -QUIT $server
  wait $server || true
`

/** Creates a database on the server of the test run, or on one of this process if a test file is run by itself. */
export async function createTestDatabase({ encoding = 'UTF8' } = {}): Promise<TestDatabase> {
  const server = await serverUrl()
  const name = `test_${process.pid}_${randomBytes(6).toString('hex')}`
  await administer(server, `CREATE DATABASE ${name} TEMPLATE template0 ENCODING '${encoding}' LOCALE 'C'`)
  const url = new URL(server)
  url.pathname = name
  return { url: url.href, drop: () => administer(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) }
}

let ownServer: Promise<PostgresCluster> | undefined

async function serverUrl(): Promise<string> {
  const shared = process.env['PLATFORM_TEST_POSTGRES']
  if (shared) return shared
  ownServer ??= startPostgres()
  return (await ownServer).url
}

/**
 * Starts a server that ends with this process, and does not keep the process running. With `durable` it has its default
 * settings and its files are on a disk.
 */
export async function startPostgres({ durable = false } = {}): Promise<PostgresCluster> {
  const directory = mkdtempSync(join(durable ? DISK : tmpdir(), 'platform-postgres-'))
  const port = await freePort()
  const supervisor = startSupervisor(directory, port, durable ? SETTINGS : [...SETTINGS, ...NOT_DURABLE])
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  try {
    await untilReady(url, supervisor)
  } catch (cause) {
    const log = readLog(directory)
    await stopSupervisor(supervisor)
    rmSync(directory, { recursive: true, force: true })
    throw new Error(`PostgreSQL did not start in ${directory}; its log:\n${log}`, { cause })
  }
  return { url, stop: () => stopSupervisor(supervisor) }
}

function startSupervisor(directory: string, port: number, list: readonly string[]): ChildProcess {
  const owner = serverOwner()
  if (owner) chownSync(directory, owner.uid, owner.gid)
  const settings = list.flatMap((setting) => ['-c', setting])
  const supervisor = spawn(
    'sh',
    ['-c', SUPERVISOR, 'sh', programDirectory(), directory, String(port), ...settings],
    {
      ...owner,
      cwd: directory,
      // Outside the process group, so that Ctrl-C does not reach it directly.
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    },
  )
  supervisor.unref()
  return supervisor
}

async function stopSupervisor(supervisor: ChildProcess): Promise<void> {
  if (supervisor.exitCode !== null || supervisor.signalCode !== null) return
  supervisor.ref()
  const exited = once(supervisor, 'exit')
  supervisor.stdin?.end()
  await exited
}

/** PostgreSQL refuses to run as root; Debian's package creates the account `postgres`. */
function serverOwner(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const account = /^postgres:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8'))
  if (!account) throw new Error('There is no account "postgres" to run the server as; install postgresql.')
  return { uid: Number(account[1]), gid: Number(account[2]) }
}

/** The newest version of the directories in which Debian installs PostgreSQL. */
function programDirectory(): string {
  const directories = globSync('/usr/lib/postgresql/*/bin')
  const newest = directories.sort((a, b) => a.localeCompare(b, 'en', { numeric: true })).at(-1)
  if (!newest) throw new Error('There is no /usr/lib/postgresql/*/bin; install the package postgresql.')
  return newest
}

async function untilReady(url: string, supervisor: ChildProcess): Promise<void> {
  const deadline = performance.now() + START_DEADLINE_MS
  for (;;) {
    try {
      return await administer(url, 'SELECT 1')
    } catch (error) {
      if (supervisor.exitCode !== null || performance.now() > deadline) throw error
    }
    await wait(POLL_MS)
  }
}

async function administer(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url })
  try {
    await client.connect()
    await client.query(statement)
  } finally {
    await client.end()
  }
}

function readLog(directory: string): string {
  try {
    return readFileSync(join(directory, 'log'), 'utf8')
  } catch {
    return '(none)'
  }
}
