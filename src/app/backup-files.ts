import { globSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config/config.ts'
import { formatCount, shellWord } from '../kernel/text.ts'

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

/** Undefined where a file went meanwhile. */
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
