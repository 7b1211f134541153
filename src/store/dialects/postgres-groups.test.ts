import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { sql } from 'kysely'
import { eventually } from '../../../test/support/eventually.ts'
import { startFaultProxy, type Fault } from '../../../test/support/fault-proxy.ts'
import { chanceOf, type Chance } from '../../../test/support/random.ts'
import { scopeOf } from '../../../test/support/scope.ts'
import { onEveryDialect, testStore, type TestStore } from '../../../test/support/store.ts'
import { systemClock } from '../../kernel/clock.ts'
import { silentLogger } from '../../kernel/logger.ts'
import { noMetrics } from '../../kernel/metrics.ts'
import { Secret } from '../../kernel/secret.ts'
import { lockName, touchedLock, touchedRow } from '../locking.ts'
import { openStore } from '../open.ts'
import type { Queries, Store, Tx } from '../store.ts'
import { changeRows, readRows } from '../tables.ts'
import { STORE_LIMITS } from '../unavailable.ts'
import { WriteGroups } from './postgres-groups.ts'
import type { PooledConnection, PostgresQuery } from './postgres-pool.ts'
import { StatementNames } from './postgres-queries.ts'

const put = changeRows((db, name: string) =>
  db.insertInto('leases').values({ name, holder: 'me', expires_at: 0 }),
)
const set = changeRows((db, name: string, to: number) =>
  db.updateTable('leases').set({ expires_at: to }).where('name', '=', name),
)
const lock = readRows((db, name: string) =>
  db.selectFrom('leases').select('expires_at as value').where('name', '=', name).forUpdate(),
)

const takeFree = readRows((db, holder: string) =>
  db
    .updateTable('leases')
    .set({ holder })
    .where(
      'name',
      '=',
      db
        .selectFrom('leases')
        .select('name')
        .where('holder', '=', 'nobody')
        .orderBy('name')
        .limit(1)
        .forUpdate()
        .skipLocked(),
    )
    .returning('name'),
)

const row = (name: string) => touchedRow('leases', name)
const writePut = (store: Store, name: string) => store.write((tx) => put(tx, name), { touches: [row(name)] })

/** Locks the row, then overwrites it: two that do so at the same time would lose one increase. */
async function increase(tx: Tx, name: string, by: number): Promise<readonly [from: number, to: number]> {
  const [locked] = await lock(tx, name)
  assert.ok(locked)
  await set(tx, name, locked.value + by)
  return [locked.value, locked.value + by]
}

async function valuesOf({ db }: Queries): Promise<Record<string, number>> {
  const rows = await db.selectFrom('leases').select(['name', 'expires_at']).orderBy('name').execute()
  return Object.fromEntries(rows.map(({ name, expires_at: value }) => [name, Number(value)]))
}

async function transactionOf({ db }: Tx): Promise<string> {
  const { rows } = await sql<{ id: string }>`select pg_current_xact_id()::text as id`.execute(db)
  return rows[0]?.id ?? ''
}

const NAMES = ['a', 'b', 'c', 'd', 'e']

type Step = readonly [name: string, from: number, to: number]
type Kind = (tx: Tx, names: readonly [string, string], by: number) => Promise<readonly Step[]>

/** What a write does; the first name, or both, are those that it touches. */
const KINDS: Readonly<Record<string, Kind>> = {
  one: async (tx, [name], by) => [[name, ...(await increase(tx, name, by))]],
  two: async (tx, names, by) => {
    const steps: Step[] = []
    for (const name of names) steps.push([name, ...(await increase(tx, name, by))])
    return steps
  },
  'fails before a change': async () => {
    throw new Error('refused')
  },
  'fails after a change': async (tx, [name], by) => {
    await increase(tx, name, by)
    throw new Error('refused')
  },
  'fails in the database': async (tx, [name], by) => {
    await increase(tx, name, by)
    await put(tx, name)
    return []
  },
}

