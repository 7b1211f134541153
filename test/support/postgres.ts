import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chownSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { Client } from 'pg'
import { freePort } from './loopback.ts'

/** A PostgreSQL server for the tests, in a temporary directory. */
export interface PostgresCluster {
  /** Address of its database `postgres`; any local connection is trusted. */
  readonly url: string
  stop(): Promise<void>
}

/** An empty database for one test. */
export interface TestDatabase {
  readonly name: string
  readonly url: string
  /** Removes it, and closes its connections. */
  drop(): Promise<void>
}

// For a machine that is busy with something else.
const START_DEADLINE_MS = 600_000
const POLL_MS = 25
// Kept over restarts (Filesystem Hierarchy Standard), so it is on a disk; /tmp is often in memory.
const DISK = '/var/tmp'

const SETTINGS = ['listen_addresses=127.0.0.1', 'max_connections=300', 'timezone=UTC']
// The data needs not survive a power loss.
const QUICK = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off']

// `read` returns when the test process closes standard input, or ends in any way; then the server is stopped and its
// files are removed. A server that ends by itself leaves its log until then, and the file `ended`.
const KEEPER = `
  set -eu
  bin=$1 directory=$2 port=$3 primary=$4
  shift 4
  exec 3<&0 >"$directory/log" 2>&1
  if [ "$primary" ]; then
    "$bin/pg_basebackup" -D "$directory/data" -R -X stream -c fast --no-sync -d "$primary"
  else
    "$bin/initdb" -D "$directory/data" -U postgres -A trust -E UTF8 --locale=C.UTF-8 --no-sync --no-instructions
  fi
  trap 'rm -rf "$directory"' EXIT
  "$bin/postgres" -D "$directory/data" -p "$port" -k "$directory" "$@" 3<&- &
  server=$!
  { read -r _ <&3 || true; [ -e "$directory/ended" ] || kill -QUIT $server; } &
  wait $server || true
  touch "$directory/ended"
  wait
`

export interface TestDatabaseOptions {
  readonly encoding?: string
  /** The name of the database that is copied; nobody may be connected to it. */
  readonly template?: string
}

/** A new database: on the server of the test run; for a file that is run by itself, on one of this process. */
export async function createTestDatabase(options: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const { encoding = 'UTF8', template = 'template0' } = options
  const server = await serverUrl()
  const name = `test_${process.pid}_${randomBytes(6).toString('hex')}`
  // Copied as files: the other way goes through the server's memory, and takes five times as long.
  await administer(
    server,
    `CREATE DATABASE ${name} TEMPLATE ${template} ENCODING '${encoding}' LOCALE 'C' STRATEGY FILE_COPY`,
  )
  const url = new URL(server)
  url.pathname = name
  return {
    name,
    url: url.href,
    drop: () => administer(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  }
}

let ownServer: Promise<PostgresCluster> | undefined

async function serverUrl(): Promise<string> {
  const shared = process.env['PLATFORM_TEST_POSTGRES']
  if (shared) return shared
  ownServer ??= startPostgres()
  return (await ownServer).url
}

export interface PostgresOptions {
  /** A commit is on a real disk, as the server's own settings have it. */
  readonly durable?: boolean
  /** The URL of a server that this one follows as its standby. */
  readonly primary?: string
  /** Further settings of the server: `name=value`. */
  readonly settings?: readonly string[]
}

/** Starts a server that ends with this process at the latest, and doesn't keep it running. */
export async function startPostgres({
  durable = false,
  primary = '',
  settings: further = [],
}: PostgresOptions = {}): Promise<PostgresCluster> {
  const directory = mkdtempSync(join(durable ? DISK : tmpdir(), 'platform-postgres-'))
  const port = await freePort()
  const settings = [...SETTINGS, ...(durable ? [] : QUICK), ...further]
  const keeper = startKeeper({ directory, port, primary, settings })
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  try {
    await untilReady(url, () => hasExited(keeper) || existsSync(join(directory, 'ended')))
  } catch (cause) {
    const log = readLog(directory)
    await stopKeeper(keeper)
    rmSync(directory, { recursive: true, force: true })
    throw new Error(`PostgreSQL did not start in ${directory}; its log:\n${log}`, { cause })
  }
  return { url, stop: () => stopKeeper(keeper) }
}

interface KeptServer {
  readonly directory: string
  readonly port: number
  readonly primary: string
  readonly settings: readonly string[]
}

function startKeeper({ directory, port, primary, settings }: KeptServer): ChildProcess {
  const owner = serverOwner()
  if (owner) chownSync(directory, owner.uid, owner.gid)
  const options = settings.flatMap((setting) => ['-c', setting])
  const keeper = spawn(
    'sh',
    ['-c', KEEPER, 'sh', postgresPrograms(), directory, String(port), primary, ...options],
    {
      ...owner,
      cwd: directory,
      // Outside the process group: Ctrl-C stops it through its standard input only.
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    },
  )
  keeper.unref()
  return keeper
}

function hasExited({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}

async function stopKeeper(keeper: ChildProcess): Promise<void> {
  if (hasExited(keeper)) return
  keeper.ref()
  const exited = once(keeper, 'exit')
  keeper.stdin?.end()
  await exited
}

/** PostgreSQL refuses to run as root; Debian's package creates an account for it. */
function serverOwner(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const account = /^postgres:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8'))
  if (!account) throw new Error('There is no account "postgres" to run the server as; install postgresql.')
  return { uid: Number(account[1]), gid: Number(account[2]) }
}

/** Debian has a directory for each version; the newest is used, unless the environment names another directory. */
export function postgresPrograms(): string {
  const named = process.env['PLATFORM_TEST_POSTGRES_PROGRAMS']
  if (named) return named
  const directories = globSync('/usr/lib/postgresql/*/bin')
  const newest = directories.sort((a, b) => a.localeCompare(b, 'en', { numeric: true })).at(-1)
  if (!newest) throw new Error('There is no /usr/lib/postgresql/*/bin; install the package postgresql.')
  return newest
}

async function untilReady(url: string, hasEnded: () => boolean): Promise<void> {
  const deadline = performance.now() + START_DEADLINE_MS
  for (;;) {
    try {
      return await probe(url)
    } catch (error) {
      if (hasEnded() || performance.now() > deadline) throw error
    }
    await wait(POLL_MS)
  }
}

async function probe(url: string): Promise<void> {
  const client = new Client({ connectionString: url })
  try {
    await client.connect()
    await client.query('SELECT 1')
  } finally {
    await client.end()
  }
}

interface Administrator {
  readonly client: Client
  readonly socket: Socket
  /** The statements that it has not answered; without one it does not keep the process running. */
  waiting: number
}

// To connect and to leave takes longer than to create a database, so each process keeps a connection to each server.
const administrators = new Map<string, Promise<Administrator>>()

async function administer(url: string, statement: string): Promise<void> {
  const administrator = await administrators.getOrInsertComputed(url, connectAdministrator)
  administrator.waiting++
  administrator.socket.ref()
  try {
    await administrator.client.query(statement)
  } finally {
    if (--administrator.waiting === 0) administrator.socket.unref()
  }
}

async function connectAdministrator(url: string): Promise<Administrator> {
  const socket = new Socket()
  const client = new Client({ connectionString: url, stream: () => socket })
  client.on('error', () => administrators.delete(url))
  await client.connect()
  return { client, socket, waiting: 0 }
}

function readLog(directory: string): string {
  try {
    return readFileSync(join(directory, 'log'), 'utf8')
  } catch {
    return '(none)'
  }
}
