import assert from 'node:assert/strict'
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { test } from 'node:test'
import { createClientAddress } from './client-address.ts'

const clientAddress = createClientAddress([{ address: '10.0.0.0', prefixLength: 8, family: 'ipv4' }])

function addressOf(peer: string, forwardedFor?: string): string {
  const socket = Object.defineProperty(new Socket(), 'remoteAddress', { value: peer })
  const request = new IncomingMessage(socket)
  if (forwardedFor !== undefined) request.headers['x-forwarded-for'] = forwardedFor
  return clientAddress(request)
}

const CASES: readonly (readonly [peer: string, forwardedFor: string | undefined, expected: string])[] = [
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

for (const [peer, forwardedFor, expected] of CASES) {
  test(`a request of ${peer} with ${JSON.stringify(forwardedFor)} comes from ${expected}`, () => {
    assert.equal(addressOf(peer, forwardedFor), expected)
  })
}
