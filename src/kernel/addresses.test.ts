import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clientNetwork, formatIpv4, parseIpv4 } from './addresses.ts'

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

const NETWORKS: readonly (readonly [address: string, network: string])[] = [
  ['192.0.2.1', '192.0.2.1'],
  ['', ''],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:0001:2::', '2001:db8:1:2::/64'],
  ['2001:db8::2', '2001:db8:0:0::/64'],
  ['2001:db8::2:3:4:5:6', '2001:db8:0:2::/64'],
  ['::1', '0:0:0:0::/64'],
  ['::2:3:4:5:192.0.2.1', '0:0:2:3::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
]

for (const [address, network] of NETWORKS) {
  test(`the network of ${JSON.stringify(address)} is ${JSON.stringify(network)}`, () => {
    assert.equal(clientNetwork(address), network)
  })
}
