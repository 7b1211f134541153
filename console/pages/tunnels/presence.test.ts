import assert from 'node:assert/strict'
import { test } from 'node:test'
import { presentItems, type AnimatedItem } from './presence.ts'

interface Item {
  readonly key: string
}

const PHASE_MS = 500
const items = (...keys: string[]): Item[] => keys.map((key) => ({ key }))
const phases = (shown: readonly AnimatedItem<Item>[]) => shown.map(({ key, phase }) => `${key} ${phase}`)

test('what is new enters, and is here after the phase', () => {
  const first = presentItems<Item>([], items('a'), 0, PHASE_MS)
  assert.deepEqual(phases(first), ['a entering'])
  assert.deepEqual(phases(presentItems(first, items('a'), 499, PHASE_MS)), ['a entering'])
  assert.deepEqual(phases(presentItems(first, items('a'), 500, PHASE_MS)), ['a here'])
})

test('what has gone leaves behind the others, and is gone after the phase', () => {
  const first = presentItems<Item>([], items('a', 'b'), 0, PHASE_MS)
  const second = presentItems(first, items('b'), 1_000, PHASE_MS)
  assert.deepEqual(phases(second), ['b here', 'a leaving'])
  assert.deepEqual(phases(presentItems(second, items('b'), 1_500, PHASE_MS)), ['b here'])
})

test('what comes back while it leaves enters again, and is there once', () => {
  const first = presentItems<Item>([], items('a'), 0, PHASE_MS)
  const leaving = presentItems(first, [], 1_000, PHASE_MS)
  assert.deepEqual(phases(presentItems(leaving, items('a'), 1_100, PHASE_MS)), ['a entering'])
})

test('items are shown as they are now', () => {
  const first = presentItems([], [{ key: 'a', x: 1 }], 0, PHASE_MS)
  assert.deepEqual(presentItems(first, [{ key: 'a', x: 2 }], 1, PHASE_MS)[0]?.value, { key: 'a', x: 2 })
})
