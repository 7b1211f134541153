import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cleanPhrase } from './model.ts'

test('a phrase of a peer is cut, and loses the characters that a database refuses', () => {
  assert.equal(cleanPhrase('a\0b\ud800c'), 'ab\ufffdc')
  assert.equal(cleanPhrase('€'.repeat(300)).length, 200)
  assert.ok(cleanPhrase(`${'x'.repeat(199)}😀`).isWellFormed())
})
