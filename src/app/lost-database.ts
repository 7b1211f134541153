import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config/config.ts'
import { AppError } from '../kernel/errors.ts'

/** What only a platform with a database leaves in its data directory. */
const COMPANIONS = ['jwt-secret', 'certs', 'backups']

/** The companions of a SQLite database that is not there; empty where there is one, or where there never was. */
export function lostDatabaseRemains({ database, dataDir }: Pick<Config, 'database' | 'dataDir'>): string[] {
  if (database.kind !== 'sqlite') return []
  // Before the database: another process that starts now makes the database first.
  const remains = COMPANIONS.map((name) => join(dataDir, name)).filter(hasContent)
  return hasContent(database.path) ? [] : remains
}

/** Throws `store_unavailable` where a start would put an empty database in the place of a lost one. */
export function requireNoLostDatabase(config: Pick<Config, 'database' | 'dataDir'>): void {
  const remains = lostDatabaseRemains(config)
  if (remains.length === 0) return
  const message = `There is no database in ${config.dataDir}, but ${remains.join(', ')}: it was removed, or its disk is not mounted. ${LOST_DATABASE_REMEDY}.`
  throw new AppError('unavailable', 'store_unavailable', message)
}

/** Without a full stop. */
export const LOST_DATABASE_REMEDY =
  'Put the database back (platform data restore FILE), or create an empty one with "platform db migrate --new"'

function hasContent(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats?.isDirectory() === true) return readdirSync(path).length > 0
  return stats !== undefined && stats.size > 0
}
