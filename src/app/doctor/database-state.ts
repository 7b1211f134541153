import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../config/config.ts'
import { MOST_SEVERE_FIRST } from '../../domains/alerts/index.ts'
import { listUnfinished } from '../../domains/commands/index.ts'
import { readMirrorState } from '../../domains/users/index.ts'
import { MAX_WEBHOOKS } from '../../domains/webhooks/index.ts'
import { systemClock } from '../../kernel/clock.ts'
import { errorMessage } from '../../kernel/errors.ts'
import { silentLogger } from '../../kernel/logger.ts'
import { noMetrics } from '../../kernel/metrics.ts'
import { readPages } from '../../kernel/page.ts'
import { hasOtherUsers, inspectDatabase } from '../../store/files/inspect-database.ts'
import type { Store } from '../../store/store.ts'
import { listServing, readBusStream, readSigningKeys } from '../../store/work/marks.ts'
import { commandDomains } from '../commands/domains.ts'
import { openDatabase } from '../database.ts'
import type { Domains } from '../domains.ts'
import { openReceivers } from '../receivers.ts'
import { readKnownKeys } from '../signing-keys.ts'

/** What the database says of the platform. Undefined is what cannot be read, as before the schema is current. */
export type DatabaseState = Awaited<ReturnType<typeof readState>>

/** Undefined while there is no SQLite file. Rejects if the database cannot be used. */
export async function readDatabaseState(config: Config): Promise<DatabaseState | undefined> {
  const { database } = config
  // Throws where this user may not look: what cannot be seen is not gone.
  if (database.kind === 'sqlite' && !statSync(database.path, { throwIfNoEntry: false })) return undefined
  const store = await openDatabase({ config, readOnly: true, metrics: noMetrics, logger: silentLogger })
  try {
    return await readState(config, store)
  } finally {
    await store.close()
  }
}

const PAGE = 1_000
// The alerts of orders are alerts of the platform, too.
const EXAMINED_ALERTS = 1_000
export const EXAMINED_EXECUTIONS = 1_000
const EXAMINED_CERTIFICATES = 1_000
const UNATTENDED = { status: ['firing', 'frozen'], text: 'platform.' } as const

