import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endOfTurn } from './waiting.ts'

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

test('all callers of one turn continue together at its end, in order', async () => {
  const done: string[] = []
  for (const name of ['a', 'b']) void endOfTurn().then(() => done.push(name))
  await Promise.resolve()
  assert.deepEqual(done, [])
  await nextTurn()
  assert.deepEqual(done, ['a', 'b'])
})

test('a caller that has continued waits for the end of the next turn', async () => {
  const done: string[] = []
  void endOfTurn().then(() => {
    done.push('a')
    void endOfTurn().then(() => done.push('b'))
  })
  await nextTurn()
  assert.deepEqual(done, ['a'])
  await nextTurn()
  assert.deepEqual(done, ['a', 'b'])
})
