import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql, type Generated, type Kysely } from 'kysely'
import { onEveryDialect, testStore } from '../../test/support/store.ts'
import {
  defineColumns,
  flag,
  generated,
  integer,
  json,
  text,
  type NewRowOf,
  type RowOf,
  type TableOf,
} from './columns.ts'
import { statement, type Database } from './statement.ts'
import { first, type Store } from './store.ts'

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

type ThingTables = { things: ThingsTable }
const on = (db: Database): Kysely<ThingTables> => db

const insert = statement<NewThing>((db, value) => on(db).insertInto('things').values(THINGS.values(value)))
const find = statement<{ thingId: string }, Stored>((db, value) =>
  on(db).selectFrom('things').select(THINGS.all).where('thing_id', '=', value('thingId')),
)
const update = statement<
  Pick<Thing, 'thingId' | 'weightG' | 'labels'>,
  { seq: number; weightG: number | null }
>((db, value) =>
  on(db)
    .updateTable('things')
    .set(THINGS.set(value, 'weightG', 'labels'))
    .where('thing_id', '=', value('thingId'))
    .returning(THINGS.pick('seq', 'weightG')),
)

// @ts-expect-error A column is missing.
statement<Omit<NewThing, 'kind'>>((db, value) => on(db).insertInto('things').values(THINGS.values(value)))
statement<Thing>((db, value) =>
  // @ts-expect-error The database assigns that column.
  on(db).updateTable('things').set(THINGS.set(value, 'seq')),
)
statement<Thing>((db) =>
  // @ts-expect-error There is no such column.
  on(db).selectFrom('things').select(THINGS.pick('other')),
)

// @ts-expect-error The query does not select that column.
statement<object, { seq: number }>((db) => on(db).selectFrom('things').select(THINGS.pick('kind')))
// @ts-expect-error That column may be null.
statement<object, { weightG: number }>((db) => on(db).selectFrom('things').select(THINGS.pick('weightG')))
// @ts-expect-error The query returns rows.
statement<object>((db) => on(db).deleteFrom('things').returning('seq'))
// @ts-expect-error The query returns no rows.
statement<object, { seq: number }>((db) => on(db).deleteFrom('things'))

type Stored = Omit<Thing, 'isNew' | 'labels' | 'parts'> & {
  isNew: number
  labels: string
  parts: string | null
}

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
      await tx.change(insert, THING)
      await tx.change(insert, second)
    })
    const rows = await Promise.all(['a', 'b'].map((thingId) => first(store.read, find, { thingId })))
    assert.deepEqual(
      rows.map((row) => row && THINGS.decode(row)),
      [
        { seq: 1, ...THING },
        { seq: 2, ...second },
      ],
    )
  })

  test('a row comes back under the names of the program, without any decoding', async () => {
    await using world = await testStore(dialect)
    const { store } = world
    await createThings(store)
    await store.write((tx) => tx.change(insert, THING))
    const row = await first(store.read, find, { thingId: 'a' })
    assert.deepEqual(row, { seq: 1, ...THING, isNew: 1, labels: '{"colour":"red"}' })
  })

  test('an update sets the named columns only', async () => {
    await using world = await testStore(dialect)
    const { store } = world
    await createThings(store)
    const changed = await store.write(async (tx) => {
      await tx.change(insert, THING)
      return tx.run(update, { thingId: 'a', weightG: null, labels: {} })
    })
    assert.deepEqual(changed, [{ seq: 1, weightG: null }])
    const row = await first(store.read, find, { thingId: 'a' })
    assert.deepEqual(row && THINGS.decode(row), { seq: 1, ...THING, weightG: null, labels: {} })
  })

  test('a query that is not prepared takes values in the same way', async () => {
    await using world = await testStore(dialect)
    const { store } = world
    await createThings(store)
    await store.write((tx) =>
      on(tx.db)
        .insertInto('things')
        .values(THINGS.values((name) => THING[name]))
        .execute(),
    )
    const row = await on(store.read.db).selectFrom('things').select(THINGS.all).executeTakeFirstOrThrow()
    assert.deepEqual(THINGS.decode(row), { seq: 1, ...THING })
  })
})

test('columns are named in snake_case, digits included', () => {
  assert.deepEqual(THINGS.pick('seq', 'thingId', 'ipV4Address'), [
    'seq',
    'thing_id as thingId',
    'ip_v4_address as ipV4Address',
  ])
})
