import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ReadGate } from './read-gate.ts'

const list = { rows: Array.from({ length: 100 }, (_, row) => row) }
const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))

test('a read runs at once', () => {
  assert.equal(
    new ReadGate().run(() => list),
    list,
  )
})

test('each turn of the event loop has its share of the reads, in their order', async () => {
  const gate = new ReadGate()
  const done: number[] = []
  const reads = Array.from({ length: 12 }, async (_, number) => {
    await gate.run(() => (done.push(number), list))
  })
  const counts = [done.length]
  while (done.length < reads.length) {
    await nextTurn()
    counts.push(done.length)
  }
  assert.deepEqual(counts, [5, 10, 12])
  await Promise.all(reads)
  assert.deepEqual(
    done,
    [...done].sort((a, b) => a - b),
  )
})

test('a read that comes later does not overtake the waiting ones', async () => {
  const gate = new ReadGate()
  const done: string[] = []
  const read = async (name: string) => void (await gate.run(() => (done.push(name), list)))
  const early = Array.from({ length: 11 }, () => read('early'))
  await nextTurn()
  await Promise.all([...early, read('late')])
  assert.equal(done.at(-1), 'late')
})

test('reads that find nothing have their share, too', async () => {
  const gate = new ReadGate()
  let done = 0
  const reads = Array.from({ length: 1_000 }, async () => gate.run(() => (done++, { rows: [] })))
  assert.ok(done < 100)
  await Promise.all(reads)
  assert.equal(done, 1_000)
})

test('a read that fails late rejects, and the others go on', async () => {
  const gate = new ReadGate()
  const reads = Array.from({ length: 7 }, async (_, number) =>
    gate.run(() => {
      if (number === 5) throw new Error('no such table')
      return list
    }),
  )
  const outcomes = await Promise.allSettled(reads)
  assert.deepEqual(
    outcomes.map(({ status }) => status === 'rejected'),
    [false, false, false, false, false, true, false],
  )
})
