import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fieldsFromState, hasEnded } from './process.ts'

test('a zombie and a dead process have ended, whatever the name of their program', () => {
  for (const state of ['Z', 'X']) {
    assert.ok(hasEnded(`7 (node) ${state} 1 7 7`))
    assert.ok(hasEnded(`7 (a) R (b)) ${state} 1 7 7`))
  }
  for (const state of ['R', 'S', 'D', 'T', 't', 'I']) assert.ok(!hasEnded(`7 (Z) ${state} 1 7 7`), state)
})

test('the fields begin with the state', () => {
  assert.deepEqual(fieldsFromState('7 (a) b) S 1 2 3'), ['S', '1', '2', '3'])
})
