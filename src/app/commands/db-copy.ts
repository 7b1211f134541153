import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { databaseLocation } from '../../config/address-types.ts'
import { AppError, errorMessage } from '../../kernel/errors.ts'
import { alignColumns } from '../../kernel/text.ts'
import {
  compareDatabases,
  copyDatabase,
  type ComparedTable,
  type CopyObserver,
} from '../../store/copy/copy-database.ts'
import type { DatabaseAddress } from '../../store/open.ts'
import { unusableDatabase, type DatabasePlaces } from '../database.ts'
import { configOf, withStore, type CommandContext, type ConfigOptions, withProgress } from './context.ts'

export interface CopyOptions extends ConfigOptions {
  readonly to?: string
  readonly toFile?: string
  readonly verify?: boolean
}

/** `platform db copy`: copies the configured database to another one, or compares both, and prints every table. */
export async function copyToDatabase(context: CommandContext, options: CopyOptions): Promise<void> {
  const loaded = configOf(context, options)
  const target = targetOf(context, options)
  // The source exists, and has the schema of this release.
  await withStore(loaded, async () => undefined)
  let step = 'opening the databases'
  const listener: CopyObserver = (what, table, rows) =>
    (step = `${what} ${table}${rows === undefined ? '' : `: ${rows} rows`}`)
  const work = options.verify === true ? compareDatabases : copyDatabase
  const copying = work(loaded.config.database, target, listener).catch((error: unknown) => {
    throw explainError(error, { database: target, addressIn: options.toFile ?? '--to' })
  })
  const tables = await withProgress(context, () => step, copying)
  context.stdout.write(tableOf(tables))
  requireEqual(tables)
  const copied = tables.filter(({ isEqual }) => isEqual)
  const rows = copied.reduce((sum, each) => sum + each.rows, 0)
  const said = options.verify === true ? 'equal' : 'copied and compared'
  context.stdout.write(
    `${said}: ${rows} rows of ${copied.length} tables, to ${databaseLocation.format(target)}\n`,
  )
}

function targetOf({ cwd }: CommandContext, { to, toFile }: CopyOptions): DatabaseAddress {
  if ((to === undefined) === (toFile === undefined))
    throw wrongTarget('Name the target by --to or by --to-file')
  const text = to ?? readFileSync(resolve(cwd, toFile ?? ''), 'utf8').trim()
  const isAddress = /^(?:postgres(?:ql)?|sqlite):/.test(text)
  const location = isAddress ? databaseLocation.parse(text, cwd) : undefined
  if (location) return location
  throw wrongTarget(`${to === undefined ? toFile : '--to'} is no address of a database`)
}

function wrongTarget(what: string): AppError {
  return new AppError('invalid', 'wrong_target', `${what}: postgres://host/database, or sqlite:PATH.`)
}

function explainError(error: unknown, target: DatabasePlaces): AppError {
  if (error instanceof AppError && error.code !== 'store_unavailable')
    return new AppError(error.kind, error.code, `${error.message} (${error.code})`)
  if (error instanceof AppError) return unusableDatabase(target, error)
  return new AppError(
    'unavailable',
    'copy_cut_off',
    `The copy was cut off: ${errorMessage(error)}. Repeat the command, which goes on.`,
    {
      cause: error,
    },
  )
}

function tableOf(tables: readonly ComparedTable[]): string {
  const rows = tables.map(({ table, rows: count, targetRows, isEqual }) => [
    table,
    String(count),
    String(targetRows),
    isEqual === undefined ? 'left out' : isEqual ? 'equal' : 'differs',
  ])
  return alignColumns([['TABLE', 'ROWS', 'IN TARGET', 'CONTENT'], ...rows])
}

function requireEqual(tables: readonly ComparedTable[]): void {
  const names = tables.filter(({ isEqual }) => isEqual === false).map(({ table }) => table)
  if (names.length === 0) return
  throw new AppError('conflict', 'databases_differ', `The databases differ in ${names.join(', ')}.`)
}
