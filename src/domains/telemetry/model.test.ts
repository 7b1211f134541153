import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { SECOND } from '../../kernel/time.ts'
import { bucketSize, eventIdOf, MAX_ITEMS, placeOf, takeTokens, uploadOf } from './model.ts'

const NOW = Date.UTC(2026, 0, 31, 2)

/** The state after taking, or the seconds to wait. */
function take(fullAt: number, tokens: number, now = NOW, perSecond = 100): number | { wait: number } {
  const result = takeTokens(fullAt, tokens, now, perSecond)
  return result.outcome === 'taken' ? result.fullAt : { wait: result.retryAfterSeconds }
}

test('a bucket holds five seconds’ worth, which may be taken at once', () => {
  const empty = take(0, 500)
  assert.equal(empty, (NOW + 5 * SECOND) * 1_000)
  assert.deepEqual(take(Number(empty), 1), { wait: 0.01 })
  assert.deepEqual(take(Number(empty), 100), { wait: 1 })
})

test('an empty bucket is full again after five seconds', () => {
  const empty = Number(take(0, 500))
  assert.equal(typeof take(empty, 100, NOW + SECOND), 'number')
  assert.deepEqual(take(empty, 101, NOW + SECOND), { wait: 0.01 })
  assert.equal(take(empty, 500, NOW + 5 * SECOND), (NOW + 10 * SECOND) * 1_000)
})

test('a request for more tokens than the bucket holds is always refused', () => {
  assert.deepEqual(take(0, bucketSize(10) + 1, NOW, 10), { wait: 0 })
  assert.deepEqual(take((NOW + 2 * SECOND) * 1_000, bucketSize(10) + 1, NOW, 10), { wait: 2 })
})

test('an agent does not wait until a clock that was set back has caught up', () => {
  const empty = Number(take(0, 500))
  const earlier = NOW - 24 * 3_600 * SECOND
  assert.equal(typeof take(empty, 500, earlier), 'number')
})

test('whatever an agent sends, no more than the rate and one bucket is accepted', () => {
  const calls = fc.array(fc.tuple(fc.nat(2_000), fc.integer({ min: 1, max: 60 })), { maxLength: 100 })
  fc.assert(
    fc.property(calls, fc.integer({ min: 1, max: 20 }), (requests, rate) => {
      let [now, fullAt, accepted] = [NOW, 0, 0]
      for (const [pause, items] of requests) {
        now += pause
        const result = takeTokens(fullAt, items, now, rate)
        if (result.outcome === 'refused') continue
        fullAt = result.fullAt
        accepted += items
      }
      assert.ok(accepted <= bucketSize(rate) + ((now - NOW) / SECOND) * rate + 1e-6)
    }),
  )
})

test('after the seconds to wait the same items fit', () => {
  const property = fc.property(
    fc.integer({ min: 1, max: 500 }),
    fc.integer({ min: 0, max: 5_000 }),
    (items, usedMs) => {
      const fullAt = (NOW + usedMs) * 1_000
      const result = takeTokens(fullAt, items, NOW, 100)
      if (result.outcome === 'taken') return
      const later = NOW + Math.ceil(result.retryAfterSeconds * SECOND)
      assert.equal(takeTokens(fullAt, items, later, 100).outcome, 'taken')
    },
  )
  fc.assert(property)
})

test('each item has a place of its own, in the order of uploads and items', () => {
  assert.deepEqual(uploadOf(placeOf(7, MAX_ITEMS - 1)), { seq: 7, index: MAX_ITEMS - 1 })
  assert.ok(placeOf(7, MAX_ITEMS - 1) < placeOf(8, 0))
  assert.ok(Number.isSafeInteger(placeOf(2 ** 43, MAX_ITEMS)))
})

test('each item has an id of its own, which is a UUIDv7 and sorts as the items do', () => {
  const upload = '019c1000-0000-7abc-8def-0123456789ab'
  const ids = Array.from({ length: MAX_ITEMS }, (_, index) => eventIdOf(upload, index))
  assert.equal(new Set(ids).size, MAX_ITEMS)
  assert.deepEqual(ids.toSorted(), ids)
  for (const id of ids)
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
})
