import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { databaseLocation } from '../config/address-types.ts'
import { AppError } from '../kernel/errors.ts'
import { shellWord } from '../kernel/text.ts'
import { schemaStatus } from '../store/migrate.ts'
import type { Store } from '../store/store.ts'
import { backupFiles, restoreRemedy } from './backup-files.ts'
import { findUnmountedPoint } from './unmounted-disk.ts'

type Places = Parameters<typeof restoreRemedy>[0]

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

/** Of the disk on which the SQLite database would be, if it is not mounted. */
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

/** The same for a database of PostgreSQL, which is there and empty. */
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

/** Those of the names that have content in the data directory, and belong to no SQLite database beside them. */
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
