import assert from 'node:assert/strict'
import { test } from 'node:test'
import { copyOf, doNetworksOverlap } from './model.ts'

const ADA = {
  id: 'a',
  name: 'ada',
  roles: ['devops', 'unknown'],
  enabled: true,
  tokenGeneration: 1,
  deleted: false,
}

test('a copy has the known roles, and the same copy again changes nothing', () => {
  const copy = copyOf(ADA, undefined, 1_000)
  assert.deepEqual([copy.roles, copy.tokensValidFrom, copy.createdAt], [['devops'], 0, 1_000])
  assert.equal(copyOf(ADA, copy, 2_000), copy)
})

test('with another generation, tokens without one are valid from the time of the copy', () => {
  const copy = copyOf(ADA, undefined, 1_000)
  const changed = copyOf({ ...ADA, tokenGeneration: 2 }, copy, 2_000)
  assert.deepEqual([changed.tokenGeneration, changed.tokensValidFrom, changed.createdAt], [2, 2_000, 1_000])
  assert.equal(copyOf({ ...ADA, tokenGeneration: 2 }, undefined, 3_000).tokensValidFrom, 3_000)
  assert.equal(copyOf({ ...ADA, tokenGeneration: 2, enabled: false }, changed, 4_000).tokensValidFrom, 2_000)
})

const NETWORKS = [
  ['100.64.0.0/16', '100.64.0.0/16', true],
  ['100.64.0.0/16', '100.64.128.0/17', true],
  ['100.64.128.0/17', '100.64.0.0/16', true],
  ['100.64.0.0/17', '100.64.128.0/17', false],
  ['10.0.0.0/12', '10.16.0.0/30', false],
  ['255.255.255.252/30', '255.255.255.0/24', true],
] as const
for (const [one, other, expected] of NETWORKS) {
  test(`${one} and ${other} ${expected ? 'overlap' : 'do not overlap'}`, () => {
    assert.equal(doNetworksOverlap(one, other), expected)
  })
}
