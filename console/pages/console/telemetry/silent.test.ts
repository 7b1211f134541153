import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isSilent } from './silent.ts'

test('an agent is silent when its last item is more than an hour old', () => {
  const now = Date.parse('2026-01-31T02:00:00.000Z')
  assert.equal(isSilent({ last_at: '2026-01-31T01:00:00.000Z' }, now), false)
  assert.equal(isSilent({ last_at: '2026-01-31T00:59:59.000Z' }, now), true)
})
