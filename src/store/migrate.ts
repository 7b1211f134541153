import { sql } from 'kysely'
import type { Clock } from '../kernel/clock.ts'
import { AppError, errorMessage } from '../kernel/errors.ts'
import { foundation } from './migrations/0001-foundation.ts'
import { vpn } from './migrations/0002-vpn.ts'
import { vpnHolders } from './migrations/0003-vpn-holders.ts'
import { alertRules } from './migrations/0004-alerts.ts'
import { alertNotifications } from './migrations/0005-notifications.ts'
import { addTickets } from './migrations/0006-tickets.ts'
import { addHeartbeats } from './migrations/0007-heartbeats.ts'
import { telemetry } from './migrations/0008-telemetry.ts'
import { events } from './migrations/0009-events.ts'
import { addMenus } from './migrations/0010-menus.ts'
import { addCertificates } from './migrations/0011-certificates.ts'
import { addDataBackups } from './migrations/0012-data-backups.ts'
import { addCommands } from './migrations/0013-commands.ts'
import { addSignIn } from './migrations/0014-sign-in.ts'
import { eventOrder } from './migrations/0015-event-order.ts'
import { addOverview } from './migrations/0016-overview.ts'
import { addUserChanges } from './migrations/0017-user-changes.ts'
import { orderArchive } from './migrations/0018-order-archive.ts'
import { orderSearch } from './migrations/0019-order-search.ts'
import { unclosedTickets } from './migrations/0020-unclosed-tickets.ts'
import { ticketComments } from './migrations/0021-ticket-comments.ts'
import { addAlertGroups } from './migrations/0022-alert-groups.ts'
import { alertTold } from './migrations/0023-alert-told.ts'
import { alertRepetitions } from './migrations/0024-alert-repetitions.ts'
import { executionReasons } from './migrations/0025-execution-reasons.ts'
import { refusedTelemetry } from './migrations/0026-refused-telemetry.ts'
import { addApiTokens } from './migrations/0027-api-tokens.ts'
import { certificateWildcards } from './migrations/0028-certificate-wildcards.ts'
import { alertToldTexts } from './migrations/0029-alert-told-texts.ts'
import { addPayments } from './migrations/0030-payments.ts'
import { addHeartbeatPings } from './migrations/0031-heartbeat-pings.ts'
import { causes } from './migrations/0032-causes.ts'
import { receivers } from './migrations/0033-receivers.ts'
import { addSilencesAndLabels } from './migrations/0034-silences-and-labels.ts'
import { addWebhooks } from './migrations/0035-webhooks.ts'
import { addAudit } from './migrations/0036-audit.ts'
import { addTraces } from './migrations/0037-trace.ts'
import { alertSeverities } from './migrations/0038-alert-severities.ts'
import { ticketMentions } from './migrations/0039-ticket-mentions.ts'
import { alertOrigins } from './migrations/0040-alert-origins.ts'
import { orderUpdates } from './migrations/0041-order-updates.ts'
import { silenceClocks } from './migrations/0042-silence-clocks.ts'
import { addVersions } from './migrations/0043-versions.ts'
import { failedRefunds } from './migrations/0044-failed-refunds.ts'
import type { Migration } from './migrations/migration.ts'
import type { Queries, Store, Tx } from './store.ts'

export interface AppliedMigration {
  readonly name: string
  readonly breaking: boolean
  /** Epoch milliseconds. */
  readonly appliedAt: number
}

export interface SchemaStatus {
  readonly applied: readonly AppliedMigration[]
  readonly pending: readonly string[]
  /** Steps of a newer release; harmless unless one is breaking. */
  readonly unknown: readonly AppliedMigration[]
}

/** Every step of the schema, oldest first. */
export const MIGRATIONS: readonly Migration[] = [
  foundation,
  vpn,
  vpnHolders,
  alertRules,
  alertNotifications,
  addTickets,
  addHeartbeats,
  telemetry,
  events,
  addMenus,
  addCertificates,
  addDataBackups,
  addCommands,
  addSignIn,
  eventOrder,
  addOverview,
  addUserChanges,
  orderArchive,
  orderSearch,
  unclosedTickets,
  ticketComments,
  addAlertGroups,
  alertTold,
  alertRepetitions,
  executionReasons,
  refusedTelemetry,
  addApiTokens,
  certificateWildcards,
  alertToldTexts,
  addPayments,
  addHeartbeatPings,
  causes,
  receivers,
  addSilencesAndLabels,
  addWebhooks,
  addAudit,
  addTraces,
  alertSeverities,
  ticketMentions,
  alertOrigins,
  orderUpdates,
  silenceClocks,
  addVersions,
  failedRefunds,
]

// Any number that no other program uses for a lock in the same database.
const ADVISORY_LOCK = 7_205_759_403

/** The step that `platform db copy` records until all tables are copied; breaking, so that nobody serves them before. */
export const COPY_MARK = 'copy-unfinished'

interface StatusOptions {
  readonly migrations?: readonly Migration[]
  /** Whether the copy may be unfinished. */
  readonly allowsCopy?: boolean
}

/**
 * The applied and the pending steps. Rejects with `schema_too_new` after a breaking step of a newer release, and with
 * `copy_unfinished` for a copy that was cut off.
 */
