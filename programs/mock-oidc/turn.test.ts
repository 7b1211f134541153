import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTurn } from './turn.ts'

const turn = () => new Promise((resolve) => setImmediate(resolve))

test('what comes in one turn is done together at its end, in its order', async () => {
  const atItsEnd = createTurn()
  const done: string[] = []
  for (const name of ['a', 'b']) atItsEnd(() => done.push(name))
  await Promise.resolve()
  assert.deepEqual(done, [])
  await turn()
  assert.deepEqual(done, ['a', 'b'])
})

test('what comes while others are done waits for the next turn', async () => {
  const atItsEnd = createTurn()
  const done: string[] = []
  atItsEnd(() => {
    done.push('a')
    atItsEnd(() => done.push('b'))
  })
  await turn()
  assert.deepEqual(done, ['a'])
  await turn()
  assert.deepEqual(done, ['a', 'b'])
})
