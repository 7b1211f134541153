import { execFile, spawn } from 'node:child_process'
import { globSync } from 'node:fs'
import { promisify } from 'node:util'
import { once } from 'node:events'
import { storeUnavailable } from '../unavailable.ts'
import { parsePostgresUrl } from '../../kernel/addresses.ts'
import type { Secret } from '../../kernel/secret.ts'
import { killWithParent, lowerPriority } from '../files/child-program.ts'

type PostgresProgramName = 'pg_dump' | 'pg_restore'

interface PostgresProgram {
  readonly path: string
  /** `15` of 15.18. */
  readonly major: number
}

const run = promisify(execFile)

/**
 * The installed program of the oldest version that is at least `minimumMajor`: an archive can be restored by the programs
 * of its own version or a newer one. Rejects with `store_unavailable`, whose message names the package of Debian.
 */
async function findPostgresProgram(name: PostgresProgramName, minimumMajor: number): Promise<string> {
  const programs = await installedPrograms(name)
  const suitable = programs
    .filter(({ major }) => major >= minimumMajor)
    .toSorted((one, other) => one.major - other.major)
  return suitable[0]?.path ?? missing(name, programs, minimumMajor)
}

/** The installed program of the newest version, which reads the archives of all versions up to its own. */
export async function findNewestPostgresProgram(name: PostgresProgramName): Promise<string> {
  const programs = await installedPrograms(name)
  return programs.toSorted((one, other) => other.major - one.major)[0]?.path ?? missing(name, programs)
}

/** In `PATH`, and where Debian installs each version. */
async function installedPrograms(name: PostgresProgramName): Promise<PostgresProgram[]> {
  const paths = [name, ...globSync(`/usr/lib/postgresql/*/bin/${name}`)]
  const programs = await Promise.all(paths.map(readVersion))
  return programs.filter((program) => program !== undefined)
}

async function readVersion(path: string): Promise<PostgresProgram | undefined> {
  try {
    const { stdout } = await run(path, ['--version'])
    const major = Number(/\) (\d+)/.exec(stdout)?.[1])
    return Number.isInteger(major) ? { path, major } : undefined
  } catch {
    return undefined
  }
}

function missing(
  name: PostgresProgramName,
  installed: readonly PostgresProgram[],
  minimumMajor?: number,
): never {
  const versions = installed.map(({ major }) => major).join(', ')
  const state =
    versions === ''
      ? `${name} is not installed`
      : `${name} of PostgreSQL ${versions} is too old for the server`
  const suffix = minimumMajor === undefined ? '' : `-${minimumMajor}`
  const remedy = `install the Debian package postgresql-client${suffix}, or a newer version of it`
  throw storeUnavailable(undefined, `${state}: ${remedy}.`)
}

const ERROR_LENGTH = 1_000

/** The schemas in which `platform data restore` keeps former tables; they are no part of a dump. */
export const KEPT_ASIDE = 'before_restore_'

interface DumpOptions {
  readonly url: Secret
  /** Major version of the server; `pg_dump` refuses a newer one than its own. */
  readonly serverMajor: number
  readonly signal?: AbortSignal | undefined
}

/** Dumps the database with `pg_dump`, in its custom format, for `pg_restore`; consistent as of its start. */
export async function dumpPostgres(path: string, { url, serverMajor, signal }: DumpOptions): Promise<void> {
  const program = await findPostgresProgram('pg_dump', serverMajor)
  const options = [
    '--format=custom',
    // The lowest level: the server's requests need the processor too.
    '--compress=1',
    `--exclude-schema=${KEPT_ASIDE}*`,
    '--no-password',
    `--file=${path}`,
  ]
  await runPostgresProgram(program, options, { url, signal })
}

interface ProgramOptions {
  /** The database that the program works on. */
  readonly url?: Secret
  /** Takes what the program prints. */
  readonly onData?: (chunk: Buffer) => void
  readonly signal?: AbortSignal | undefined
}

/** Runs a program of PostgreSQL to its end; the password of the database is in no argument. */
export async function runPostgresProgram(
  program: string,
  options: readonly string[],
  { url, onData, signal }: ProgramOptions,
): Promise<void> {
  const { address, password } = url ? withoutPassword(url) : {}
  const target = address === undefined ? [] : [`--dbname=${address}`]
  const [command, ...args] = await killWithParent([program, ...options, ...target])
  signal?.throwIfAborted()
  const child = spawn(command, args, {
    stdio: ['ignore', onData ? 'pipe' : 'ignore', 'pipe'],
    // oxlint-disable-next-line node/no-process-env -- PATH leads to other programs, and a command line is public
    env: { ...process.env, ...(password !== undefined && { PGPASSWORD: password }) },
    ...(signal && { signal }),
  })
  let errors = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    if (errors.length < ERROR_LENGTH) errors += text
  })
  if (onData) child.stdout?.on('data', onData)
  child.once('spawn', () => lowerPriority(child.pid))
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error(`${program} ended with ${code}: ${errors.trim().slice(0, ERROR_LENGTH)}`)
}

/** The address in the form of libpq, which does not know the parameter `pgbouncer`, and the password beside it. */
function withoutPassword(secret: Secret): { address: string; password: string | undefined } {
  const { urls = [], role } = parsePostgresUrl(secret.reveal()) ?? {}
  const url = new URL(urls[0] ?? secret.reveal())
  const password = url.searchParams.get('password') ?? decodeURIComponent(url.password)
  url.searchParams.delete('password')
  url.password = ''
  if (role === 'read-write') url.searchParams.set('target_session_attrs', role)
  const hosts = urls.map((address) => new URL(address).host).join(',')
  const address = urls.length > 1 ? url.href.replace(url.host, () => hosts) : url.href
  return { address, password: password === '' ? undefined : password }
}
