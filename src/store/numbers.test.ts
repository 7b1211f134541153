import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import fc from 'fast-check'
import { eventually } from '../../test/support/eventually.ts'
import { onEveryDialect, testStore } from '../../test/support/store.ts'
import { systemClock } from '../kernel/clock.ts'
import { SettledNumbers, numberAfterRestore } from './numbers.ts'
import type { Queries, Store, Tx } from './store.ts'

async function insert({ db }: Queries): Promise<number> {
  const { rows } = await sql<{ seq: number }>`
    insert into messages (id, subject, payload, headers, status, attempts, created_at)
    values (${crypto.randomUUID()}, 'a', '{}', '{}', 'delivered', 1, 0) returning seq`.execute(db)
  return rows[0]?.seq ?? 0
}

// A test holds transactions open, on a slow machine for longer than the platform lets them run.
const PATIENT = { transactionMs: 60_000, idleMs: 60_000 }

interface OpenWrite {
  readonly seq: number
  commit(): Promise<unknown>
  rollBack(): Promise<void>
}

/** A transaction that has written a row and waits. */
async function openWrite(store: Store): Promise<OpenWrite> {
  const written = Promise.withResolvers<number>()
  const decided = Promise.withResolvers<void>()
  const write = store.write(async (tx: Tx) => {
    written.resolve(await insert(tx))
    await decided.promise
  })
  write.catch(written.reject)
  const seq = await written.promise
  return {
    seq,
    commit() {
      decided.resolve()
      return write
    },
    async rollBack() {
      decided.reject(new Error('rolled back'))
      await assert.rejects(write, /rolled back/)
    },
  }
}

onEveryDialect('settled numbers', (dialect) => {
  test('without rows nothing is settled', async () => {
    await using world = await testStore(dialect)
    const numbers = new SettledNumbers(world.store.read, 'messages')
    assert.deepEqual([await numbers.through(), await numbers.settle()], [0, 0])
  })

  test('committed rows are settled at once', async () => {
    await using world = await testStore(dialect)
    const numbers = new SettledNumbers(world.store.read, 'messages')
    assert.equal(await numbers.through(), 0)
    for (const _ of Array(3)) {
      const seq = await world.store.write(insert)
      assert.equal(await numbers.through(), seq)
    }
  })
})

test('a row is not settled while a transaction with a lower number runs', async () => {
  await using world = await testStore('postgres', systemClock, PATIENT)
  const numbers = new SettledNumbers(world.store.read, 'messages')
  assert.equal(await numbers.through(), 0)
  const slow = await openWrite(world.store)
  const seq = await world.store.write(insert)
  assert.ok(slow.seq < seq)
  for (const _ of Array(3)) assert.equal(await numbers.through(), 0)
  await slow.commit()
  assert.equal(await numbers.through(), seq)
})

test('a number that was rolled back holds back nothing', async () => {
  await using world = await testStore('postgres', systemClock, PATIENT)
  const numbers = new SettledNumbers(world.store.read, 'messages')
  assert.equal(await numbers.through(), 0)
  const slow = await openWrite(world.store)
  const seq = await world.store.write(insert)
  assert.equal(await numbers.through(), 0)
  await slow.rollBack()
  assert.equal(await numbers.through(), seq)
})

test('a transaction that begins later holds back only its own number', async () => {
  await using world = await testStore('postgres', systemClock, PATIENT)
  const numbers = new SettledNumbers(world.store.read, 'messages')
  assert.equal(await numbers.through(), 0)
  const first = await openWrite(world.store)
  const seq = await world.store.write(insert)
  assert.equal(await numbers.through(), 0)
  const later = await openWrite(world.store)
  await first.rollBack()
  assert.equal(await numbers.through(), seq)
  await later.commit()
  assert.equal(await numbers.through(), later.seq)
})

test('settling waits for the transactions that write', async () => {
  await using world = await testStore('postgres', systemClock, PATIENT)
  const slow = await openWrite(world.store)
  const seq = await world.store.write(insert)
  let isSettled = false
  const settling = new SettledNumbers(world.store.read, 'messages').settle().finally(() => (isSettled = true))
  await world.store.write(insert)
  assert.equal(isSettled, false)
  await slow.commit()
  assert.ok((await settling) >= seq)
})

test('concurrent writers: a reader that stays below misses no row and reads none twice', async () => {
  await using world = await testStore('postgres', systemClock, PATIENT)
  const numbers = new SettledNumbers(world.store.read, 'messages')
  await numbers.through()
  const committed: number[] = []
  const write = async (index: number) => {
    for (const round of Array(8).keys()) {
      const open = await openWrite(world.store)
      // Other transactions commit meanwhile.
      for (const _ of Array((index * 7 + round) % 3)) await sql`select 1`.execute(world.store.read.db)
      if ((index + round) % 4 === 0) await open.rollBack()
      else {
        await open.commit()
        committed.push(open.seq)
      }
    }
  }
  const writing = Promise.all([...Array(4).keys()].map(write))
  const seen: number[] = []
  const readNew = async () => {
    const after = seen.at(-1) ?? 0
    const through = await numbers.through()
    const { rows } = await sql<{ seq: number }>`
      select seq from messages where seq > ${after} and seq <= ${through} order by seq`.execute(
      world.store.read.db,
    )
    seen.push(...rows.map(({ seq }) => seq))
  }
  let isWriting = true
  void writing.then(() => (isWriting = false))
  while (isWriting) await readNew()
  await writing
  await eventually('all rows are seen', async () => {
    await readNew()
    return seen.length >= committed.length
  })
  assert.deepEqual(
    seen,
    committed.toSorted((a, b) => a - b),
  )
})

const NOW = Date.parse('2026-01-31T02:00:00Z')
const PER_MS = 1_000

test('a number that was given out before a restoration is never above those after it', () =>
  fc.assert(
    fc.property(
      fc.array(
        fc.record({
          ms: fc.integer({ min: 1, max: 1e9 }),
          share: fc.double({ min: 0, max: 1, noNaN: true }),
        }),
      ),
      fc.infiniteStream(fc.nat()),
      (lives, choices) => {
        const snapshots = [0]
        let [now, number, highest] = [NOW, 0, 0]
        for (const { ms, share } of lives) {
          now += ms
          number += Math.floor((ms * PER_MS - 1) * share)
          highest = Math.max(highest, number)
          snapshots.push(number)
          const snapshot = snapshots[choices.next().value % snapshots.length] ?? 0
          number = numberAfterRestore(snapshot, PER_MS, now)
          assert.ok(number > highest)
        }
      },
    ),
  ))

test('with a clock that is behind, the numbers continue far above those of the snapshot', () => {
  const newest = NOW * PER_MS
  assert.ok(numberAfterRestore(newest, PER_MS, 0) > newest + 1e10)
})

test('the numbers stay exact for more than a hundred years', () => {
  const later = Date.parse('2126-01-31T02:00:00Z')
  assert.ok(numberAfterRestore(0, PER_MS, later) < Number.MAX_SAFE_INTEGER / 1.8)
})
