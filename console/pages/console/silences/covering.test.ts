import assert from 'node:assert/strict'
import { test } from 'node:test'
import { coveringSilence } from './covering.ts'

const ALERT = { source: 'shop.web', alarm_id: 'disk.full', server_addr: null, title: 'The disk is full' }

const CASES = [
  ['an exact text', { source: 'shop.web' }, true],
  ['a prefix', { alarm_id: 'disk.*' }, true],
  ['every matcher', { source: 'shop.web', title: 'The *' }, true],
  ['another text', { source: 'shop' }, false],
  ['one matcher of two', { source: 'shop.web', title: 'A disk' }, false],
  ['a field that the alert does not have', { server_addr: '*' }, false],
] as const

for (const [what, matchers, isCovered] of CASES) {
  test(`${what} covers the alert: ${isCovered}`, () => {
    const silence = { matchers, label_matchers: null, ends_at: '2026-01-31T02:00:00.000Z' }
    assert.equal(coveringSilence(ALERT, [silence]), isCovered ? silence : undefined)
  })
}

test('of several silences the one that ends last is shown', () => {
  const silences = ['02', '04', '03'].map((hour) => {
    return { matchers: { source: 'shop.*' }, label_matchers: null, ends_at: `2026-01-31T${hour}:00:00.000Z` }
  })
  assert.equal(coveringSilence(ALERT, silences), silences[1])
})