const CALM = ['one', 'two']

/** Each step begins with the value at which another one has ended, and the last one ended with the stored value. */
function requireOneOrder(steps: readonly Step[], stored: Readonly<Record<string, number>>): void {
  for (const name of NAMES) {
    const ofName = steps.filter((step) => step[0] === name).toSorted((one, other) => one[1] - other[1])
    const ends = [0, ...ofName.map(([, , to]) => to)]
    assert.deepEqual([...ofName.map(([, from]) => from), stored[name]], ends, name)
  }
}

function randomWrite(
  store: Store,
  { chance, isCalm, heard }: { chance: Chance; isCalm: boolean; heard: Step[] },
): Promise<readonly Step[]> {
  const first = chance.pick(NAMES)
  const second = chance.pick(NAMES.filter((other) => other > first).concat(first))
  const kind = second === first ? 'one' : chance.pick(isCalm ? CALM : Object.keys(KINDS))
  const by = chance.between(1, 9)
  // One of them locks rows that it does not name, and one says nothing.
  const named = [row(first), row(second)]
  const touches = isCalm ? named : chance.pick([named, named, named, [row('other')], undefined])
  return store.write(
    async (tx) => {
      const steps = (await KINDS[kind]?.(tx, [first, second], by)) ?? []
      tx.afterCommit(() => heard.push(...steps))
      return steps
    },
    touches ? { touches } : {},
  )
}

onEveryDialect('writes in groups', (dialect) => {
  test('a random mixture has the outcome of running them one after the other', async (t) => {
    await using world = await testStore(dialect)
    const { store } = world
    const chance = chanceOf(t)
    await Promise.all(NAMES.map((name) => writePut(store, name)))
    const [steps, heard]: [Step[], Step[]] = [[], []]
    // Without failures the writes stay in their groups.
    for (const isCalm of [true, true, true, false, false]) {
      const writes = Array.from({ length: 20 }, () => randomWrite(store, { chance, isCalm, heard }))
      for (const outcome of await Promise.allSettled(writes)) {
        if (outcome.status === 'fulfilled') steps.push(...outcome.value)
        else assert.match(String(outcome.reason), /refused|unique/i)
      }
    }
    requireOneOrder(steps, await valuesOf(store.read))
    assert.deepEqual(new Set(heard.map(String)), new Set(steps.map(String)), 'listeners')
    assert.equal(heard.length, steps.length)
  })

  test('a write that fails after a change is undone, and the others of its group are kept', async () => {
    await using world = await testStore(dialect)
    const { store } = world
    const failing = store.write(
      async (tx) => {
        await put(tx, 'b')
        throw new Error('after a change')
      },
      { touches: [row('b')] },
    )
    const outcomes = await Promise.allSettled([writePut(store, 'a'), failing, writePut(store, 'c')])
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    )
    assert.deepEqual(await valuesOf(store.read), { a: 0, c: 0 })
  })
})

test('writes that say what they touch share a transaction, others do not', async () => {
  await using world = await testStore('postgres')
  const { store } = world
  const ids = await Promise.all([
    store.write(transactionOf, { touches: [row('a')] }),
    store.write(transactionOf, { touches: [row('b')] }),
    store.write(transactionOf),
  ])
  assert.equal(ids[0], ids[1])
  assert.equal(new Set(ids).size, 2)
})

test('through PgBouncer each write has a transaction of its own', async (t) => {
  await using world = await testStore('postgres')
  const store = await openAt(t, `${urlOf(world)}?pgbouncer=true`)
  const ids = await Promise.all(
    ['a', 'b'].map((name) => store.write(transactionOf, { touches: [row(name)] })),
  )
  assert.notEqual(ids[0], ids[1])
})

