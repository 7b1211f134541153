import type { Clock } from '../../kernel/clock.ts'
import type { Job } from '../../kernel/job.ts'
import { MINUTE } from '../../kernel/time.ts'
import type { Reads, Store, Queries, Tx } from '../store.ts'
import { changeRows, readRow, readRows } from '../tables.ts'
import { isDeadHolder, newHolder, hasEndedHere } from './holder.ts'

// Rows of the table of leases that nobody takes, by their names; the column of the holder has what they say.

const NEVER = Number.MAX_SAFE_INTEGER

const list = readRows((db, pattern: string) =>
  db
    .selectFrom('leases')
    .select(['name', 'holder', 'expires_at'])
    .where('name', 'like', pattern)
    .orderBy('name'),
)

const read = readRow((db, name: string) => db.selectFrom('leases').select('holder').where('name', '=', name))

const save = changeRows((db, name: string, holder: string, expires: number) =>
  db
    .insertInto('leases')
    .values({ name, holder, expires_at: expires })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ holder, expires_at: expires })),
)

const removeMark = changeRows((db, name: string) => db.deleteFrom('leases').where('name', '=', name))

const SERVING = 'serving:'
const RECORD_EVERY_MS = MINUTE
const GONE_AFTER_MS = 3 * MINUTE

const prune = changeRows((db, pattern: string, before: number) =>
  db.deleteFrom('leases').where('name', 'like', pattern).where('expires_at', '<', before),
)

/** What a process that serves a database records of itself. It has no secret. */
export interface ServingProcess {
  readonly host: string
  readonly processId: number
  readonly version: string
  readonly modules: readonly string[]
  readonly startedAt: number
  readonly dataDir: string
  /** Without credentials. */
  readonly bus: string
  /** A code of the address and secrets of each receiver of notifications. */
  readonly receivers: Readonly<Record<string, string>>
}

/** The record of a process that serves the database. */
export interface ServingRecord {
  /** Renews the record each minute. */
  readonly job: Job
  /** The process stops in order. */
  remove(): Promise<void>
}

export function createServingRecord(store: Store, clock: Clock, facts: ServingProcess): ServingRecord {
  const name = `${SERVING}${newHolder()}`
  const renew = async (tx: Tx) => {
    const now = clock.now()
    await prune(tx, `${SERVING}%`, now)
    await save(tx, name, JSON.stringify(facts), now + GONE_AFTER_MS)
  }
  return {
    job: { name: 'serving-record', everyMs: RECORD_EVERY_MS, run: () => store.write(renew) },
    remove: () => store.write(async (tx) => void (await removeMark(tx, name))),
  }
}

/** Who holds a lease: the record of a process has its holder in its name. */
export function holderOf({ name, holder }: { readonly name: string; readonly holder: string }): string {
  return name.startsWith(SERVING) ? name.slice(SERVING.length) : holder
}

/** The processes that serve the database now: each has recorded it within three minutes, and has not ended. */
export async function listServing(reads: Reads, now: number): Promise<ServingProcess[]> {
  const rows = await list(reads, `${SERVING}%`)
  return rows
    .filter(({ name, holder, expires_at }) => {
      // A clock that was ahead, and was set back, has left a time that is too late.
      const leftMs = expires_at - now
      return (
        leftMs > 0 && leftMs <= GONE_AFTER_MS + RECORD_EVERY_MS && !isDeadHolder(holderOf({ name, holder }))
      )
    })
    .map(({ holder }) => JSON.parse(holder) as ServingProcess)
}

const PROCESS = 'process:'
const CHECK = 'integrity-check'
// Expired at once, so that no other program counts the row as a held lease.
const EXPIRED = 0

/** A process that serves a SQLite file, from its start to its orderly stop. */
interface ProcessMark {
  /** Whether a process before it has not stopped in order; then {@link isCheckDue}. */
  readonly isAfterCrash: boolean
  /** Says that the process stops in order. */
  remove(): Promise<void>
}

