import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Issued } from './issued.ts'

test('what is one too many takes the place of the oldest', () => {
  const issued = new Issued<number>(3, 'n-')
  const keys = [1, 2, 3, 4, 5, 6, 7, 8].map((value) => issued.add(value))
  assert.equal(issued.size, 3)
  assert.deepEqual(
    keys.map((key) => issued.get(key)),
    [undefined, undefined, undefined, undefined, undefined, 6, 7, 8],
  )
})

test('only the whole key finds it', () => {
  const issued = new Issued<string>(10, 'u-')
  const key = issued.add('it')
  assert.match(key, /^u-[\w-]{32}0000$/)
  assert.equal(issued.get(key), 'it')
  const others = ['', '0000', key.slice(1), `${key} `, ` ${key}`, key.toUpperCase(), `x${key.slice(1)}`]
  assert.deepEqual(others.map((other) => issued.get(other)).filter(Boolean), [])
  fc.assert(
    fc.property(fc.string(), (text) => {
      assert.equal(issued.get(text), undefined)
      assert.equal(issued.get(`${text}0000`), undefined)
    }),
  )
})