test('a write that fails before any change does not repeat its group', async () => {
  await using world = await testStore('postgres')
  const runs = { first: 0, refused: 0 }
  const first = world.store.write((tx) => (runs.first++, put(tx, 'a')), {
    touches: [row('a')],
  })
  const refused = world.store.write(
    async () => {
      runs.refused++
      throw new Error('refused')
    },
    { touches: [row('b')] },
  )
  await assert.rejects(refused, /refused/)
  assert.deepEqual([await first, runs], [1, { first: 1, refused: 1 }])
})

const UNNAMED: Readonly<Record<string, (tx: Tx) => Promise<unknown>>> = {
  'locks a row': (tx) => lock(tx, 'a'),
  'locks rows by a query of the builder': ({ db }) =>
    db.selectFrom('leases').select('name').forShare().execute(),
  'skips locked rows': ({ db }) =>
    db.selectFrom('leases').select('name').where('name', '=', 'b').forUpdate().skipLocked().execute(),
  'locks a name': ({ db, capabilities }) => {
    assert.ok(capabilities.lockName)
    return capabilities.lockName('b').execute(db)
  },
}

for (const [name, run] of Object.entries(UNNAMED)) {
  test(`a write that ${name} without having said so runs alone, and its group is not repeated`, async () => {
    await using world = await testStore('postgres')
    const { store } = world
    let runs = 0
    const beside = store.write((tx) => (runs++, transactionOf(tx)), { touches: [row('a')] })
    const locking = store.write(async (tx) => (await run(tx), transactionOf(tx)), { touches: [row('b')] })
    assert.notEqual(await locking, await beside)
    assert.equal(runs, 1)
  })
}

test('writes of one group that take a free row in one statement each take another one', async () => {
  await using world = await testStore('postgres')
  const { store } = world
  await store.write(({ db }) =>
    db
      .insertInto('leases')
      .values(NAMES.map((name) => ({ name, holder: 'nobody', expires_at: 0 })))
      .execute(),
  )
  const taking = ['1', '2', '3'].map((holder) =>
    store.write(async (tx) => [await takeFree(tx, holder), await transactionOf(tx)] as const, {
      touches: [row(`of ${holder}`)],
    }),
  )
  const taken = await Promise.all(taking)
  assert.deepEqual(new Set(taken.map(([[lease]]) => lease?.name)), new Set(['a', 'b', 'c']))
  assert.equal(new Set(taken.map(([, transaction]) => transaction)).size, 1)
})

test('writes that have named the name that they lock share a transaction', async () => {
  await using world = await testStore('postgres')
  const locking = ['a', 'b'].map((name) =>
    world.store.write(async (tx) => (await lockName(tx, name), transactionOf(tx)), {
      touches: [touchedLock(name)],
    }),
  )
  assert.equal(new Set(await Promise.all(locking)).size, 1)
})

test('a write that hangs is undone after its own time limit, and its group is kept', async () => {
  await using world = await testStore('postgres', systemClock, { transactionMs: 200, idleMs: 200 })
  const { store } = world
  const resume = Promise.withResolvers<void>()
  const late = Promise.withResolvers<unknown>()
  const hanging = store.write(
    async (tx) => {
      await put(tx, 'hanging')
      await resume.promise
      await put(tx, 'late').then(late.resolve, late.reject)
    },
    { touches: [row('hanging')] },
  )
  const failed = assert.rejects(hanging, { code: 'store_unavailable', message: /200 ms/ })
  await writePut(store, 'beside')
  await failed
  resume.resolve()
  await assert.rejects(late.promise, 'its later statements are rejected')
  assert.deepEqual(await valuesOf(store.read), { beside: 0 })
})

