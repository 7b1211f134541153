import { CompiledQuery } from 'kysely'
import { AppError, errorMessage } from '../../kernel/errors.ts'
import { useStore, type DatabaseAddress } from '../open.ts'
import { snapshotDamaged } from './restore-target.ts'
import { storeUnavailable } from '../unavailable.ts'
import { isDamaged } from '../dialects/sqlite-errors.ts'

interface Finding {
  readonly quick_check: string
}

const QUICK_CHECK: CompiledQuery<Finding> = CompiledQuery.raw('pragma quick_check(1)')

/**
 * Checks a database that may be in use, without writing to it: each page of a SQLite file, or that PostgreSQL, which
 * checks its own pages, answers. Rejects with `snapshot_damaged` or `store_unavailable`.
 */
export async function quickCheck(database: DatabaseAddress, signal?: AbortSignal): Promise<string> {
  if (database.kind === 'sqlite') return checkFile(database.path, signal)
  return useStore({ database, readOnly: true }, async (store) => {
    await store.check()
    return 'PostgreSQL answers'
  })
}

/** What is wrong with the pages of a database; undefined if nothing is. Rejects if it cannot be read. */
export async function findDamage(
  database: DatabaseAddress,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    await quickCheck(database, signal)
    return undefined
  } catch (error) {
    signal.throwIfAborted()
    const { code, cause, message } = error instanceof AppError ? error : storeUnavailable(error)
    if (code === 'snapshot_damaged' || isDamaged(cause)) return message
    throw error
  }
}

async function checkFile(path: string, signal?: AbortSignal): Promise<string> {
  const { readInThread } = await import('../dialects/sqlite-threads.ts')
  const rows = await readInThread(path, QUICK_CHECK, { inBackground: true, signal }).catch(
    (error: unknown) => {
      const cause = error instanceof AppError ? error.cause : error
      throw storeUnavailable(cause, `The database ${path} cannot be read: ${errorMessage(cause)}.`)
    },
  )
  // It begins with a line that names the only database.
  const result = rows[0]?.quick_check.split('\n').at(-1)
  if (result === 'ok') return 'quick_check: ok'
  throw snapshotDamaged(path, `quick_check: ${result}`)
}

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
