import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql, type SelectQueryBuilder } from 'kysely'
import { onEveryDialect, testStore } from '../../test/support/store.ts'
import { HOUR } from '../kernel/time.ts'
import { createdIn } from './created-in.ts'
import type { Queries } from './store.ts'

const START = Date.UTC(2026, 0, 31)

type Table = { history: { seq: number; at: number } }

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
    return (await queryOf(store.read, range)).map(({ at }) => at - START)
  }
  return { store, list, [Symbol.asyncDispose]: dispose }
}

async function queryOf(queries: Queries, range: Parameters<typeof createdIn>[3]) {
  let query = (
    queries.db as unknown as { selectFrom(table: 'history'): SelectQueryBuilder<Table, 'history', {}> }
  )
    .selectFrom('history')
    .select('at')
  for (const condition of await createdIn(queries, 'history', 'at', range)) query = query.where(condition)
  return query.orderBy('seq').execute()
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

test('a page of a time range does not read the rows outside of it', async () => {
  await using w = await world('sqlite', [0, HOUR])
  const { rows } = await sql<{ detail: string }>`explain query plan
    select * from history where seq < 9 and at >= 1 and seq >= 5 order by seq desc limit 100
  `.execute(w.store.read.db)
  assert.deepEqual(
    rows.map(({ detail }) => detail.replace(/sqlite_autoindex_\w+/, 'index')),
    ['SEARCH history USING INDEX index (seq>? AND seq<?)'],
  )
})
