import type { NewRowOf, RowOf } from '../../store/columns.ts'
import { sizeOf, type ListFilter } from '../../store/pages.ts'
import type { Tx } from '../../store/store.ts'
import type { TrailEntry } from './model.ts'
import { auditSettings, entries, seals, changeRow, changeRows, pages, readRow, readRows } from './tables.ts'

export type SealPage = RowOf<typeof seals>

const insertPage = changeRow((on, page: SealPage) =>
  on
    .insertInto('audit_seals')
    .values(seals.values(page))
    .onConflict((conflict) => conflict.doNothing()),
)

const extendPage = changeRow((on, page: SealPage, formerTotal: number) =>
  on
    .updateTable('audit_seals')
    .set(seals.set(page, 'total', 'newestAt', 'codes'))
    .where('page', '=', page.page)
    .where('total', '=', formerTotal),
)

/** How many entries were ever sealed. */
export const findTotalSealed = readRow(
  (on) => on.selectFrom('audit_seals').select('total').orderBy('page', 'desc').limit(1),
  ({ total }) => total,
)

/** The ids of the keys of all pages. */
export const listSealKeys = readRows(
  (on) => on.selectFrom('audit_seals').select('key_id as keyId').distinct(),
  ({ keyId }) => keyId,
)

const deleteEntries = changeRows((on, through: number) =>
  on.deleteFrom('audit_entries').where('seq', '<=', through),
)

const deletePage = changeRow((on, page: number) => on.deleteFrom('audit_seals').where('page', '=', page))

/** An entry of somebody with this id. */
export const findEntryOfActor = readRow((on, actor: string) =>
  on.selectFrom('audit_entries').select('seq').where('actor_id', '=', actor).limit(1),
)

/** The text of the changes of the newest entry with this operation. */
export const findNewestChanges = readRow(
  (on, operation: string) =>
    on
      .selectFrom('audit_entries')
      .select('changes')
      .where('operation', '=', operation)
      .orderBy('seq', 'desc')
      .limit(1),
  ({ changes }) => changes,
)

export const listEntries = pages(
  { table: 'audit_entries', createdAt: 'at', size: sizeOf('changes') },
  (on) => on.selectFrom('audit_entries').select(entries.all),
  {
    actorId: (query, id: string) => query.where('actor_id', '=', id),
    actorName: (query, name: string) => query.where('actor_name', '=', name),
    operation: (query, operation: string) => query.where('operation', '=', operation),
    targetKind: (query, kind: string) => query.where('target_kind', '=', kind),
    targetId: (query, id: string) => query.where('target_id', '=', id),
  },
  (row): TrailEntry => {
    const { actorId, actorName, actorKind, targetKind, targetId, ...entry } = entries.decode(row)
    return {
      ...entry,
      actor: { id: actorId, name: actorName, kind: actorKind },
      target: { kind: targetKind, id: targetId },
    }
  },
)

export type EntryFilter = ListFilter<typeof listEntries>

export const insertEntry = changeRows((on, entry: NewRowOf<typeof entries>) =>
  on.insertInto('audit_entries').values(entries.values(entry)),
)

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

export const findNewestSealPage = readRow(
  (on) => on.selectFrom('audit_seals').select(seals.all).orderBy('page', 'desc').limit(1),
  seals.decode,
)

export const findSealPageAfter = readRow(
  (on, after: number) =>
    on.selectFrom('audit_seals').select(seals.all).where('page', '>', after).orderBy('page').limit(1),
  seals.decode,
)

/** The page with the entry that was sealed as the one of this number. */
export const findSealPageWith = readRow(
  (on, total: number) =>
    on.selectFrom('audit_seals').select(seals.all).where('total', '>=', total).orderBy('total').limit(1),
  seals.decode,
)

/** `false` when another worker was first. */
export function putSealPage(tx: Tx, page: SealPage, former: SealPage | undefined): Promise<boolean> {
  return former?.page === page.page ? extendPage(tx, page, former.total) : insertPage(tx, page)
}

/** Removes a page with its entries; `false` when another worker was first. */
export async function removeSealPage(tx: Tx, { page, codes }: SealPage): Promise<boolean> {
  if (!(await deletePage(tx, page))) return false
  await deleteEntries(tx, codes.at(-1)?.[0] ?? 0)
  return true
}

export const findProcessSettings = readRow(
  (on, process: string) =>
    on
      .selectFrom('audit_settings')
      .select(auditSettings.pick('keyId', 'hashes'))
      .where('process', '=', process),
  auditSettings.decode,
)

export const saveProcessSettings = changeRows((on, settings: RowOf<typeof auditSettings>) =>
  on
    .insertInto('audit_settings')
    .values(auditSettings.values(settings))
    .onConflict((conflict) =>
      conflict.column('process').doUpdateSet(auditSettings.set(settings, 'keyId', 'hashes')),
    ),
)
