import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { expiredBackups } from './retention.ts'

const KEEP = { daily: 7, weekly: 4, monthly: 12 }
const DAY_MS = 86_400_000

/** One backup for each of the days up to 2026-12-31, oldest first. */
function nights(count: number): string[] {
  const last = Date.UTC(2026, 11, 31)
  return Array.from({ length: count }, (_, index) => {
    const date = new Date(last - (count - 1 - index) * DAY_MS).toISOString().slice(0, 10)
    return `${date.replaceAll('-', '')}-020000`
  })
}

test('of 400 nights the last 7 days, 4 weeks and 12 months stay', () => {
  const all = nights(400)
  const expired = new Set(expiredBackups(all, KEEP, all.at(-1)))
  const kept = all.filter((id) => !expired.has(id)).map((id) => id.slice(0, 8))
  const months =
    '20260131 20260228 20260331 20260430 20260531 20260630 20260731 20260831 20260930 20261031 20261130'
  const weeksAndDays = '20261213 20261220 20261225 20261226 20261227 20261228 20261229 20261230 20261231'
  assert.equal(kept.join(' '), `${months} ${weeksAndDays}`)
})

test('of several backups of a day the newest stays', () => {
  const ids = ['20260131-020000', '20260131-023000', '20260131-030000']
  assert.deepEqual(expiredBackups(ids, KEEP, undefined), ids.slice(0, 2))
})

test('the newest verified backup always stays, and other names are never touched', () => {
  const keep = { daily: 0, weekly: 0, monthly: 0 }
  const ids = ['20260131-020000', '20260201-020000', 'MANIFEST', '2026-01-31', '20260202-020000']
  assert.deepEqual(expiredBackups(ids, keep, '20260201-020000'), ['20260131-020000', '20260202-020000'])
})

test('whatever is kept stays kept when the expired ones are gone', () => {
  fc.assert(
    fc.property(
      fc.subarray(nights(500)),
      fc.record({ daily: fc.nat(9), weekly: fc.nat(9), monthly: fc.nat(14) }),
      (ids, keep) => {
        const expired = expiredBackups(ids, keep, ids.at(-1))
        const kept = ids.filter((id) => !expired.includes(id))
        assert.ok(ids.length === 0 || kept.includes(ids.at(-1) ?? ''))
        assert.ok(kept.length <= keep.daily + keep.weekly + keep.monthly + 1)
        assert.deepEqual(expiredBackups(kept, keep, ids.at(-1)), [])
      },
    ),
  )
})
