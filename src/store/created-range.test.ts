import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { plansOf } from '../../test/support/query-plan.ts'
import { onEveryDialect, testStore } from '../../test/support/store.ts'
import { OLDEST_FIRST } from '../kernel/page.ts'
import { HOUR } from '../kernel/time.ts'
import { defineColumns, integer, schemaOf } from './columns.ts'

const START = Date.UTC(2026, 0, 31)

const history = defineColumns({ seq: integer(), at: integer() })
const { pages } = schemaOf({ history })

const readHistory = pages(
  { table: 'history', createdAt: 'at' },
  (on) => on.selectFrom('history').select(history.all),
  {},
)

/** A table with a row for each time; its `seq` has gaps, as after a deletion. */
async function world(dialect: 'sqlite' | 'postgres', times: readonly number[]) {
  const { store, [Symbol.asyncDispose]: dispose } = await testStore(dialect)
  await store.write(async (tx) => {
    await sql`create table history (seq bigint primary key, at bigint not null)`.execute(tx.db)
    for (const [index, at] of times.entries())
      await sql`insert into history (seq, at) values (${index * 3 + 1}, ${START + at})`.execute(tx.db)
  })
  const list = async (createdFrom?: number, createdTo?: number) => {
    const range = {
      ...(createdFrom !== undefined && { createdFrom: START + createdFrom }),
      ...(createdTo !== undefined && { createdTo: START + createdTo }),
    }
    const { items } = await readHistory(store.read, {}, { limit: 100, order: OLDEST_FIRST, ...range })
    return items.map(({ at }) => at - START)
  }
  return { store, list, [Symbol.asyncDispose]: dispose }
}

onEveryDialect('a time range', (dialect) => {
  test('includes its beginning and excludes its end', async () => {
    const times = Array.from({ length: 50 }, (_, index) => index * HOUR)
    await using w = await world(dialect, times)
    assert.deepEqual(await w.list(), times)
    assert.deepEqual(await w.list(10 * HOUR, 12 * HOUR), [10 * HOUR, 11 * HOUR])
    assert.deepEqual(await w.list(48 * HOUR), [48 * HOUR, 49 * HOUR])
    assert.deepEqual(await w.list(undefined, 1), [0])
    assert.deepEqual(await w.list(50 * HOUR), [])
    assert.deepEqual(await w.list(12 * HOUR, 10 * HOUR), [])
  })

  test('of an empty table is empty', async () => {
    await using w = await world(dialect, [])
    assert.deepEqual(await w.list(0, HOUR), [])
  })

  test('has the rows that were created after the clock was set back by less than an hour', async () => {
    const times = [0, 1, 2, 3].map((hours) => hours * HOUR).toSpliced(2, 0, 0.5 * HOUR)
    await using w = await world(dialect, times)
    assert.deepEqual(await w.list(0.25 * HOUR, 0.75 * HOUR), [0.5 * HOUR])
    assert.deepEqual(await w.list(0.75 * HOUR, 1.5 * HOUR), [HOUR])
  })
})

test('neither a page of a time range nor the search for it reads the rows outside of it', async () => {
  await using w = await world('sqlite', [0, HOUR])
  const page = { limit: 100, createdFrom: START, createdTo: START + HOUR }
  const plans = await plansOf(w.store, (queries) => readHistory(queries, {}, page))
  assert.deepEqual(
    [...new Set(plans.map((plan) => plan.replace(/sqlite_autoindex_\w+/, 'index')))],
    [
      'SCAN history USING COVERING INDEX index',
      'SEARCH history USING INDEX index (seq>?)',
      'SEARCH history USING INDEX index (seq>? AND seq<?)',
    ],
  )
})
