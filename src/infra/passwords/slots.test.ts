import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSlots } from './slots.ts'

const full = () => new Error('full')

/** A task that runs until it is told to end, and its order of start. */
function manual() {
  const started: number[] = []
  const ends: (() => void)[] = []
  const task = (id: number) => async () => {
    started.push(id)
    await new Promise<void>((resolve) => ends.push(resolve))
    return id
  }
  return { started, task, endFirst: () => ends.shift()?.() }
}

test('no more tasks run at once than there are slots, the others in the order of arrival', async () => {
  const { started, task, endFirst } = manual()
  const inSlot = createSlots({ concurrency: 2, queueLimit: 10, full })
  const results = [1, 2, 3, 4].map((id) => inSlot(task(id)))
  await new Promise(setImmediate)
  assert.deepEqual(started, [1, 2])
  endFirst()
  await results[0]
  await new Promise(setImmediate)
  assert.deepEqual(started, [1, 2, 3])
  for (let left = 3; left > 0; left--) {
    endFirst()
    await new Promise(setImmediate)
  }
  assert.deepEqual(await Promise.all(results), [1, 2, 3, 4])
})

test('a task beyond the queue is refused and does not start', async () => {
  const { started, task, endFirst } = manual()
  const inSlot = createSlots({ concurrency: 1, queueLimit: 1, full })
  const first = inSlot(task(1))
  const second = inSlot(task(2))
  await assert.rejects(inSlot(task(3)), /full/)
  endFirst()
  await first
  await new Promise(setImmediate)
  endFirst()
  await second
  assert.deepEqual(started, [1, 2])
})

test('a task that fails gives its slot back', async () => {
  const inSlot = createSlots({ concurrency: 1, queueLimit: 1, full })
  await assert.rejects(
    inSlot(() => Promise.reject(new Error('broken'))),
    /broken/,
  )
  assert.equal(await inSlot(async () => 'done'), 'done')
})
