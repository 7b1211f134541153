import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql, type Generated } from 'kysely'
import { onEveryDialect, testStore } from '../../test/support/store.ts'
import {
  defineColumns,
  flag,
  generated,
  integer,
  json,
  text,
  schemaOf,
  type NewRowOf,
  type RowOf,
  type TableOf,
} from './columns.ts'
import type { Queries, Store } from './store.ts'

const THINGS = defineColumns({
  seq: generated(),
  thingId: text(),
  kind: text<'round' | 'square'>(),
  weightG: integer().nullable(),
  ipV4Address: text().nullable(),
  isNew: flag(),
  labels: json<Record<string, string>>(),
  parts: json<string[]>().nullable(),
})

type Thing = RowOf<typeof THINGS>
type NewThing = NewRowOf<typeof THINGS>
type ThingsTable = TableOf<typeof THINGS>

// A type that differs does not compile.
const typed = <Expected>(value: Expected) => value
typed<(expected: Thing) => void>(
  (_: {
    seq: number
    thingId: string
    kind: 'round' | 'square'
    weightG: number | null
    ipV4Address: string | null
    isNew: boolean
    labels: Record<string, string>
    parts: string[] | null
  }) => {},
)
typed<(expected: ThingsTable) => void>(
  (_: {
    seq: Generated<number>
    thing_id: string
    kind: 'round' | 'square'
    weight_g: number | null
    ip_v4_address: string | null
    is_new: number
    labels: string
    parts: string | null
  }) => {},
)

const THING: NewThing = {
  thingId: 'a',
  kind: 'round',
  weightG: 12,
  ipV4Address: null,
  isNew: true,
  labels: { colour: 'red' },
  parts: null,
}

const { changeRows, db: on, readRow, readRows } = schemaOf({ things: THINGS })

const insert = changeRows((db, thing: NewThing) => db.insertInto('things').values(THINGS.values(thing)))
const find = readRow((db, thingId: string) =>
  db.selectFrom('things').select(THINGS.all).where('thing_id', '=', thingId),
)
const findDecoded = readRow(
  (db, thingId: string) => db.selectFrom('things').select(THINGS.all).where('thing_id', '=', thingId),
  THINGS.decode,
)
const update = readRows((db, thing: Pick<Thing, 'thingId' | 'weightG' | 'labels'>) =>
  db
    .updateTable('things')
    .set(THINGS.set(thing, 'weightG', 'labels'))
    .where('thing_id', '=', thing.thingId)
    .returning(THINGS.pick('seq', 'weightG')),
)

typed<(queries: Queries, thingId: string) => Promise<Thing | undefined>>(findDecoded)
// @ts-expect-error A column is missing.
changeRows((db, thing: Omit<NewThing, 'kind'>) => db.insertInto('things').values(THINGS.values(thing)))
changeRows((db, thing: Thing) =>
  // @ts-expect-error The database assigns that column.
  db.updateTable('things').set(THINGS.set(thing, 'seq')),
)
// @ts-expect-error There is no such column.
readRows((db) => db.selectFrom('things').select(THINGS.pick('other')))
const findKind = readRows((db) => db.selectFrom('things').select('kind'))
// @ts-expect-error The query does not select that column.
typed<(queries: Queries) => Promise<{ seq: number }[]>>(findKind)
const findWeight = readRows((db) => db.selectFrom('things').select(THINGS.pick('weightG')))
// @ts-expect-error That column may be null.
typed<(queries: Queries) => Promise<{ weightG: number }[]>>(findWeight)
// @ts-expect-error The query returns rows.
changeRows((db) => db.deleteFrom('things').returning('seq'))

async function createThings(store: Store): Promise<void> {
  const { integer: integerType, numbered, tableSuffix } = store.capabilities
  await store.write(({ db }) =>
    sql`
      create table things (
        seq ${numbered},
        thing_id text,
        kind text,
        weight_g ${integerType},
        ip_v4_address text,
        is_new ${integerType},
        labels text,
        parts text
      ) ${tableSuffix}`.execute(db),
  )
}

onEveryDialect('columns', (dialect) => {
  test('a row is read as it was written', async () => {
    await using world = await testStore(dialect)
    const { store } = world
    await createThings(store)
    const second: NewThing = { ...THING, thingId: 'b', kind: 'square', isNew: false, parts: ['lid'] }
    await store.write(async (tx) => {
      await insert(tx, THING)
      await insert(tx, second)
    })
    assert.deepEqual(await Promise.all(['a', 'b'].map((thingId) => findDecoded(store.read, thingId))), [
      { seq: 1, ...THING },
      { seq: 2, ...second },
    ])
  })

  test('a row comes back under the names of the program, without any decoding', async () => {
    await using world = await testStore(dialect)
    const { store } = world
    await createThings(store)
    await store.write((tx) => insert(tx, THING))
    const row = await find(store.read, 'a')
    assert.deepEqual(row, { seq: 1, ...THING, isNew: 1, labels: '{"colour":"red"}' })
  })

  test('an update sets the named columns only', async () => {
    await using world = await testStore(dialect)
    const { store } = world
    await createThings(store)
    const changed = await store.write(async (tx) => {
      await insert(tx, THING)
      return update(tx, { thingId: 'a', weightG: null, labels: {} })
    })
    assert.deepEqual(changed, [{ seq: 1, weightG: null }])
    assert.deepEqual(await findDecoded(store.read, 'a'), { seq: 1, ...THING, weightG: null, labels: {} })
  })

  test('a query that is not prepared takes values in the same way', async () => {
    await using world = await testStore(dialect)
    const { store } = world
    await createThings(store)
    await store.write((tx) => on(tx).insertInto('things').values(THINGS.values(THING)).execute())
    const row = await on(store.read).selectFrom('things').select(THINGS.all).executeTakeFirstOrThrow()
    assert.deepEqual(THINGS.decode(row), { seq: 1, ...THING })
  })
})

test('what builds a query cannot examine a value', async () => {
  await using world = await testStore('sqlite')
  const spread = readRow((db, thing: NewThing) =>
    db
      .selectFrom('things')
      .select('seq')
      .where('thing_id', '=', { ...thing }.thingId),
  )
  await assert.rejects(spread(world.store.read, THING), /before its values are known/)
})

test('columns are named in snake_case, digits included', () => {
  assert.deepEqual(THINGS.pick('seq', 'thingId', 'ipV4Address'), [
    'seq',
    'thing_id as thingId',
    'ip_v4_address as ipV4Address',
  ])
})
