import assert from 'node:assert/strict'
import { test } from 'node:test'
import { visibleText, withoutEscapes } from './visible-text.ts'

test('characters that nobody sees are marked', () => {
  assert.equal(visibleText('invoice\u202Efdp.exe'), 'invoice[U+202E]fdp.exe')
  assert.equal(
    visibleText('pay\u200Bpal \u0007\u2067x a\u200Db'),
    'pay[U+200B]pal [U+0007][U+2067]x a[U+200D]b',
  )
})

test('joined emoji and letters, tabs and line breaks stay as they are', () => {
  for (const text of ['👩‍🚀 ❤️‍🔥 👩🏽‍🚀', 'می‌خواهم', 'a\tb\r\nc', '工单']) assert.equal(visibleText(text), text)
})

test('the escape sequences of terminals are removed from an output', () => {
  const output =
    '\u001B[1;31mred\u001B[0m \u001B]0;title\u0007\u001B[2Kdone\u001B]8;;https://a.example\u001B\\link\u001B(B'
  assert.equal(withoutEscapes(output), 'red donelink')
})
