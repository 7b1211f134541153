import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { TokenStore } from './token-store.ts'

test('when the store is full a new entry replaces the oldest', () => {
  const store = new TokenStore<number>(3, 'n-')
  const tokens = [1, 2, 3, 4, 5, 6, 7, 8].map((value) => store.issue(value))
  assert.equal(store.size, 3)
  assert.deepEqual(
    tokens.map((token) => store.find(token)),
    [undefined, undefined, undefined, undefined, undefined, 6, 7, 8],
  )
})

test('only the whole token finds its value', () => {
  const store = new TokenStore<string>(10, 'u-')
  const token = store.issue('value')
  assert.match(token, /^u-[\w-]{32}0000$/)
  assert.equal(store.find(token), 'value')
  const others = [
    '',
    '0000',
    token.slice(1),
    `${token} `,
    ` ${token}`,
    token.toUpperCase(),
    `x${token.slice(1)}`,
  ]
  assert.deepEqual(others.map((other) => store.find(other)).filter(Boolean), [])
  fc.assert(
    fc.property(fc.string(), (text) => {
      assert.equal(store.find(text), undefined)
      assert.equal(store.find(`${text}0000`), undefined)
    }),
  )
})
