import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Certificate } from './model.ts'
import { certificateTone, hasWrongChain } from './model.ts'

const certificate = (status: Certificate['status'], ...warnings: Certificate['warnings']) => ({
  status,
  days_left: 60,
  warnings,
})

test('a certificate whose chain is wrong is not shown as a good one', () => {
  for (const warning of ['chain_broken', 'chain_order'] as const) {
    const wrong = certificate('valid', warning)
    assert.deepEqual([hasWrongChain(wrong), certificateTone(wrong)], [true, 'warning'])
  }
  assert.equal(certificateTone(certificate('valid', 'chain_expires_first')), 'good')
  assert.equal(certificateTone(certificate('expired', 'chain_broken')), 'danger')
})
