import assert from 'node:assert/strict'
import { test } from 'node:test'
import { relatives, stepFor } from './navigation.ts'

const NODES = [
  { key: 'primary', parent: null },
  { key: 'ada', parent: 'primary' },
  { key: 'address', parent: 'ada' },
  { key: 'boris', parent: 'primary' },
  { key: 'standby', parent: null },
]

const STEPS = [
  { pressed: 'ArrowDown', at: 'primary', step: { go: 'ada' } },
  { pressed: 'ArrowDown', at: 'standby', step: 'none' },
  { pressed: 'ArrowUp', at: 'boris', step: { go: 'address' } },
  { pressed: 'ArrowUp', at: 'primary', step: 'none' },
  { pressed: 'ArrowRight', at: 'primary', step: { go: 'ada' } },
  { pressed: 'ArrowRight', at: 'boris', step: 'select' },
  { pressed: 'ArrowLeft', at: 'address', step: { go: 'ada' } },
  { pressed: 'ArrowLeft', at: 'primary', step: 'none' },
  { pressed: 'Home', at: 'boris', step: { go: 'primary' } },
  { pressed: 'End', at: 'primary', step: { go: 'standby' } },
  { pressed: 'Enter', at: 'ada', step: 'select' },
  { pressed: ' ', at: 'ada', step: 'select' },
  { pressed: 'a', at: 'ada', step: 'none' },
]

for (const { pressed, at, step } of STEPS) {
  test(`${pressed === ' ' ? 'Space' : pressed} at ${at}`, () => {
    assert.deepEqual(stepFor(pressed, NODES, at), step)
  })
}

test('what belongs to a node is the way up and everything below', () => {
  assert.deepEqual([...relatives(NODES, 'ada')].sort(), ['ada', 'address', 'primary'])
  assert.deepEqual([...relatives(NODES, 'address')].sort(), ['ada', 'address', 'primary'])
  assert.deepEqual([...relatives(NODES, 'primary')].sort(), ['ada', 'address', 'boris', 'primary'])
})
