import type { Setting, Settings } from '../settings/model.ts'
import type { DataBackup } from './model.ts'

export interface Restoration {
  readonly command: string
  /** A variable that the environment of the command must have, because its value is a secret. */
  readonly secretVariable?: string
}

/** The command for users who may not read the settings; it has placeholders for their values. */
export function restoreTemplate({ id }: Pick<DataBackup, 'id'>): string {
  return `platform data restore DATA_DIR/backups/${id}.* --config FILE`
}

// The setting that determines where the database is.
const DATA_DIR = 'data_dir'
const DATABASE = 'database.url'

/**
 * The command that restores a backup. It names the data directory wherever the configuration file does not, because without it
 * the command would restore to the directory in which it runs.
 */
export function restorationOf({ id }: Pick<DataBackup, 'id'>, { file, items }: Settings): Restoration {
  const settingOf = (key: string) =>
    items.find((setting) => setting.key === key) ?? { value: '', source: 'default' }
  const dataDir = settingOf(DATA_DIR)
  const database = settingOf(DATABASE)
  const isPostgres = /^postgres(ql)?:/.test(database.value)
  const path = `${dataDir.value}/backups/${id}.${isPostgres ? 'dump' : 'db'}`
  const command = [
    ...(isFromFile(dataDir) ? [] : [`DATA_DIR=${quoteWord(dataDir.value)}`]),
    ...(isPostgres || !isFromEnvironment(database) ? [] : [`DATABASE_URL=${quoteWord(database.value)}`]),
    `platform data restore ${quoteWord(path)}`,
    ...(file === null ? [] : [`--config ${quoteWord(file)}`]),
  ].join(' ')
  return isPostgres && isFromEnvironment(database) ? { command, secretVariable: 'DATABASE_URL' } : { command }
}

function isFromFile({ source }: Pick<Setting, 'source'>): boolean {
  return source.startsWith('file ')
}

function isFromEnvironment({ source }: Pick<Setting, 'source'>): boolean {
  return source.startsWith('environment ')
}

/** Writes a text as one word of a POSIX shell. */
function quoteWord(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
