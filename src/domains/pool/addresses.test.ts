import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatIpv4 } from '../../kernel/addresses.ts'
import { parseRange } from './addresses.ts'

test('network, gateway and broadcast of a pool are never leased', () => {
  for (const [cidr, first, last, size] of [
    ['100.64.0.0/16', '100.64.0.2', '100.64.255.254', 65_533],
    ['192.0.2.252/30', '192.0.2.254', '192.0.2.254', 1],
    ['240.0.0.0/12', '240.0.0.2', '240.15.255.254', 1_048_573],
    ['10.0.0.0/8', '10.0.0.2', '10.255.255.254', 16_777_213],
  ] as const) {
    const range = parseRange(cidr)
    assert.deepEqual(
      [formatIpv4(range.first), formatIpv4(range.last), range.size, range.prefixLength],
      [first, last, size, Number(cidr.split('/')[1])],
    )
  }
})

test('any other text is refused', () => {
  for (const cidr of ['10.0.0.0/31', '10.0.0.0/7', '10.0.0.1/24', '10.0.0.256/30', '10.0.0.0', '::/16', '']) {
    assert.throws(() => parseRange(cidr), { code: 'validation_failed' }, cidr)
  }
})
