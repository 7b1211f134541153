import { execFile } from 'node:child_process'
import { globSync } from 'node:fs'
import { promisify } from 'node:util'
import { storeUnavailable } from '../unavailable.ts'

export type PostgresProgramName = 'pg_dump' | 'pg_restore'

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
export async function findPostgresProgram(name: PostgresProgramName, minimumMajor: number): Promise<string> {
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
