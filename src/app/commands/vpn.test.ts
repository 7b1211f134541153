import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { jsonLine, textLine } from './vpn.ts'

const EVENT = {
  at: '2026-01-31T02:00:00.000Z',
  state: 'disconnected',
  gateway: 'ws://a',
  virtual_ip: '100.64.0.2',
  reason: 'broken \u001b[31m\r\nconnected',
} as const

test('a line for a terminal has colours and the same text', () => {
  const [coloured, plain] = [true, false].map((colours) => textLine(['ws://a', 'ws://long'], colours))
  assert.ok(coloured?.(EVENT).includes('\u001b[31mdisconnected\u001b[39m  ws://a '))
  assert.equal(stripVTControlCharacters(coloured?.(EVENT) ?? ''), plain?.(EVENT))
})

test('a reason cannot forge a line or control the terminal', () => {
  const line = '2026-01-31T02:00:00.000Z  disconnected  ws://a     100.64.0.2       broken  [31m  connected\n'
  assert.equal(textLine(['ws://a', 'ws://long'], false)(EVENT), line)
  assert.equal(jsonLine(EVENT).indexOf('\n'), jsonLine(EVENT).length - 1)
})
