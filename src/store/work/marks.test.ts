import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { fakeClock } from '../../../test/support/clock.ts'
import { onEveryDialect, testStore } from '../../../test/support/store.ts'
import { MINUTE } from '../../kernel/time.ts'
import { newHolder } from './holder.ts'
import {
  listServing,
  createServingRecord,
  type ServingProcess,
  endCheck,
  isCheckDue,
  markProcess,
} from './marks.ts'
import type { Store } from '../store.ts'

const FACTS: ServingProcess = {
  host: 'one',
  processId: 7,
  version: '2.3.0',
  modules: ['api'],
  startedAt: 1,
  dataDir: '/data',
  bus: 'nats://127.0.0.1:4222',
  receivers: { pager: 'a code' },
}
const NO_SIGNAL = new AbortController().signal

onEveryDialect('processes that serve a database', (dialect) => {
  test('each says so until it stops or is silent for three minutes', async () => {
    const clock = fakeClock()
    await using world = await testStore(dialect, clock)
    const { store } = world
    const [one, two] = [FACTS, { ...FACTS, host: 'two' }].map((facts) =>
      createServingRecord(store, clock, facts),
    )
    const hosts = async () => (await listServing(store.read, clock.now())).map(({ host }) => host).toSorted()
    await one?.job.run(NO_SIGNAL)
    await two?.job.run(NO_SIGNAL)
    assert.deepEqual(await hosts(), ['one', 'two'])
    clock.advance(2 * MINUTE)
    await one?.job.run(NO_SIGNAL)
    clock.advance(MINUTE)
    assert.deepEqual(await hosts(), ['one'])
    await one?.remove()
    assert.deepEqual(await hosts(), [])
    clock.jump(-60 * MINUTE)
    await two?.job.run(NO_SIGNAL)
    clock.jump(-60 * MINUTE)
    assert.deepEqual(await hosts(), [], 'a time that no process says now')
  })

  test('one that was killed on this host is not named', async () => {
    await using world = await testStore(dialect)
    const { store } = world
    const [host = ''] = newHolder().split('/')
    const row = [`serving:${host}/999999999/x`, JSON.stringify(FACTS)] as const
    await store.write(({ db }) =>
      sql`insert into leases (name, holder, expires_at) values (${row[0]}, ${row[1]}, 100)`.execute(db),
    )
    assert.deepEqual(await listServing(store.read, 1), [])
  })
})

const [HOST = ''] = newHolder().split('/')

/** The row that another process has left, or that it still has. */
async function mark(store: Store, holder: string): Promise<void> {
  await store.write(({ db }) =>
    sql`insert into leases (name, holder, expires_at) values (${`process:${holder}`}, ${holder}, 0)`.execute(
      db,
    ),
  )
}

async function marks({ read: { db } }: Store): Promise<unknown[]> {
  return (await sql`select name from leases`.execute(db)).rows
}

test('a file is checked after a process that has not stopped in order, until it is sound', async () => {
  await using world = await testStore('sqlite')
  const { store } = world
  const first = await markProcess(store, false)
  assert.equal(first.isAfterCrash, false)
  await first.remove()
  assert.deepEqual(await marks(store), [])
  // A killed process, one of before the last boot, and one that had the number of this process.
  const ended = [`${HOST}/999999999/a`, 'host,another boot,ns/1/b', `${HOST}/${process.pid}/c`]
  for (const holder of ended) {
    await mark(store, holder)
    const next = await markProcess(store, false)
    assert.equal(next.isAfterCrash, true, holder)
    await next.remove()
    assert.equal(await isCheckDue(store.read), true)
    const later = await markProcess(store, false)
    assert.deepEqual([later.isAfterCrash, await isCheckDue(store.read)], [false, true])
    await later.remove()
    await store.write(endCheck)
    assert.equal(await isCheckDue(store.read), false)
  }
})

test('a log that nobody uses tells of a process without a mark, or of another file', async () => {
  await using world = await testStore('sqlite')
  const { store } = world
  const running = `${HOST}/${process.ppid}/a`
  await mark(store, running)
  assert.equal((await markProcess(store, true)).isAfterCrash, false, 'the other process uses it')
  await store.write(({ db }) => sql`delete from leases`.execute(db))
  assert.equal((await markProcess(store, true)).isAfterCrash, true)
})
