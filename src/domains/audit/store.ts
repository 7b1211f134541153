import type { Page, PageRequest } from '../../kernel/page.ts'
import { sizeOf } from '../../store/pages.ts'
import type { Reads, Tx } from '../../store/store.ts'
import type { TrailEntry } from './model.ts'
import { auditSettings, entries, pages, seals, readRow, readRows, changeRows } from './tables.ts'

/** A row as it is inserted. */
export type EntryRow = Omit<TrailEntry, 'actor' | 'target'> & {
  readonly actorId: string
  readonly actorName: string
  readonly actorKind: TrailEntry['actor']['kind']
  readonly targetKind: string
  readonly targetId: string | null
}

export interface SealPage {
  readonly page: number
  readonly total: number
  readonly newestAt: number
  readonly keyId: string
  readonly previous: string
  readonly codes: readonly (readonly [seq: number, code: string])[]
}

const insertPage = changeRows((on, sealPage: SealPage) =>
  on
    .insertInto('audit_seals')
    .values(seals.values(sealPage))
    .onConflict((conflict) => conflict.doNothing()),
)

const extendPage = changeRows((on, change: SealPage & { formerTotal: number }) =>
  on
    .updateTable('audit_seals')
    .set(seals.set(change, 'total', 'newestAt', 'codes'))
    .where('page', '=', change.page)
    .where('total', '=', change.formerTotal),
)

const countSealed = readRow((on) =>
  on.selectFrom('audit_seals').select('total').orderBy('page', 'desc').limit(1),
)

const sealKeys = readRows((on) => on.selectFrom('audit_seals').select('key_id as keyId').distinct())

const removeEntries = changeRows((on, through: number) =>
  on.deleteFrom('audit_entries').where('seq', '<=', through),
)

const removePage = changeRows((on, page: number) => on.deleteFrom('audit_seals').where('page', '=', page))

const findActor = readRow((on, actor: string) =>
  on.selectFrom('audit_entries').select('seq').where('actor_id', '=', actor).limit(1),
)

const findNewestPrune = readRow((on, operation: string) =>
  on
    .selectFrom('audit_entries')
    .select('changes')
    .where('operation', '=', operation)
    .orderBy('seq', 'desc')
    .limit(1),
)

interface ProcessSettings {
  readonly process: string
  readonly keyId: string
  readonly hashes: Readonly<Record<string, string>>
}

const pageOfEntries = pages(
  { table: 'audit_entries', createdAt: 'at', size: sizeOf('changes') },
  (on) => on.selectFrom('audit_entries').select(entries.all),
  {
    actorId: (query, id: string) => query.where('actor_id', '=', id),
    actorName: (query, name: string) => query.where('actor_name', '=', name),
    operation: (query, operation: string) => query.where('operation', '=', operation),
    targetKind: (query, kind: string) => query.where('target_kind', '=', kind),
    targetId: (query, id: string) => query.where('target_id', '=', id),
  },
)

export interface EntryFilter {
  readonly actorId?: string
  readonly actorName?: string
  readonly operation?: string
  readonly targetKind?: string
  readonly targetId?: string
}

export const insertEntry = changeRows((on, row: EntryRow) =>
  on.insertInto('audit_entries').values(entries.values(row)),
)

export async function listEntries(
  reads: Reads,
  filter: EntryFilter,
  page: PageRequest,
): Promise<Page<TrailEntry>> {
  const { items, next } = await pageOfEntries(reads, filter, page)
  return { items: items.map((row) => toEntry(entries.decode(row))), next }
}

function toEntry(row: EntryRow): TrailEntry {
  const { actorId, actorName, actorKind, targetKind, targetId, ...entry } = row
  return {
    ...entry,
    actor: { id: actorId, name: actorName, kind: actorKind },
    target: { kind: targetKind, id: targetId },
  }
}

/** Whether somebody with this id has an entry. */
export async function hasActor(reads: Reads, actor: string): Promise<boolean> {
  return (await findActor(reads, actor)) !== undefined
}

/** Rows as they are stored, oldest first: what the codes are computed from. */
export const listSealedRows = readRows((on, after: number, through: number, limit: number) =>
  on
    .selectFrom('audit_entries')
    .select(entries.all)
    .where('seq', '>', after)
    .where('seq', '<=', through)
    .orderBy('seq')
    .limit(limit),
)

export const newestSealPage = readRow(
  (on) => on.selectFrom('audit_seals').select(seals.all).orderBy('page', 'desc').limit(1),
  seals.decode,
)

export const sealPageAfter = readRow(
  (on, after: number) =>
    on.selectFrom('audit_seals').select(seals.all).where('page', '>', after).orderBy('page').limit(1),
  seals.decode,
)

/** The page with the entry that was sealed as the one of this number. */
export const sealPageWith = readRow(
  (on, total: number) =>
    on.selectFrom('audit_seals').select(seals.all).where('total', '>=', total).orderBy('total').limit(1),
  seals.decode,
)

export async function totalSealed(reads: Reads): Promise<number> {
  return (await countSealed(reads))?.total ?? 0
}

/** The ids of the keys of all pages. */
export async function listSealKeys(reads: Reads): Promise<string[]> {
  return (await sealKeys(reads)).map(({ keyId }) => keyId)
}

/** `false` when another worker was first. */
export async function putSealPage(tx: Tx, page: SealPage, former: SealPage | undefined): Promise<boolean> {
  const changed =
    former?.page === page.page
      ? await extendPage(tx, { ...page, formerTotal: former.total })
      : await insertPage(tx, page)
  return changed === 1
}

/** Removes a page with its entries; `false` when another worker was first. */
export async function removeSealPage(tx: Tx, { page, codes }: SealPage): Promise<boolean> {
  if ((await removePage(tx, page)) !== 1) return false
  await removeEntries(tx, codes.at(-1)?.[0] ?? 0)
  return true
}

/** The text of the changes of the newest entry with this operation. */
export async function newestChangesOf(reads: Reads, operation: string): Promise<string | undefined> {
  return (await findNewestPrune(reads, operation))?.changes
}

export const readProcessSettings = readRow(
  (on, process: string) =>
    on
      .selectFrom('audit_settings')
      .select(auditSettings.pick('keyId', 'hashes'))
      .where('process', '=', process),
  auditSettings.decode,
)

export const putProcessSettings = changeRows((on, settings: ProcessSettings) =>
  on
    .insertInto('audit_settings')
    .values(auditSettings.values(settings))
    .onConflict((conflict) =>
      conflict.column('process').doUpdateSet(auditSettings.set(settings, 'keyId', 'hashes')),
    ),
)
