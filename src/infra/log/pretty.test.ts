import assert from 'node:assert/strict'
import { test } from 'node:test'
import { prettyLine } from './pretty.ts'

const START = { level: 'error', ts: '2026-01-31T02:00:00.007Z' }

test('a pretty line shows time, level, message and fields, and the stack below', () => {
  const error = { type: 'Error', message: 'boom', stack: 'Error: boom\n    at here (file.ts:1:2)' }
  const fields = { order_id: 'o-1', note: 'two words', list: [1], error }
  assert.equal(
    prettyLine(JSON.stringify({ ...START, ...fields, message: 'it failed' }), false),
    '02:00:00.007Z ERROR it failed order_id=o-1 note="two words" list=[1] error={"type":"Error","message":"boom"}\n' +
      '    | Error: boom\n' +
      '    |     at here (file.ts:1:2)\n',
  )
})

test('a pretty line has colours only with the option', () => {
  const line = JSON.stringify({ ...START, level: 'info', a: 1, message: 'm' })
  assert.equal(prettyLine(line, false), '02:00:00.007Z INFO  m a=1\n')
  assert.equal(prettyLine(line, true), '02:00:00.007Z \u001b[32mINFO \u001b[0m m \u001b[36ma\u001b[0m=1\n')
})