test('a write that waits for a lock of another process does not make its group wait, nor what follows it', async () => {
  await using world = await testStore('postgres')
  const { store } = world
  await writePut(store, 'locked')
  const [isLocked, isOver] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const holding = store.write(
    async (tx) => {
      await lock(tx, 'locked')
      isLocked.resolve()
      await isOver.promise
    },
    { longRunning: true },
  )
  await isLocked.promise
  const waiting = store.write((tx) => increase(tx, 'locked', 1), { touches: [row('locked')] })
  const following = writePut(store, 'beside').then(() =>
    store.write((tx) => increase(tx, 'beside', 1), { touches: [row('beside')] }),
  )
  const isDone = await Promise.race([
    following.then(() => true).catch(() => false),
    waiting.then(() => false).catch(() => false),
  ])
  isOver.resolve()
  await Promise.allSettled([holding, waiting, following])
  assert.ok(isDone, 'nothing waits that touches another row')
  assert.deepEqual(await valuesOf(store.read), { beside: 1, locked: 1 })
})

test('a write whose group does not begin in time is refused, and does not run later', async () => {
  const connection = Promise.withResolvers<never>()
  const groups = new WriteGroups({
    connect: () => connection.promise,
    names: new StatementNames(),
    logger: silentLogger,
    metrics: noMetrics,
    limits: STORE_LIMITS.postgres,
    waitMs: 20,
    runAlone: () => Promise.reject(new Error('none runs alone')),
  })
  let runs = 0
  const write = () => groups.write(async () => runs++, [row('a')])
  const first = write().catch((error: Error) => error.message)
  await eventually('the first group to begin', () => groups.waiting === 0)
  await assert.rejects(write(), { code: 'store_unavailable' })
  connection.reject(new Error('no connection'))
  assert.deepEqual([await first, groups.waiting, runs], ['no connection', 0, 0])
})

test('behind a BEGIN that the server refuses nothing is sent, and each write runs alone', async () => {
  const sent: string[] = []
  const connection: Partial<PooledConnection> = {
    async query({ text }) {
      sent.push(text)
      throw new Error('canceling statement due to user request')
    },
    close: () => undefined,
    release: () => undefined,
  }
  let alone = 0
  const groups = new WriteGroups({
    connect: async () => connection as PooledConnection,
    names: new StatementNames(),
    logger: silentLogger,
    metrics: noMetrics,
    limits: STORE_LIMITS.postgres,
    runAlone: async () => ++alone as never,
  })
  const write = (name: string) => groups.write((tx) => put(tx, name), [row(name)])
  await Promise.all(['a', 'b', 'c'].map(write))
  assert.equal(alone, 3)
  assert.deepEqual(
    sent.filter((text) => !/^(?:begin|rollback)/.test(text)),
    [],
  )
})

test('a group under load begins with the commit before it; behind a refusal each write runs alone', async () => {
  const sent: string[] = []
  const answers: Partial<PooledConnection> = {
    async query<R extends object>({ text }: PostgresQuery) {
      sent.push(text.replace(/[ ;].*/, ''))
      if (text.startsWith('begin') && sent.includes('commit'))
        throw new Error('canceling statement due to user request')
      return { command: 'INSERT', rowCount: 1, rows: [] as R[], oid: 0, fields: [] }
    },
    async commit() {
      sent.push('commit')
      return { command: 'COMMIT', rowCount: null, rows: [], oid: 0, fields: [] }
    },
    isClosed: false,
    release: () => void sent.push('released'),
  }
  const alone: string[] = []
  const groups = new WriteGroups({
    connect: async () => answers as PooledConnection,
    names: new StatementNames(),
    logger: silentLogger,
    metrics: noMetrics,
    limits: STORE_LIMITS.postgres,
    runAlone: async () => alone.push('alone') as never,
  })
  const write = (name: string) => groups.write((tx) => put(tx, name), [row(name)])
  await Promise.all(['a', 'b'].map(write))
  assert.deepEqual(sent, ['begin', 'insert', 'insert', 'commit', 'begin'])
  await Promise.all(['c', 'd'].map(write))
  assert.deepEqual(sent.slice(5), ['rollback', 'released'])
  assert.deepEqual(alone, ['alone', 'alone'])
})

