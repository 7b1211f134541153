import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { onEveryDialect, testStore } from '../../test/support/store.ts'
import type { PageRequest } from '../kernel/page.ts'
import { HOUR } from '../kernel/time.ts'
import { defineColumns, integer, text, schemaOf } from './columns.ts'
import { sizeOf } from './pages.ts'
import type { Queries } from './store.ts'

const START = Date.UTC(2026, 0, 31)

const things = defineColumns({
  seq: integer(),
  kind: text<'round' | 'square'>(),
  label: text(),
  at: integer(),
})
const { pages } = schemaOf({ things })

const readThings = pages(
  { table: 'things', createdAt: 'at', literals: ['kind'] },
  (on) => on.selectFrom('things').select(things.pick('seq')),
  {
    kind: (query, kind: 'round' | 'square') => query.where('kind', '=', sql.lit(kind)),
    label: (query, label: string) => query.where('label', '=', label),
  },
)

const readLarge = pages(
  { table: 'things', size: sizeOf('label', 'kind') },
  (on) => on.selectFrom('things').select(things.pick('seq', 'label')),
  { kind: (query, kind: 'round' | 'square') => query.where('kind', '=', kind) },
)

const FIRST: PageRequest = { limit: 10 }

/** Eight things: every second one is round, every fourth has the label `a`; one an hour. */
async function world(dialect: 'sqlite' | 'postgres') {
  const created = await testStore(dialect)
  await created.store.write(async ({ db }) => {
    await sql`create table things (seq bigint primary key, kind text, label text, at bigint)`.execute(db)
    for (let seq = 1; seq <= 8; seq++) {
      const [kind, label] = [seq % 2 === 0 ? 'round' : 'square', seq % 4 === 0 ? 'a' : 'b']
      await sql`insert into things values (${seq}, ${kind}, ${label}, ${START + seq * HOUR})`.execute(db)
    }
  })
  const list = async (...[filter, page = {}]: [Parameters<typeof readThings>[1], Partial<PageRequest>?]) => {
    const { items, next } = await readThings(created.store.read, filter, { ...FIRST, ...page })
    return { seqs: items.map(({ seq }) => seq), next: next?.values ?? null }
  }
  return { ...created, list }
}

onEveryDialect('pages of a table', (dialect) => {
  test('have the rows of each combination of filters, newest first', async () => {
    await using w = await world(dialect)
    const seqsOf = async (filter: Parameters<typeof w.list>[0]) => (await w.list(filter)).seqs
    assert.deepEqual(await seqsOf({}), [8, 7, 6, 5, 4, 3, 2, 1])
    assert.deepEqual(await seqsOf({ kind: 'round' }), [8, 6, 4, 2])
    assert.deepEqual(await seqsOf({ kind: 'square' }), [7, 5, 3, 1])
    assert.deepEqual(await seqsOf({ label: 'a' }), [8, 4])
    assert.deepEqual(await seqsOf({ label: 'b' }), [7, 6, 5, 3, 2, 1])
    assert.deepEqual(await seqsOf({ kind: 'round', label: 'b' }), [6, 2])
    assert.deepEqual(await seqsOf({ kind: undefined, label: 'a' }), [8, 4])
  })

  test('of several values of a member are in one order, also behind a position and in a time range', async () => {
    await using w = await world(dialect)
    const filter = { kind: ['round', 'square', 'round'], label: 'b' } as const
    assert.deepEqual(await w.list(filter), { seqs: [7, 6, 5, 3, 2, 1], next: null })
    assert.deepEqual(
      (await w.list({ kind: ['round', 'square'], label: ['a', 'b'] })).seqs,
      [8, 7, 6, 5, 4, 3, 2, 1],
    )
    const first = await w.list(filter, { limit: 2 })
    assert.deepEqual(first, { seqs: [7, 6], next: [6] })
    const after = { list: 'things', order: 'newest', values: [6] }
    assert.deepEqual(await w.list(filter, { limit: 2, after }), { seqs: [5, 3], next: [3] })
    const range = { createdFrom: START + 4 * HOUR, createdTo: START + 7 * HOUR }
    assert.deepEqual((await w.list(filter, range)).seqs, [6, 5])
    const large = await readLarge(w.store.read, { kind: ['round', 'square'] }, { limit: 3 })
    assert.deepEqual(
      large.items.map(({ seq }) => seq),
      [8, 7, 6],
    )
  })

  test('do not begin at a position of another list', async () => {
    await using w = await world(dialect)
    const after = { list: 'others', order: 'newest', values: [4] }
    await assert.rejects(w.list({}, { limit: 3, after }), { code: 'validation_failed', message: /cursor/ })
  })

  test('follow each other without a gap', async () => {
    await using w = await world(dialect)
    assert.deepEqual(await w.list({ kind: 'round' }, { limit: 3 }), { seqs: [8, 6, 4], next: [4] })
    assert.deepEqual(
      await w.list({ kind: 'round' }, { limit: 3, after: { list: 'things', order: 'newest', values: [4] } }),
      {
        seqs: [2],
        next: null,
      },
    )
    assert.deepEqual(await w.list({ kind: 'round' }, { limit: 4 }), { seqs: [8, 6, 4, 2], next: null })
  })

  test('can be restricted to a time range', async () => {
    await using w = await world(dialect)
    const seqsBetween = async (range: { createdFrom?: number; createdTo?: number }) =>
      (await readThings(w.store.read, { kind: 'round' }, { ...FIRST, ...range })).items.map(({ seq }) => seq)
    assert.deepEqual(await seqsBetween({ createdFrom: START + 6 * HOUR }), [8, 6])
    assert.deepEqual(await seqsBetween({ createdTo: START + 6 * HOUR }), [4, 2])
    assert.deepEqual(
      await seqsBetween({ createdFrom: START + 3 * HOUR, createdTo: START + 7 * HOUR }),
      [6, 4],
    )
  })

  test('end early before a megabyte, and have at least one row', async () => {
    await using w = await world(dialect)
    const [half, whole] = ['x'.repeat(524_000), 'x'.repeat(1_500_000)]
    const labels = [half, half, half, whole, whole, '', half, half]
    await w.store.write(async ({ db }) => {
      for (const [index, label] of labels.entries())
        await sql`update things set label = ${label} where seq = ${index + 1}`.execute(db)
    })
    let returned = 0
    const reads: Queries = {
      ...w.store.read,
      async run(statement, parameters) {
        const rows = await w.store.read.run(statement, parameters)
        for (const row of rows) if ('label' in (row as object)) returned++
        return rows
      },
    }
    const parts: number[][] = []
    let after: PageRequest['after'] = null
    do {
      const page = await readLarge(reads, {}, { limit: 4, after })
      parts.push(page.items.map(({ seq }) => seq))
      after = page.next
    } while (after)
    assert.deepEqual(parts, [[8, 7, 6], [5], [4], [3, 2], [1]])
    assert.equal(returned, 8, 'no row is read twice')
  })
})

test('the limit of a query on SQLite is an expression: a parameter alone would be planned at each execution', async () => {
  await using w = await world('sqlite')
  const texts: string[] = []
  const queries: Queries = {
    ...w.store.read,
    async run(statement, parameters) {
      texts.push(statement.bind('sqlite', w.store.read.db, parameters).text)
      return []
    },
  }
  await readThings(queries, { kind: 'round', label: 'a' }, FIRST)
  assert.deepEqual(texts, [
    `select "seq" from "things" where "kind" = 'round' and "label" = ? order by "seq" desc limit ? + 0`,
  ])
})
