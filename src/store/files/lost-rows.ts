import { CompiledQuery } from 'kysely'

/** Rows that refer to rows of another table which are gone. */
interface LostRows {
  /** Where the rows are gone. */
  readonly lostFrom: string
  /** Where the rows are that refer to them. */
  readonly table: string
  readonly rows: number
}

const FOREIGN_KEY_CHECK: CompiledQuery<LostRows> = CompiledQuery.raw(
  'select parent as "lostFrom", "table", count(*) as rows from pragma_foreign_key_check group by 1, 2 order by 1, 2',
)

/** What another program has deleted from a SQLite file: the platform deletes no row that another one refers to. */
export async function findLostRows(path: string, signal: AbortSignal): Promise<LostRows[]> {
  const { readInThread } = await import('../dialects/sqlite-threads.ts')
  return readInThread(path, FOREIGN_KEY_CHECK, { inBackground: true, signal })
}
