import { hasEndedHere, newHolder } from './holder.ts'
import type { Queries, Reads, Store, Tx } from '../store.ts'
import { statement } from '../tables.ts'

// Rows that nobody takes. They have expired at once, so that they count nowhere as held.
const PROCESS = 'process:'
const CHECK = 'integrity-check'

const list = statement<{ pattern: string }, { name: string; holder: string }>((db, value) =>
  db.selectFrom('leases').select(['name', 'holder']).where('name', 'like', value('pattern')),
)

const save = statement<{ name: string; holder: string }>((db, value) =>
  db
    .insertInto('leases')
    .values({ name: value('name'), holder: value('holder'), expires_at: 0 })
    .onConflict((conflict) => conflict.column('name').doNothing()),
)

const remove = statement<{ name: string }>((db, value) =>
  db.deleteFrom('leases').where('name', '=', value('name')),
)

/** A process that serves a SQLite file, from its start to its orderly stop. */
export interface ProcessMark {
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
    const rows = await tx.run(list, { pattern: `${PROCESS}%` })
    const ended = rows.filter((row) => hasEndedHere(row.holder))
    for (const row of ended) await tx.change(remove, { name: row.name })
    await tx.change(save, { name, holder })
    const isFirst = ended.length === rows.length
    if (ended.length === 0 && !(isFirst && hadLog)) return false
    await requestCheck(tx)
    return true
  })
  return {
    isAfterCrash,
    remove: () => store.write(async (tx) => void (await tx.change(remove, { name }))),
  }
}

/** Has the pages of the file checked by the worker. May be repeated. */
export async function requestCheck(tx: Tx): Promise<void> {
  await tx.change(save, { name: CHECK, holder: 'due' })
}

/** Whether no check has found the file sound since {@link requestCheck}. */
export async function isCheckDue(reads: Reads): Promise<boolean> {
  return (await reads.run(list, { pattern: CHECK })).length > 0
}

/** A check has found the file sound. */
export async function endCheck(tx: Pick<Queries, 'change'>): Promise<void> {
  await tx.change(remove, { name: CHECK })
}
