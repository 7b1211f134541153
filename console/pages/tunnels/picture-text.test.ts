import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fitText } from './picture-text.ts'

test('a text that is wider than its place ends with an ellipsis', () => {
  assert.equal(fitText('ada', 22), 'ada')
  assert.equal(fitText('adam', 22), 'ad…')
})

test('Chinese characters and emoji take more than letters', () => {
  assert.equal(fitText('王小明', 38), '王小明')
  assert.equal(fitText('王小明', 35), '王小…')
  assert.equal(fitText('🙂🙂🙂', 35), '🙂🙂…')
})