export async function schemaStatus(
  store: Pick<Store, 'read'>,
  { migrations = MIGRATIONS, allowsCopy = false }: StatusOptions = {},
): Promise<SchemaStatus> {
  const ledger = await readApplied(store.read)
  return statusOf(allowsCopy ? ledger.filter(({ name }) => name !== COPY_MARK) : ledger, migrations)
}

/**
 * Brings the schema up to date in one transaction: all steps or none. Several processes may do so at once.
 * Returns the names of the steps that it has applied. Rejects with `migration_failed` if the database refuses one.
 */
export async function migrate(store: Store, clock: Clock, migrations = MIGRATIONS): Promise<string[]> {
  let step: string | undefined
  const change = (tx: Tx) => bringUpToDate(tx, clock, migrations, (name) => (step = name))
  try {
    return await store.write(change, { longRunning: true })
  } catch (error) {
    // An outage has an error of its own.
    throw step === undefined || error instanceof AppError ? error : failedStep(step, error)
  }
}

function failedStep(name: string, cause: unknown): AppError {
  const message = `The migration ${name} has failed, and nothing was changed: ${errorMessage(cause)}. Install the former release again, which still works with this database, and report this line. If somebody has changed tables by hand, undo that first.`
  return new AppError('unavailable', 'migration_failed', message, { cause })
}

/** Makes the schema for a copy, with the mark that keeps a platform from serving it before the copy is finished. */
export async function migrateForCopy(store: Store, clock: Clock): Promise<void> {
  const prepare = async (tx: Tx) => {
    await bringUpToDate(tx, clock, MIGRATIONS)
    await record(tx, { name: COPY_MARK, breaking: true }, clock.now())
  }
  await store.write(prepare, { longRunning: true })
}

async function bringUpToDate(
  tx: Tx,
  clock: Clock,
  migrations: readonly Migration[],
  onStep: (name: string) => void = () => undefined,
): Promise<string[]> {
  if (tx.capabilities.concurrentWriters) await lockMigrations(tx)
  await createLedger(tx)
  const { pending } = statusOf(await readApplied(tx), migrations)
  for (const migration of migrations.filter(({ name }) => pending.includes(name))) {
    const at = clock.now()
    onStep(migration.name)
    await migration.up(tx, at)
    await record(tx, migration, at)
  }
  return [...pending]
}

/** Without a timeout: another process may migrate a large table. */
async function lockMigrations({ db }: Tx): Promise<void> {
  await sql`set local lock_timeout = 0`.execute(db)
  await sql`select pg_advisory_xact_lock(${ADVISORY_LOCK})`.execute(db)
}

/** When the newest step was applied, in epoch milliseconds. The schema must exist. */
export async function lastMigrationAt({ read: { db } }: Pick<Store, 'read'>): Promise<number> {
  const { rows } = await sql<{ at: number }>`select max(applied_at) as at from schema_migrations`.execute(db)
  return rows[0]?.at ?? 0
}

/** Rejects with `schema_outdated` unless every step is applied; for a process that must not change the schema. */
export async function requireCurrentSchema(store: Store): Promise<void> {
  const { pending } = await schemaStatus(store)
  if (pending.length === 0) return
  const message = `The schema of the database lacks ${pending.join(', ')}, and a read-only process does not change it; run "platform db migrate".`
  throw new AppError('unavailable', 'schema_outdated', message)
}

function statusOf(ledger: readonly AppliedMigration[], migrations: readonly Migration[]): SchemaStatus {
  const knownNames = new Set(migrations.map(({ name }) => name))
  const done = new Set(ledger.map(({ name }) => name))
  const unknown = ledger.filter(({ name }) => !knownNames.has(name))
  const breaking = unknown.find((migration) => migration.breaking)
  if (breaking?.name === COPY_MARK) {
    const message =
      'The database holds a copy that was cut off: repeat "platform db copy", which goes on, or use an empty database.'
    throw new AppError('unavailable', 'copy_unfinished', message)
  }
  if (breaking) {
    const message = `The schema of the database is of a newer release (${breaking.name}), which this release cannot work with; install that release.`
    throw new AppError('unavailable', 'schema_too_new', message)
  }
  return {
    applied: ledger.filter(({ name }) => knownNames.has(name)),
    pending: migrations.filter(({ name }) => !done.has(name)).map(({ name }) => name),
    unknown,
  }
}

async function createLedger({ db, capabilities: { integer, tableSuffix } }: Queries): Promise<void> {
  await sql`
    create table if not exists schema_migrations (
      name text primary key,
      breaking ${integer} not null,
      applied_at ${integer} not null
    ) ${tableSuffix}`.execute(db)
}

async function readApplied({ db }: Queries): Promise<AppliedMigration[]> {
  const tables = await db.introspection.getTables()
  if (!tables.some(({ name }) => name === 'schema_migrations')) return []
  const { rows } = await sql<{ name: string; breaking: number; applied_at: number }>`
    select name, breaking, applied_at from schema_migrations order by name`.execute(db)
  return rows.map((row) => ({ name: row.name, breaking: row.breaking === 1, appliedAt: row.applied_at }))
}

async function record(
  { db }: Queries,
  { name, breaking = false }: Pick<Migration, 'name' | 'breaking'>,
  at: number,
): Promise<void> {
  await sql`insert into schema_migrations (name, breaking, applied_at)
    values (${name}, ${breaking ? 1 : 0}, ${at})`.execute(db)
}
