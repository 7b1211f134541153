import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lazy } from './lazy.ts'

test('makes the value at its first use, once', () => {
  let made = 0
  const value = lazy(() => ({ number: ++made }))
  assert.equal(made, 0)
  assert.equal(value(), value())
  assert.equal(made, 1)
})

test('a value that could not be made is made by the next use', () => {
  let calls = 0
  const value = lazy(() => {
    if (++calls === 1) throw new Error('not yet')
    return {}
  })
  assert.throws(value, /not yet/)
  assert.ok(value())
})
