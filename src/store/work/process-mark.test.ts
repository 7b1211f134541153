import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { testStore } from '../../../test/support/store.ts'
import { newHolder } from './holder.ts'
import { endCheck, isCheckDue, markProcess } from './process-mark.ts'
import type { Store } from '../store.ts'

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
