import assert from 'node:assert/strict'
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { test } from 'node:test'
import { createClientAddress, type ClientAddress } from './client-address.ts'

const trusting = createClientAddress({
  trustedPeers: [{ address: '10.0.0.0', prefixLength: 8, family: 'ipv4' }],
})
const behindProxies = createClientAddress({
  proxies: [
    { address: '10.0.0.0', prefixLength: 8, family: 'ipv4' },
    { address: 'fd00::', prefixLength: 8, family: 'ipv6' },
  ],
  trustedPeers: [{ address: '10.0.0.0', prefixLength: 8, family: 'ipv4' }],
})

function addressOf(clientAddress: ClientAddress, peer: string, headers: Record<string, string>): string {
  const socket = Object.defineProperty(new Socket(), 'remoteAddress', { value: peer })
  const request = new IncomingMessage(socket)
  Object.assign(request.headers, headers)
  return clientAddress(request)
}

const PEERS: readonly (readonly [peer: string, forwardedFor: string | undefined, expected: string])[] = [
  ['10.0.0.1', undefined, '10.0.0.1'],
  ['10.0.0.1', '192.0.2.1', '192.0.2.1'],
  ['10.0.0.1', '2001:db8::1', '2001:db8::1'],
  ['::ffff:10.0.0.1', '::ffff:192.0.2.1', '192.0.2.1'],
  ['10.0.0.1', '192.0.2.1, 192.0.2.2', '10.0.0.1'],
  ['10.0.0.1', '192.0.2.1,', '10.0.0.1'],
  ['10.0.0.1', '192.0.2.1:80', '10.0.0.1'],
  ['10.0.0.1', 'localhost', '10.0.0.1'],
  ['10.0.0.1', '', '10.0.0.1'],
  ['192.0.2.9', '192.0.2.1', '192.0.2.9'],
  ['::ffff:192.0.2.9', '192.0.2.1', '192.0.2.9'],
]

for (const [peer, forwardedFor, expected] of PEERS) {
  test(`a request of ${peer} with ${JSON.stringify(forwardedFor)} comes from ${expected}`, () => {
    const headers = forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor }
    assert.equal(addressOf(trusting, peer, headers), expected)
  })
}

/** What a proxy at 10.0.0.1 sends. */
const LISTS: readonly (readonly [forwardedFor: string, expected: string])[] = [
  ['192.0.2.1', '192.0.2.1'],
  ['192.0.2.1:4711', '192.0.2.1'],
  ['[2001:db8::1]:443', '2001:db8::1'],
  ['2001:db8::1', '2001:db8::1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  // The client has written the first entries.
  ['198.51.100.1, 192.0.2.1', '192.0.2.1'],
  ['<script>, 192.0.2.1', '192.0.2.1'],
  ['", 192.0.2.1', '192.0.2.1'],
  // Other proxies on the way.
  ['198.51.100.1, 192.0.2.1, 10.0.0.2', '192.0.2.1'],
  ['192.0.2.1,10.0.0.2,fd00::2', '192.0.2.1'],
  ['10.0.0.3, ::ffff:10.0.0.2', '10.0.0.3'],
  // No address where one is expected.
  ['', '10.0.0.1'],
  ['192.0.2.1,', '10.0.0.1'],
  [',', '10.0.0.1'],
  ['unknown', '10.0.0.1'],
  ['192.0.2.1, unknown, 10.0.0.2', '10.0.0.1'],
  ['192.0.2.256', '10.0.0.1'],
  ['fe80::1%eth0', '10.0.0.1'],
  ['192.0.2.1 192.0.2.2', '10.0.0.1'],
]

const ELEMENTS: readonly (readonly [forwarded: string, expected: string])[] = [
  ['for=192.0.2.1', '192.0.2.1'],
  ['For="[2001:db8::1]:4711";proto=https;by=203.0.113.43', '2001:db8::1'],
  ['for=198.51.100.1, for=192.0.2.1;host="shop.example"', '192.0.2.1'],
  ['for=192.0.2.1, for=10.0.0.2, for="[fd00::2]"', '192.0.2.1'],
  // The client has begun a quotation that it does not end.
  ['for=";a=", for=192.0.2.1', '192.0.2.1'],
  ['for=198.51.100.1;host="a, for=192.0.2.1', '192.0.2.1'],
  // The client has chosen the name in Host.
  ['for=192.0.2.1;host="a, for=198.51.100.1"', '10.0.0.1'],
  ['for=192.0.2.1;host="a, for=198.51.100.1;by="', '10.0.0.1'],
  [String.raw`for=192.0.2.1;host="a, for=198.51.100.1;by=\"b"`, '10.0.0.1'],
  ['for=_hidden', '10.0.0.1'],
  ['for=unknown', '10.0.0.1'],
  ['for=192.0.2.1;for=198.51.100.1', '10.0.0.1'],
  ['for = 192.0.2.1', '10.0.0.1'],
  ['proto=https', '10.0.0.1'],
  ['for=192.0.2.1;', '10.0.0.1'],
  ['', '10.0.0.1'],
]

for (const [name, cases] of Object.entries({ 'x-forwarded-for': LISTS, forwarded: ELEMENTS })) {
  for (const [value, expected] of cases) {
    test(`behind a proxy, ${name}: ${value} comes from ${expected}`, () => {
      assert.equal(addressOf(behindProxies, '10.0.0.1', { [name]: value }), expected)
      assert.equal(addressOf(behindProxies, '192.0.2.9', { [name]: value }), '192.0.2.9', 'of no proxy')
    })
  }
}

test('two headers that name different callers count as none', () => {
  const both = (forwarded: string) =>
    addressOf(behindProxies, '10.0.0.1', { forwarded, 'x-forwarded-for': '192.0.2.1' })
  assert.equal(both('for=192.0.2.1'), '192.0.2.1')
  assert.equal(both('for=198.51.100.1'), '10.0.0.1')
  assert.equal(both('for=unknown'), '10.0.0.1')
})

test('what a gateway of the installation has signed counts from every peer, also from a proxy', () => {
  const signature = { verify: () => true }
  const signed = createClientAddress({
    proxies: [{ address: '10.0.0.0', prefixLength: 8, family: 'ipv4' }],
    signature,
  })
  for (const peer of ['192.0.2.9', '10.0.0.1'])
    assert.equal(addressOf(signed, peer, { 'x-forwarded-for': '192.0.2.1' }), '192.0.2.1')
  assert.equal(addressOf(signed, '192.0.2.9', {}), '192.0.2.9')
})