test('no transaction stays open when the load ends', async () => {
  await using world = await testStore('postgres')
  const { store } = world
  for (let round = 0; round < 3; round++)
    await Promise.all(NAMES.map((name) => writePut(store, `${name}${round}`)))
  await eventually('all transactions to end', async () => {
    const { rows } = await sql`
      select from pg_stat_activity
      where datname = current_database() and state like 'idle in transaction%'`.execute(store.read.db)
    return rows.length === 0
  })
})

// The number of a sequence is not rolled back.
const LOSES_ONCE = `
  create sequence attempts;
  create function lose() returns trigger language plpgsql as $$
    begin
      if new.name = 'loser' and nextval('attempts') = 1 then
        raise exception 'lost' using errcode = 'CODE';
      end if;
      return new;
    end $$;
  create constraint trigger lose after insert on leases deferrable initially WHEN for each row execute function lose()`

for (const [code, when] of [
  ['40001', 'immediate'],
  ['40P01', 'immediate'],
  ['40001', 'deferred'],
] as const) {
  test(`a group that loses with ${code} (${when}) is repeated`, async () => {
    await using world = await testStore('postgres')
    const { store } = world
    await sql.raw(LOSES_ONCE.replace('CODE', code).replace('WHEN', when)).execute(store.read.db)
    await Promise.all(['a', 'loser', 'c'].map((name) => writePut(store, name)))
    assert.deepEqual(await valuesOf(store.read), { a: 0, c: 0, loser: 0 })
  })
}

test('a connection that the server ends during a group loses none of its writes', async () => {
  await using world = await testStore('postgres')
  const { store } = world
  let kills = 0
  const killed = store.write(
    async (tx) => {
      await put(tx, 'b')
      if (kills++ === 0) await sql`select pg_terminate_backend(pg_backend_pid())`.execute(tx.db)
    },
    { touches: [row('b')] },
  )
  await Promise.all([writePut(store, 'a'), killed, writePut(store, 'c')])
  assert.deepEqual(await valuesOf(store.read), { a: 0, b: 0, c: 0 })
})

test('a group whose connection breaks at any step loses and doubles nothing that was acknowledged', async (t) => {
  const scope = scopeOf(t)
  const world = scope.use(await testStore('postgres'))
  const url = new URL(urlOf(world))
  const proxy = scope.use(await startFaultProxy(Number(url.port)))
  url.port = String(proxy.port)
  const faults: readonly Fault[] = [
    ...Array.from({ length: 6 }, (_, index) => ({ resetAtRequest: index + 1 })),
    ...Array.from({ length: 12 }, (_, index) => ({ resetAfter: 400 + index * 120 })),
    {},
  ]
  let acknowledged = 0
  for (const [index, fault] of faults.entries()) {
    proxy.disturb(fault)
    const names = ['x', 'y', 'z'].map((name) => `${name}${index}`)
    const store = await openAt(t, url.href)
    const outcomes = await Promise.allSettled(
      names.map((name) =>
        store.write(
          async (tx) => {
            await put(tx, name)
            await increase(tx, name, 1)
          },
          { touches: [row(name)] },
        ),
      ),
    )
    const values = await valuesOf(world.store.read)
    for (const [position, { status }] of outcomes.entries()) {
      const value = values[names[position] ?? '']
      assert.ok(value === 1 || (status === 'rejected' && value === undefined), JSON.stringify(fault))
      if (status === 'fulfilled') acknowledged++
    }
  }
  assert.ok(acknowledged >= 3, 'without a fault')
})

function urlOf({ address }: TestStore): string {
  assert.ok(address.kind === 'postgres')
  return address.url.reveal()
}

async function openAt(t: TestContext, url: string): Promise<Store> {
  const database = { kind: 'postgres', url: new Secret(url) } as const
  const store = await openStore({ database, clock: systemClock, metrics: noMetrics, logger: silentLogger })
  scopeOf(t).defer(() => store.close())
  return store
}
