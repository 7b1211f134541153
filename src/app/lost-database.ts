import { readdirSync, statSync, globSync, readFileSync } from 'node:fs'
import { databaseLocation } from '../config/address-types.ts'
import { AppError } from '../kernel/errors.ts'
import { shellWord, formatCount } from '../kernel/text.ts'
import { schemaStatus } from '../store/migrate.ts'
import type { Store } from '../store/store.ts'
import { join, resolve } from 'node:path'
import type { Config } from '../config/config.ts'

const MOUNT_FILES = { wanted: '/etc/fstab', mounted: '/proc/self/mountinfo' }

/**
 * The mount point of `/etc/fstab` at or above the path where nothing is mounted, so that the path does not lead to its disk.
 * Undefined where there is none, and where the system does not say.
 */
export function findUnmountedPoint(path: string, { wanted, mounted } = MOUNT_FILES): string | undefined {
  // fstab(5): device, mount point, type; proc_pid_mountinfo(5): id, parent, device, root, mount point
  const points = pointsIn(wanted, 1).filter((point) => point !== '/')
  const present = new Set(pointsIn(mounted, 4))
  if (present.size === 0) return undefined
  const absolute = resolve(path)
  return points.find((point) => isAtOrAbove(point, absolute) && !present.has(point))
}

/** The mount points in a column of the file; swap space has none. */
function pointsIn(file: string, column: number): string[] {
  return readText(file)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => unescape(line.split(/\s+/)[column] ?? ''))
    .filter((point) => point.startsWith('/'))
    .map((point) => resolve(point))
}

