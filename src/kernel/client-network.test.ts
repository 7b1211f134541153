import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clientNetwork } from './client-network.ts'

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
