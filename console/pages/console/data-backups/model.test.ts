import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countPruned } from './model.ts'

const VERIFIED_AT = '2026-01-31T02:00:00.000Z'
const backup = (status: 'completed' | 'failed', verified_at: string | null = null) => ({
  status,
  verified_at,
})

test('the newest completed backups stay, and always the newest verified one', () => {
  const backups = [
    backup('failed'),
    backup('completed'),
    backup('completed'),
    backup('completed', VERIFIED_AT),
    backup('completed', VERIFIED_AT),
  ]
  assert.deepEqual(
    [1, 2, 3, 4, 9].map((keep) => countPruned(backups, keep)),
    [2, 1, 1, 0, 0],
  )
})
