import type { Page, PageRequest } from '../../kernel/page.ts'
import { sizeOf } from '../../store/pages.ts'
import { first, type Reads, type Tx } from '../../store/store.ts'
import type { TrailEntry, SealedRow } from './model.ts'
import { auditSettings, entries, pages, seals, statement } from './tables.ts'

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

type StoredPage = Omit<SealPage, 'codes'> & { readonly codes: string }

const insert = statement<EntryRow>((on, value) =>
  on.insertInto('audit_entries').values(entries.values(value)),
)

const readRange = statement<{ after: number; through: number; limit: number }, SealedRow>((on, value) =>
  on
    .selectFrom('audit_entries')
    .select(entries.all)
    .where('seq', '>', value('after'))
    .where('seq', '<=', value('through'))
    .orderBy('seq')
    .limit(value('limit')),
)

const readNewestPage = statement<object, StoredPage>((on) =>
  on.selectFrom('audit_seals').select(seals.all).orderBy('page', 'desc').limit(1),
)

const readPageAfter = statement<{ after: number }, StoredPage>((on, value) =>
  on.selectFrom('audit_seals').select(seals.all).where('page', '>', value('after')).orderBy('page').limit(1),
)

const readPageWith = statement<{ total: number }, StoredPage>((on, value) =>
  on
    .selectFrom('audit_seals')
    .select(seals.all)
    .where('total', '>=', value('total'))
    .orderBy('total')
    .limit(1),
)

const insertPage = statement<SealPage>((on, value) =>
  on
    .insertInto('audit_seals')
    .values(seals.values(value))
    .onConflict((conflict) => conflict.doNothing()),
)

const extendPage = statement<SealPage & { formerTotal: number }>((on, value) =>
  on
    .updateTable('audit_seals')
    .set(seals.set(value, 'total', 'newestAt', 'codes'))
    .where('page', '=', value('page'))
    .where('total', '=', value('formerTotal')),
)

const countSealed = statement<object, { total: number | null }>((on) =>
  on.selectFrom('audit_seals').select('total').orderBy('page', 'desc').limit(1),
)

const sealKeys = statement<object, { keyId: string }>((on) =>
  on.selectFrom('audit_seals').select('key_id as keyId').distinct(),
)

const removeEntries = statement<{ through: number }>((on, value) =>
  on.deleteFrom('audit_entries').where('seq', '<=', value('through')),
)

const removePage = statement<{ page: number }>((on, value) =>
  on.deleteFrom('audit_seals').where('page', '=', value('page')),
)

const findActor = statement<{ actor: string }, { seq: number }>((on, value) =>
  on.selectFrom('audit_entries').select('seq').where('actor_id', '=', value('actor')).limit(1),
)

const findNewestPrune = statement<{ operation: string }, { changes: string }>((on, value) =>
  on
    .selectFrom('audit_entries')
    .select('changes')
    .where('operation', '=', value('operation'))
    .orderBy('seq', 'desc')
    .limit(1),
)

interface ProcessSettings {
  readonly process: string
  readonly keyId: string
  readonly hashes: Readonly<Record<string, string>>
}

const readSettings = statement<{ process: string }, { keyId: string; hashes: string }>((on, value) =>
  on
    .selectFrom('audit_settings')
    .select(auditSettings.pick('keyId', 'hashes'))
    .where('process', '=', value('process')),
)

const putSettings = statement<ProcessSettings>((on, value) =>
  on
    .insertInto('audit_settings')
    .values(auditSettings.values(value))
    .onConflict((conflict) =>
      conflict.column('process').doUpdateSet(auditSettings.set(value, 'keyId', 'hashes')),
    ),
)

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

export async function insertEntry(tx: Tx, row: EntryRow): Promise<void> {
  await tx.change(insert, row)
}

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
  return (await first(reads, findActor, { actor })) !== undefined
}

/** Rows as they are stored, oldest first: what the codes are computed from. */
export function readRows(reads: Reads, after: number, through: number, limit: number): Promise<SealedRow[]> {
  return reads.run(readRange, { after, through, limit })
}

export async function newestSealPage(reads: Reads): Promise<SealPage | undefined> {
  const row = await first(reads, readNewestPage, {})
  return row && seals.decode(row)
}

export async function sealPageAfter(reads: Reads, after: number): Promise<SealPage | undefined> {
  const row = await first(reads, readPageAfter, { after })
  return row && seals.decode(row)
}

/** The page with the entry that was sealed as the one of this number. */
export async function sealPageWith(reads: Reads, total: number): Promise<SealPage | undefined> {
  const row = await first(reads, readPageWith, { total })
  return row && seals.decode(row)
}

export async function totalSealed(reads: Reads): Promise<number> {
  return (await first(reads, countSealed, {}))?.total ?? 0
}

/** The ids of the keys of all pages. */
export async function listSealKeys(reads: Reads): Promise<string[]> {
  return (await reads.run(sealKeys, {})).map(({ keyId }) => keyId)
}

/** `false` when another worker was first. */
export async function putSealPage(tx: Tx, page: SealPage, former: SealPage | undefined): Promise<boolean> {
  const changed =
    former?.page === page.page
      ? await tx.change(extendPage, { ...page, formerTotal: former.total })
      : await tx.change(insertPage, page)
  return changed === 1
}

/** Removes a page with its entries; `false` when another worker was first. */
export async function removeSealPage(tx: Tx, { page, codes }: SealPage): Promise<boolean> {
  if ((await tx.change(removePage, { page })) !== 1) return false
  await tx.change(removeEntries, { through: codes.at(-1)?.[0] ?? 0 })
  return true
}

/** The text of the changes of the newest entry with this operation. */
export async function newestChangesOf(reads: Reads, operation: string): Promise<string | undefined> {
  return (await first(reads, findNewestPrune, { operation }))?.changes
}

export async function readProcessSettings(
  reads: Reads,
  process: string,
): Promise<Omit<ProcessSettings, 'process'> | undefined> {
  const row = await first(reads, readSettings, { process })
  return row && auditSettings.decode(row)
}

export async function putProcessSettings(tx: Tx, settings: ProcessSettings): Promise<void> {
  await tx.change(putSettings, settings)
}
