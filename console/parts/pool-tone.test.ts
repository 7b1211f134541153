import assert from 'node:assert/strict'
import { test } from 'node:test'
import { poolTone } from './pool-tone.ts'

test('the pool is judged by the share of addresses in use', () => {
  assert.equal(poolTone({ size: 100, used: 79 }), 'good')
  assert.equal(poolTone({ size: 100, used: 80 }), 'warning')
  assert.equal(poolTone({ size: 100, used: 95 }), 'danger')
  assert.equal(poolTone({ size: 0, used: 0 }), 'danger')
})