/**
 * Records that this process serves the file, and that its pages are to be checked if another one has not stopped in order.
 * `hadLog`: whether there was a write-ahead log before it was opened, which the last process to stop removes.
 */
export async function markProcess(store: Store, hadLog: boolean): Promise<ProcessMark> {
  const holder = newHolder()
  const name = `${PROCESS}${holder}`
  const isAfterCrash = await store.write(async (tx) => {
    const rows = await list(tx, `${PROCESS}%`)
    const ended = rows.filter((row) => hasEndedHere(row.holder))
    for (const row of ended) await removeMark(tx, row.name)
    await save(tx, name, holder, EXPIRED)
    const isFirst = ended.length === rows.length
    if (ended.length === 0 && !(isFirst && hadLog)) return false
    await requestCheck(tx)
    return true
  })
  return {
    isAfterCrash,
    remove: () => store.write(async (tx) => void (await removeMark(tx, name))),
  }
}

/** Has the pages of the file checked by the worker. May be repeated. */
export async function requestCheck(tx: Tx): Promise<void> {
  await save(tx, CHECK, 'due', EXPIRED)
}

/** Whether no check has found the file sound since {@link requestCheck}. */
export async function isCheckDue(reads: Reads): Promise<boolean> {
  return (await list(reads, CHECK)).length > 0
}

/** A check has found the file sound. */
export async function endCheck(tx: Pick<Queries, 'change'>): Promise<void> {
  await removeMark(tx, CHECK)
}

// Which stream of the bus has confirmed the messages, if one has.
const STREAM = 'bus-stream'

/** The stream to which messages are delivered. Times are epoch milliseconds. */
export interface BusStreamMark {
  /** When the bus made it; undefined before there was one. */
  readonly madeAt?: number | undefined
  /** Since when the bus confirms messages without a stream; undefined while it stores them. */
  readonly unstoredSince?: number | undefined
  /** When the bus confirmed messages that the stream lacks, until somebody sends them again. */
  readonly lost?: LostSpan | undefined
}

export interface LostSpan {
  readonly since: number
  readonly until: number
  /** No stream has ever had them; else a stream that was made anew has lost them. */
  readonly isUnstored?: boolean | undefined
}

/** Undefined before messages were delivered to a stream. The schema must be current. */
export async function readBusStream(reads: Reads): Promise<BusStreamMark | undefined> {
  const row = await read(reads, STREAM)
  return row && (JSON.parse(row.holder) as BusStreamMark)
}

/** May be repeated. */
export async function recordBusStream(tx: Tx, mark: BusStreamMark): Promise<void> {
  await save(tx, STREAM, JSON.stringify(mark), NEVER)
}

// With which keys the database is served, and which were replaced.
const SERVED = 'signing-key'
const REPLACED = 'signing-key-replaced'

/** What {@link recordSigningKeys} was given last; undefined before. The schema must be current. */
export async function readSigningKeys(reads: Reads): Promise<string | undefined> {
  return (await read(reads, SERVED))?.holder
}

/** Records with which signing keys a platform serves this database. May be repeated. */
export async function recordSigningKeys(tx: Tx, names: string): Promise<void> {
  await save(tx, SERVED, names, NEVER)
}

/** Keys that no key of now has followed: what they have signed is refused. */
export interface ReplacedKeys {
  readonly names: readonly string[]
  /** When the last token of them ends. */
  readonly until: number
}

/** What {@link recordReplacedKeys} was given last. The schema must be current. */
export async function readReplacedKeys(reads: Reads): Promise<ReplacedKeys | undefined> {
  const row = await read(reads, REPLACED)
  return row && (JSON.parse(row.holder) as ReplacedKeys)
}

/** Undefined removes the record. */
export async function recordReplacedKeys(tx: Tx, keys: ReplacedKeys | undefined): Promise<void> {
  if (keys) await save(tx, REPLACED, JSON.stringify(keys), NEVER)
  else await removeMark(tx, REPLACED)
}
