import { accessSync, constants, existsSync, globSync, statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import {
  INTERRUPTED,
  interruptRunning,
  type DataBackup,
  type DataBackups,
} from '../../domains/data-backups/index.ts'
import { DUE_TABLES, restoreNotifications } from '../../domains/alerts/index.ts'
import { interruptUnfinished } from '../../domains/commands/index.ts'
import { recordEntry } from '../../domains/audit/index.ts'
import { continueNumbers } from '../../domains/messages/index.ts'
import { interruptDeliveries } from '../../domains/webhooks/index.ts'
import { restorePayments } from '../../domains/payments/index.ts'
import { continueUploadNumbers } from '../../domains/telemetry/index.ts'
import { changesBetween, type AuditRecord } from '../../kernel/audit.ts'
import { systemClock } from '../../kernel/clock.ts'
import { AppError, errorMessage, invalidField, errorCode } from '../../kernel/errors.ts'
import { readPages } from '../../kernel/page.ts'
import { alignColumns } from '../../kernel/text.ts'
import { toRfc3339 } from '../../kernel/time.ts'
import type { SnapshotContents } from '../../ports/database-files.ts'
import { hashFile } from '../../store/files/thread.ts'
import { executionReasons } from '../../store/migrations/0025-execution-reasons.ts'
import { restoreTarget } from '../../store/open.ts'
import { schemaStatus } from '../../store/migrate.ts'
import type { Tx } from '../../store/store.ts'
import { requireFormat, verifySnapshot } from '../../store/files/snapshot-formats.ts'
import type { LoadedConfig } from '../../config/config.ts'
import { keepAuditSeal, readAuditSeal } from '../../config/secrets.ts'
import { backupFiles, restoreCommand } from '../lost-database.ts'
import { documentPath } from '../doctor/findings.ts'
import { createSigningKeys, hasSigningKey } from '../signing-keys.ts'
import { withDomains } from './domains.ts'
import {
  COMMAND_LINE,
  commandRecord,
  configOf,
  databaseSetting,
  withDatabase,
  type CommandContext,
  type ConfigOptions,
  withProgress,
  stopSignal,
} from './context.ts'

const PAGE = 1_000

/** `platform data backup`: makes a backup, or waits until a running platform has made it. */
export async function makeBackup(
  context: CommandContext,
  options: ConfigOptions & { readonly note?: string },
): Promise<void> {
  const { note } = options
  const loaded = configOf(context, options)
  if (note !== undefined && note.length > 1_000) throw invalidField('--note', 'too_long', { maximum: 1_000 })
  const backup = await withDomains(context, loaded, async ({ domains, record }) => {
    const { service: backups, worker } = domains['data-backups']
    const stopping = new AbortController()
    void stopSignal().then(() => stopping.abort())
    worker.start()
    try {
      const made = backups.backUp(
        { ...(note !== undefined && { note }) },
        COMMAND_LINE,
        stopping.signal,
        (tx, { id }) =>
          record(tx, 'data.backup', { kind: 'data-backup', id }, changesBetween(undefined, { note })),
      )
      const { id } = await withProgress(context, 'making the backup', made)
      await worker.stop()
      return await backups.get(id)
    } finally {
      await worker.stop()
    }
  })
  requireCompleted(backup)
  context.stdout.write(`${backup.id}: ${describe(backup)}\n`)
  const { dataDir } = loaded.config
  const others = ['certs', 'jwt-secret', 'audit-key']
    .map((name) => join(dataDir, name))
    .filter((path) => existsSync(path))
  if (others.length > 0)
    context.stdout.write(`It holds the database only; save ${others.join(' and ')}, too.\n`)
}

function requireCompleted({ id, status, error }: DataBackup): void {
  if (status === 'completed') return
  throw new AppError('unavailable', 'backup_failed', `The backup ${id} has failed: ${error ?? INTERRUPTED}`)
}

function describe({ sizeBytes, tables, schemaVersion, sha256 }: DataBackup): string {
  const rows = Object.values(tables ?? {}).reduce((sum, count) => sum + count, 0)
  return `${sizeBytes} bytes, ${rows} rows, schema ${schemaVersion}, sha256 ${sha256}`
}

/** `platform data list`: prints the backups, the newest last, and the files without a record. */
export async function printBackups(context: CommandContext, options: ConfigOptions): Promise<void> {
  const loaded = configOf(context, options)
  const reading = withDomains(context, loaded, ({ domains }) => allBackups(domains['data-backups'].service))
  const backups = await reading.catch((error: unknown) => {
    printFiles(context, loaded)
    throw error
  })
  const rows = backups.map((backup) => [
    toRfc3339(backup.createdAt),
    backup.id,
    backup.status,
    backup.sizeBytes === null ? '-' : String(backup.sizeBytes),
    backup.verifiedAt === null ? '-' : toRfc3339(backup.verifiedAt),
    backup.error ?? backup.note ?? '',
  ])
  context.stdout.write(alignColumns([['CREATED', 'ID', 'STATUS', 'BYTES', 'VERIFIED', 'NOTE'], ...rows]))
  const recordedIds = new Set(backups.filter(({ status }) => status === 'completed').map(({ id }) => id))
  const files = globSync(join(loaded.config.dataDir, 'backups', '*.{db,dump}'))
  for (const path of files.toSorted())
    if (!recordedIds.has(basename(path).replace(/\.\w+$/, '')))
      context.stdout.write(`${path} has no record as a completed backup in this database\n`)
}

/** The way back must not need the database that is to be restored. */
function printFiles({ stdout }: CommandContext, { config }: LoadedConfig): void {
  const rows = backupFiles(config)
    .toReversed()
    .map(({ path, bytes, modifiedAt }) => [toRfc3339(Math.round(modifiedAt)), String(bytes), path])
  if (rows.length > 0) stdout.write(alignColumns([['MODIFIED', 'BYTES', 'FILE'], ...rows]))
}

async function allBackups(backups: DataBackups): Promise<DataBackup[]> {
  return (await readPages((after) => backups.list({ limit: PAGE, after }))).reverse()
}

/** `platform data verify`: compares a file with its record, and checks its integrity. */
export async function verifyBackup(
  context: CommandContext,
  file: string,
  options: ConfigOptions,
): Promise<void> {
  const path = resolve(context.cwd, file)
  const verified = await verifyFile(context, path, configOf(context, options))
  context.stdout.write(`${verifiedText(file, verified)}\n`)
}

interface VerifiedFile extends SnapshotContents {
  readonly sha256: string
  readonly record: DataBackup | undefined
  /** Why there is no record. */
  readonly reason: string
}

function verifiedText(file: string, { record, reason, sha256, tables, schemaVersion }: VerifiedFile): string {
  const rows = Object.values(tables).reduce((sum, count) => sum + count, 0)
  const contents = `${Object.keys(tables).length} tables, ${rows} rows, schema ${schemaVersion}`
  return record
    ? `${file} is the backup ${record.id}, unchanged: sha256 ${sha256}; ${contents}`
    : `${file} passes the integrity check: ${contents}. It was not compared with a recorded sha256: ${reason}.`
}

/** Rejects with `snapshot_damaged`. */
async function verifyFile(
  context: CommandContext,
  path: string,
  loaded: LoadedConfig,
): Promise<VerifiedFile> {
  requireFile(path, loaded)
  const sha256 = await withProgress(context, `reading ${path}`, hashFile(path))
  const { record, reason } = await findRecord(context, loaded, path, sha256)
  if (record && record.sha256 !== sha256) throw changedFile(path, record, sha256)
  const contents = await withProgress(context, `checking ${path}`, verifySnapshot(path))
  return { ...contents, sha256, record, reason }
}

function requireFile(path: string, { config: { dataDir } }: LoadedConfig): void {
  requireReadable(path)
  const stats = statSync(path, { throwIfNoEntry: false })
  if (!stats) {
    const message = `There is no file ${path}. Name the file of a backup, such as one in ${join(dataDir, 'backups')}.`
    throw new AppError('not_found', 'file_not_found', message)
  }
  if (stats.isFile()) return
  const message = `${path} is no regular file; name the file of a backup.`
  throw new AppError('conflict', 'not_a_file', message)
}

/** The file of root's backup, or one below a directory of root, when another user has typed the command. */
function requireReadable(path: string): void {
  try {
    accessSync(path, constants.R_OK)
  } catch (error) {
    if (errorCode(error) !== 'EACCES') return
    const message = `The user ${process.geteuid?.()} cannot read ${path}. Run the command as root, who may read every file; the database keeps its owner.`
    throw new AppError('forbidden', 'unreadable_file', message, { cause: error })
  }
}

function changedFile(path: string, { id, sha256: recorded }: DataBackup, sha256: string): AppError {
  const message = `The file ${path} was changed since the backup ${id}: its sha256 is ${sha256}, recorded is ${recorded}.`
  return new AppError('conflict', 'snapshot_damaged', message)
}

/** The completed backup that has the name of the file, or else its SHA-256. */
async function findRecord(
  context: CommandContext,
  loaded: LoadedConfig,
  path: string,
  sha256: string,
): Promise<Pick<VerifiedFile, 'record' | 'reason'>> {
  const id = basename(path).replace(/\.(db|dump)$/, '')
  try {
    return await withDomains(context, loaded, async ({ domains }) => {
      const { service: backups } = domains['data-backups']
      const named = await backups.get(id).catch(() => undefined)
      const record = named?.sha256 ? named : await backups.findByHash(sha256)
      return { record, reason: 'the database has no backup with this name or this sha256' }
    })
  } catch (error) {
    return { record: undefined, reason: reasonOf(error) }
  }
}

/** Where there is no database yet, the remedy of its error, to create one, would be in the way of a restoration. */
function reasonOf(error: unknown): string {
  const missing = error instanceof AppError ? error.values?.['missing'] : undefined
  return missing === undefined ? errorMessage(error).replace(/\.$/, '') : `there is ${String(missing)}`
}

/** `platform data restore`: replaces the database, which no process may serve, by a verified backup. */
export async function restoreBackup(
  context: CommandContext,
  file: string,
  options: ConfigOptions,
): Promise<void> {
  const loaded = configOf(context, options)
  const { database } = loaded.config
  const path = resolve(context.cwd, file)
  requireFile(path, loaded)
  await requireFormat(path, database.kind)
  // Its error names the database. A SQLite file may be missing or damaged, and is restored nevertheless.
  if (database.kind === 'postgres') await withDatabase(loaded, (store) => store.check())
  const target = await restoreTarget(database)
  await target.requireUnserved()
  warnIfMissing(context, loaded)
  const verified = await verifyFile(context, path, loaded)
  context.stdout.write(`${verifiedText(file, verified)}\n`)
  const now = systemClock.now()
  const record = commandRecord(
    context,
    'data.restore',
    { kind: 'database', id: null },
    changesBetween(undefined, {
      file: basename(path),
      sha256: verified.sha256,
      former_seal: readAuditSeal(loaded.config.dataDir),
    }),
  )
  const finish = (tx: Tx) => finishRestore(tx, verified, now, record)
  const replaced = target.replace({ path, sha256: verified.sha256, finish }, stampOf(now))
  const { former } = await withProgress(context, `restoring ${path}`, replaced)
  const kept =
    former === undefined ? 'There was no former database.' : `The former database is kept as ${former}.`
  context.stdout.write(
    `restored ${file}. ${kept} The next start migrates the database.\n${wayBack(loaded, former)}`,
  )
  createMissingKey(context, loaded)
  // The restored trail ends before what this seal stands for.
  keepAuditSeal(loaded.config.dataDir, undefined)
}

/** The command that undoes the restoration, for somebody who has named the wrong file. */
function wayBack({ config, file }: LoadedConfig, former: string | undefined): string {
  if (former === undefined) return ''
  if (config.database.kind === 'postgres')
    return `To go back to it, see "When the wrong one was restored" in ${documentPath('docs/guide/data-backups.md')}.\n`
  return `To go back to it, run: ${restoreCommand(former, file)}\n`
}

/** Makes a key on a new server, where the start would miss the key of the former server. */
function createMissingKey({ stdout }: CommandContext, { config }: LoadedConfig): void {
  if (hasSigningKey(config)) return
  createSigningKeys(config)
  stdout.write(
    `There was no signing key: made ${join(config.dataDir, 'jwt-secret')}. People sign in again, unless you put your copy of the former one there.\n`,
  )
}

/**
 * Warns if there is no former database: perhaps the platform uses another data directory, and the restoration has no effect
 * on it.
 */
function warnIfMissing({ stderr }: CommandContext, loaded: LoadedConfig): void {
  const { database } = loaded.config
  if (database.kind !== 'sqlite' || existsSync(database.path)) return
  stderr.write(
    `platform: There is no former database (${databaseSetting(loaded)}): is this the right data_dir? It restores to ${database.path}; name the configuration of the platform with --config.\n`,
  )
}

/** `20260131T020000000Z`: to the millisecond, because a script may go back at once. */
function stampOf(at: number): string {
  return toRfc3339(at).replaceAll(/[-:.]/g, '')
}

/** Changes what must not be as it was in the snapshot; one of an older schema may lack tables. */
async function finishRestore(
  tx: Tx,
  { tables, schemaVersion }: SnapshotContents,
  now: number,
  record: AuditRecord,
): Promise<void> {
  // The former database stays in its place when this release cannot work with the restored one.
  await schemaStatus({ read: tx })
  const has = (table: string) => tables[table] !== undefined
  // The snapshot contains the row of its own backup, which is not running any more.
  if (has('data_backups')) await interruptRunning(tx, INTERRUPTED, now)
  // The database that was backed up has run its commands, or decided on them.
  if (has('command_executions'))
    await interruptUnfinished(tx, schemaVersion < executionReasons.name ? 'incomplete' : 'interrupted', now)
  if (has('alert_silences') && has('alert_notifications'))
    await restoreNotifications(tx, now, DUE_TABLES.filter(has))
  const place = has('messages') ? await continueNumbers(tx, now) : 0
  if (has('webhooks')) await interruptDeliveries(tx, now, place)
  if (has('payments')) await restorePayments(tx, now)
  if (has('telemetry_uploads')) await continueUploadNumbers(tx, now)
  if (has('audit_entries')) await recordEntry(tx, record, now)
}
