import assert from 'node:assert/strict'
import { test } from 'node:test'
import { primaryUsersOf, PASSWORD } from '../../../test/support/mirror.ts'
import { fakeClock } from '../../../test/support/clock.ts'
import { onEveryDialect, testStore, testStores } from '../../../test/support/store.ts'
import type { DialectName } from '../../store/dialects/capabilities.ts'
import type { Queries } from '../../store/store.ts'
import { readChanges } from './change-log.ts'

async function world(dialect: DialectName) {
  const clock = fakeClock()
  const { store, ...rest } = await testStore(dialect, clock)
  const users = primaryUsersOf(store, clock)
  const add = (name: string) => users.create({ name, password: PASSWORD, roles: ['admin'] })
  const read = (since?: number, limit = 100) => readChanges(store.read, since, limit)
  return { users, store, add, read, [Symbol.asyncDispose]: rest[Symbol.asyncDispose] }
}

const namesIn = ({ items }: { readonly items: readonly { readonly name: string }[] }) =>
  items.map(({ name }) => name)

/** Every change after a revision, page by page. */
async function readAll(queries: Queries, since: number | undefined, limit: number) {
  const items = []
  for (let after = since; ;) {
    const page = await readChanges(queries, after, limit)
    items.push(...page.items)
    after = page.revision
    if (!page.more) return { items, revision: after }
  }
}

onEveryDialect('the changes of the users', (dialect) => {
  test('are all users without a revision, and those changed later after one', async () => {
    await using w = await world(dialect)
    const [root, ada] = [await w.add('root'), await w.add('ada')]
    const all = await w.read()
    assert.deepEqual(all.items[1], {
      id: ada.id,
      name: 'ada',
      roles: ['admin'],
      enabled: true,
      tokenGeneration: 1,
      deleted: false,
    })
    assert.deepEqual([namesIn(all), all.full, all.more], [['root', 'ada'], true, false])
    assert.deepEqual(await w.read(all.revision), {
      revision: all.revision,
      full: false,
      more: false,
      items: [],
    })
    await w.users.change(root.id, { roles: ['admin', 'devops'] })
    await w.users.change(ada.id, { enabled: false })
    await w.users.setPassword(root.id, 'another brass telescope')
    const later = await w.read(all.revision)
    assert.deepEqual(
      later.items.map(({ name, enabled, tokenGeneration }) => [name, enabled, tokenGeneration]),
      [
        ['ada', false, 2],
        ['root', true, 3],
      ],
    )
    assert.ok(later.revision > all.revision && !later.full)
  })

  test('name a deleted user until the next full copy, without roles', async () => {
    await using w = await world(dialect)
    await w.add('root')
    const ada = await w.add('ada')
    const { revision } = await w.read()
    await w.users.remove(ada.id)
    const gone = { id: ada.id, name: 'ada', roles: [], enabled: false, tokenGeneration: 0, deleted: true }
    assert.deepEqual((await w.read(revision)).items, [gone])
    assert.deepEqual(namesIn(await w.read()), ['root'])
    await w.add('ada')
    assert.deepEqual(namesIn(await w.read(revision)), ['ada', 'ada'])
  })

  test('come in pages, each of which begins after the revision of the last one', async () => {
    await using w = await world(dialect)
    for (const name of ['a', 'b', 'c', 'd', 'e']) await w.add(name)
    const first = await w.read(undefined, 2)
    const second = await w.read(first.revision, 2)
    const third = await w.read(second.revision, 2)
    assert.deepEqual([first, second, third].map(namesIn), [['a', 'b'], ['c', 'd'], ['e']])
    assert.deepEqual(
      [first, second, third].map(({ full, more }) => [full, more]),
      [
        [true, true],
        [false, true],
        [false, false],
      ],
    )
  })

  test('are a full copy after a revision of another database, whether higher or lower', async () => {
    await using w = await world(dialect)
    await using other = await world(dialect)
    await w.add('root')
    for (const name of ['x', 'y']) await other.add(name)
    const { revision } = await w.read()
    for (const foreign of [(await other.read()).revision, revision - 1, revision + 1, 0])
      assert.deepEqual(namesIn(await w.read(foreign)), ['root'])
    assert.equal((await w.read(revision + 1)).full, true)
  })

  test('are empty in a database without users, and a change that is refused is none', async () => {
    await using w = await world(dialect)
    const { revision, items } = await w.read()
    assert.deepEqual(items, [])
    const { id } = await w.add('root')
    const after = await w.read()
    assert.ok(after.revision > revision)
    await assert.rejects(w.users.remove(id))
    await w.users.change(id, { enabled: true })
    assert.deepEqual((await w.read(after.revision)).items, [])
  })
})

const WRITERS = 4
const USERS_OF_EACH = 12

onEveryDialect('a reader beside concurrent changes of the users', (dialect) => {
  test('misses none of them, whichever transaction commits first', async () => {
    const clock = fakeClock()
    await using stores = await testStores(dialect, clock)
    const processes = [stores.store, stores.otherStore].map((store) => primaryUsersOf(store, clock))
    await processes[0]?.create({ name: 'root', password: PASSWORD, roles: ['admin'] })
    const write = async (writer: number) => {
      const users = processes[writer % 2] ?? assert.fail()
      for (let count = 0; count < USERS_OF_EACH; count++) {
        const name = `user-${writer}-${count}`
        const { id } = await users.create({ name, password: PASSWORD, roles: ['devops'] })
        if (count % 3 === 0) await users.change(id, { enabled: false })
        if (count % 3 === 1) await users.remove(id)
      }
    }
    let isWriting = true
    const written = Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)))
    void written.finally(() => (isWriting = false))
    const known = new Map<string, boolean>()
    let since: number | undefined
    for (let isLast = false; !isLast;) {
      isLast = !isWriting
      const { items, revision } = await readAll(stores.store.read, since, 3)
      for (const { name, enabled, deleted } of items) {
        if (deleted) known.delete(name)
        else known.set(name, enabled)
      }
      assert.ok(revision >= (since ?? 0))
      since = revision
    }
    await written
    const { items } = await readChanges(stores.store.read, undefined, 1_000)
    assert.deepEqual(known, new Map(items.map((item) => [item.name, item.enabled] as const)))
    assert.equal(items.length, 1 + WRITERS * ((USERS_OF_EACH * 2) / 3))
  })
})
