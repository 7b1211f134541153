import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLog } from './log.ts'

test('in the journal a warning and an error have their priority, so that -p warning shows them', () => {
  const lines: string[] = []
  const output = { write: (text: string) => lines.push(text) }
  for (const log of [createLog(output, () => 0, true), createLog(output, () => 0)]) {
    log.info('round done')
    log.warn('one channel failed')
    log.error('mail does not work')
  }
  assert.deepEqual(
    lines.map((line) => line.slice(0, 5)),
    ['{"ts"', '<4>{"', '<3>{"', '{"ts"', '{"ts"', '{"ts"'],
  )
})
