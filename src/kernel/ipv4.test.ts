import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatIpv4, parseIpv4 } from './ipv4.ts'

test('an IPv4 address is a number and its dotted form', () => {
  for (const [dotted, address] of [
    ['0.0.0.0', 0],
    ['100.64.0.2', 1_681_915_906],
    ['255.255.255.255', 2 ** 32 - 1],
  ] as const) {
    assert.equal(parseIpv4(dotted), address)
    assert.equal(formatIpv4(address), dotted)
  }
})

test('no other text is an IPv4 address', () => {
  for (const text of ['', '1.2.3', '1.2.3.4.5', '1.2.3.256', '1.2.3.-4', '1.2.3.', '1.2.3.0x4', '::1'])
    assert.equal(parseIpv4(text), undefined, text)
})