async function readState(config: Config, store: Store) {
  const facts = await inspectDatabase(store, config.database, systemClock)
  const usable = { ...config, readOnly: true, ...(hasReceivers(config) ? {} : { receivers: [] }) }
  const { domains } = commandDomains({ config: usable, store })
  const reader = new FactReader(facts.schema.pending.length === 0)
  const read = <T>(query: () => Promise<T>) => reader.read(query)
  const { service: alerts, notices, silences } = domains.alerts
  const { service: messages } = domains.messages
  const { seals } = domains.audit
  const { service: users } = domains.users
  const channels = config.payments.channels.map(({ name }) => name)
  return {
    ...facts,
    /** How many certificates are registered, by their status. */
    certificates: await read(() => domains.certificates.service.countByStatus()),
    /** The names of registered certificates whose file is gone, of the first {@link EXAMINED_CERTIFICATES}. */
    lostCertificates: await read(() => findLostCertificates(config, domains)),
    mirror: await read(() => readMirrorState(store.read)),
    /** Whether the database was served with a signing key. */
    hasSigningKey: await read(async () => (await readSigningKeys(store.read)) !== undefined),
    /** The signing keys with which the database was served. */
    keys: await read(() => readKnownKeys(store.read)),
    /** The newest seal of this host, if the audit trail does not contain it. */
    missingSeal: await read(() => seals.missingSeal().catch(() => undefined)),
    /** The ids of the keys that have sealed pages of the audit trail, and that this host does not have. */
    lostAuditKeys: await read(() => seals.lostKeys().catch(() => [])),
    lastBackup: await read(() => readLastBackup(domains)),
    /** A SQLite file in the data directory with users that this database of PostgreSQL does not have. */
    leftFile: await read(() => findLeftFile(config, store)),
    /** For how long the longest overdue order is pending, in milliseconds. */
    overdueOrderMs: await read(() => domains.orders.service.longestOverdueMs()),
    /** The payment channels whose provider has opened none of the last payments. */
    failingChannels: await read(() => domains.payments.service.health.failingChannels(channels)),
    /** The processes that serve the database. */
    processes: await read(() => listServing(store.read, systemClock.now())),
    /** The configured receivers of alerts. */
    receivers: await read(() => readPages((after) => notices.list({ limit: PAGE, after }))),
    /** The active silences, newest first. */
    silences: await read(() => readPages((after) => silences.list('active', { limit: PAGE, after }))),
    /** The running executions of commands, then the oldest queued ones; at most {@link EXAMINED_EXECUTIONS}. */
    executions: await read(() => listUnfinished(store.read, EXAMINED_EXECUTIONS)),
    hasUsers: await read(async () => (await users.list({ limit: 1 })).items.length > 0),
    hasAdmin: await read(() => users.hasEnabledAdmin()),
    busStream: await read(() => readBusStream(store.read)),
    /** The message that waits for the bus longest. */
    oldestPending: await read(() => messages.oldestPending()),
    deadMessages: (await read(() => messages.deadLetters()))?.messages,
    /** The most severe alerts of the platform that nobody works on. */
    alerts: (await read(() => alerts.list(UNATTENDED, { limit: EXAMINED_ALERTS, order: MOST_SEVERE_FIRST })))
      ?.items,
    webhooks: (await read(() => domains.webhooks.service.list({ limit: MAX_WEBHOOKS })))?.items,
    /** Why the first query has failed; undefined if all have succeeded, and while the schema is not current. */
    failure: reader.failure,
  }
}

// A query that waits for a lock takes five seconds.
const MOST_FAILURES = 3

/** Reads what a database says, one query after the other: a table that cannot be read hides nothing of another one. */
class FactReader {
  readonly #isCurrent: boolean
  readonly #failures: unknown[] = []

  /** Without the current schema nothing is read. */
  constructor(isCurrent: boolean) {
    this.#isCurrent = isCurrent
  }

  /** Why the first query has failed. */
  get failure(): unknown {
    return this.#failures[0]
  }

  /** Undefined if the query fails. After several failures no query is tried any more. */
  async read<T>(query: () => Promise<T>): Promise<T | undefined> {
    if (!this.#isCurrent || this.#failures.length >= MOST_FAILURES) return undefined
    try {
      return await query()
    } catch (error) {
      this.#failures.push(error)
      return undefined
    }
  }
}

/** The check of the configuration names a file of a receiver that cannot be used. */
function hasReceivers(config: Config): boolean {
  try {
    openReceivers(config)
    return true
  } catch {
    return false
  }
}

async function findLostCertificates({ dataDir }: Config, domains: Domains): Promise<string[]> {
  const { items } = await domains.certificates.service.list({}, { limit: EXAMINED_CERTIFICATES })
  return items
    .filter(({ fingerprintSha256 }) => !existsSync(join(dataDir, 'certs', `${fingerprintSha256}.pem`)))
    .map(({ name }) => name)
}

/** The last completed data backup: its time, undefined until there is one, and what is wrong with its file. */
async function readLastBackup(domains: Domains) {
  const { service: backups } = domains['data-backups']
  const last = await backups.newestCompleted()
  const fault = last && (await backups.file(last.id).then(() => undefined, errorMessage))
  return { at: last?.finishedAt ?? undefined, fault }
}

/** After a copy both databases have the same users. */
async function findLeftFile({ database, dataDir }: Config, store: Store): Promise<string | undefined> {
  const path = join(dataDir, 'platform.db')
  if (database.kind === 'sqlite' || !existsSync(path)) return undefined
  return (await hasOtherUsers(path, store)) ? path : undefined
}
