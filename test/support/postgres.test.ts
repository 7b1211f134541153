import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startPostgres } from './postgres.ts'

test('a server that refuses its settings fails at once, with its log', async () => {
  await assert.rejects(
    startPostgres({ settings: ['no_such_setting=1'] }),
    /unrecognized .* "no_such_setting"/,
  )
})
