import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createEndOfTurnQueue } from './end-of-turn.ts'

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

test('tasks of one turn run together at its end, in order', async () => {
  const atEndOfTurn = createEndOfTurnQueue()
  const done: string[] = []
  for (const name of ['a', 'b']) atEndOfTurn(() => done.push(name))
  await Promise.resolve()
  assert.deepEqual(done, [])
  await nextTurn()
  assert.deepEqual(done, ['a', 'b'])
})

test('a task that is queued by another task runs in the next turn', async () => {
  const atEndOfTurn = createEndOfTurnQueue()
  const done: string[] = []
  atEndOfTurn(() => {
    done.push('a')
    atEndOfTurn(() => done.push('b'))
  })
  await nextTurn()
  assert.deepEqual(done, ['a'])
  await nextTurn()
  assert.deepEqual(done, ['a', 'b'])
})