/** Both files write a space as `\040`. */
function unescape(text: string): string {
  return text.replaceAll(/\\([0-7]{3})/g, (_, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  )
}

/** Whether the path is this directory, or in it. */
export function isAtOrAbove(point: string, path: string): boolean {
  return path === point || path.startsWith(`${point}/`)
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

interface Places extends Pick<Config, 'database' | 'dataDir'> {
  /** The configuration file, if it is known: with another one the command restores to another place. */
  readonly configFile?: string | undefined
}

/** A file from which the database can be restored. */
export interface BackupFileFact {
  readonly path: string
  readonly bytes: number
  readonly modifiedAt: number
}

const EXTENSIONS = { sqlite: 'db', postgres: 'dump' } as const

/** The files of the data backups that fit the database, the newest first; they are found without the database. */
export function backupFiles({ database, dataDir }: Places): BackupFileFact[] {
  const names = globSync(`*.${EXTENSIONS[database.kind]}`, { cwd: join(dataDir, 'backups') })
  return names
    .flatMap((name) => factsOf(join(dataDir, 'backups', name)))
    .toSorted((a, b) => b.modifiedAt - a.modifiedAt)
}

/** Empty where the file was removed meanwhile. */
function factsOf(path: string): BackupFileFact[] {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats ? [{ path, bytes: stats.size, modifiedAt: stats.mtimeMs }] : []
}

/** The command that restores the database from a file; FILE stands for an unknown path. */
export function restoreCommand(path: string | undefined, configFile?: string): string {
  const option = configFile === undefined ? '' : ` --config ${shellWord(configFile)}`
  return `platform data restore ${path === undefined ? 'FILE' : shellWord(path)}${option}`
}

/** How to restore the database, with the newest file that there is; without a full stop. */
export function restoreRemedy({ configFile, ...places }: Places): string {
  const files = backupFiles(places)
  const directory = join(places.dataDir, 'backups')
  const [newest] = files
  const command = restoreCommand(newest?.path, configFile)
  if (newest) return `${command} (the newest of ${formatCount(files.length, 'file')} in ${directory})`
  return `${command} (there is no file in ${directory}: use a copy of one, or that of the nightly backup, which "platform backup restore --latest --into DIRECTORY" fetches)`
}

/** What only a platform with a database leaves in its data directory. */
const COMPANIONS = ['certs', 'backups', 'audit-seal']

/**
 * What shows that there was a database, while there is no SQLite file, or the database of PostgreSQL is empty, which the caller
 * knows. Empty where there is one, or where there never was.
 */
export function lostDatabaseRemains(places: Places, findPoint = findUnmountedPoint): string[] {
  const point = unmountedPointOf(places, findPoint)
  return [
    ...besideNoDatabase(places, COMPANIONS),
    ...(point === undefined ? [] : [`an entry for ${point} in /etc/fstab`]),
  ]
}

/** The mount point of the disk on which the SQLite database would be, if it is not mounted. */
function unmountedPointOf({ database }: Places, findPoint = findUnmountedPoint): string | undefined {
  if (database.kind !== 'sqlite' || hasContent(database.path)) return undefined
  return findPoint(database.path)
}

/** Throws `store_unavailable` where a start would put an empty SQLite database in the place of a lost one. */
export function requireNoLostDatabase(places: Places): void {
  const remains = lostDatabaseRemains(places)
  if (places.database.kind !== 'sqlite' || remains.length === 0) return
  const message = `There is no database in ${places.dataDir}, but ${remains.join(', ')}: it was removed, or its disk is not mounted. ${lostDatabaseRemedy(places)}.`
  throw new AppError('unavailable', 'store_unavailable', message)
}

/** As {@link requireNoLostDatabase} for a database of PostgreSQL, which is there and empty. */
export async function requireNoLostSchema(store: Store, places: Places): Promise<void> {
  if (places.database.kind === 'sqlite' || (await schemaStatus(store)).applied.length > 0) return
  const remains = lostDatabaseRemains(places)
  if (remains.length === 0) return
  const message = `The database ${databaseLocation.format(places.database)} is empty, but not ${remains.join(', ')}. ${lostDatabaseRemedy(places)}.`
  throw new AppError('unavailable', 'store_unavailable', message)
}

/**
 * What to tell of a signing key without a database: an administrator may have put it there before the first start, or the
 * database was lost. Undefined where there is a database, or no key. Without a full stop.
 */
export function loneKeyNotice(places: Places): string | undefined {
  const [key] = besideNoDatabase(places, ['jwt-secret'])
  if (key === undefined || places.database.kind !== 'sqlite') return undefined
  return `${key} is there, and no database: an empty one is made; if there was one, stop the platform, put it back: ${restoreRemedy(places)}; and look whether its disk is mounted`
}

/**
 * What to tell where an empty database of PostgreSQL is served for the first time and a SQLite file with data is in the data
 * directory; undefined without one. Without a full stop.
 */
export function leftFileNotice({ database, dataDir }: Places): string | undefined {
  const path = join(dataDir, 'platform.db')
  if (database.kind === 'sqlite' || !hasContent(path)) return undefined
  return `database.url names an empty database, and ${path} has one with data, which is not used: ${LEFT_FILE_REMEDY}`
}

/** Without a full stop. */
export const LEFT_FILE_REMEDY =
  'to take its data along, stop the platform, create the database of PostgreSQL anew, remove database.url, and run "platform db copy" (see "From SQLite to PostgreSQL" in docs/guide/operating.md); else move the file away'

const LOOK_FOR_CLUSTER =
  'Look which server has the data (on Debian pg_lsclusters lists those of a host: after an upgrade the former one has them, until pg_upgradecluster), and correct database.url or the server'

/** Without a full stop. */
export function lostDatabaseRemedy(places: Places): string {
  const point = unmountedPointOf(places)
  if (point !== undefined)
    return `Mount its disk: mount ${shellWord(point)}; or create an empty one with "platform db migrate --new"`
  const look = places.database.kind === 'postgres' ? `${LOOK_FOR_CLUSTER}. If they are lost, put` : 'Put'
  return `${look} the database back: ${restoreRemedy(places)}; or create an empty one with "platform db migrate --new"`
}

/** The entries of the data directory that have content, and belong to no SQLite database beside them. */
function besideNoDatabase(places: Places, names: readonly string[]): string[] {
  const { database, dataDir } = places
  // Before the database: another process that starts now makes the database first.
  const found = names.map((name) => join(dataDir, name)).filter(hasContent)
  const isOfPostgres = database.kind === 'postgres' && backupFiles(places).length > 0
  const path = database.kind === 'sqlite' ? database.path : join(dataDir, 'platform.db')
  return !isOfPostgres && hasContent(path) ? [] : found
}

function hasContent(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats?.isDirectory() === true) return readdirSync(path).length > 0
  return stats !== undefined && stats.size > 0
}
