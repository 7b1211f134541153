import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseGatewayAddress } from './addresses.ts'

describe('the address of a gateway', () => {
  const GOOD = [
    ['http://10.0.0.1:9994', 'ws://10.0.0.1:9994/vpn', 'http://10.0.0.1:9994/health'],
    ['http://10.0.0.1:9994/', 'ws://10.0.0.1:9994/vpn', 'http://10.0.0.1:9994/health'],
    ['ws://10.0.0.1:9994/vpn', 'ws://10.0.0.1:9994/vpn', 'http://10.0.0.1:9994/health'],
    ['ws://10.0.0.1:9994/vpn/', 'ws://10.0.0.1:9994/vpn', 'http://10.0.0.1:9994/health'],
    ['https://edge.example', 'wss://edge.example/vpn', 'https://edge.example/health'],
    ['wss://edge.example/north/vpn', 'wss://edge.example/north/vpn', 'https://edge.example/north/health'],
    ['http://[::1]:9994', 'ws://[::1]:9994/vpn', 'http://[::1]:9994/health'],
  ] as const
  for (const [text, sessionUrl, healthUrl] of GOOD) {
    test(`${text} leads to its sessions and its health`, () => {
      assert.deepEqual(parseGatewayAddress(text), { text, sessionUrl, healthUrl })
    })
  }

  const BAD = [
    '',
    'gateway',
    '127.0.0.1:9994',
    'localhost:9994',
    'ftp://host',
    'file:///vpn',
    'http://',
    '//host',
  ]
  for (const text of BAD) {
    test(`"${text}" is refused with an example`, () => {
      assert.throws(() => parseGatewayAddress(text), /must be an address such as/)
    })
  }

  for (const text of [
    'http://ann:geheim@host',
    'http://geheim@host',
    'http://host?token=geheim',
    'ws://host#geheim',
  ]) {
    test(`what ${text} says too much is refused and not repeated`, () => {
      assert.throws(
        () => parseGatewayAddress(text),
        ({ message }: Error) =>
          /without user, password, query and fragment/.test(message) && !/geheim/.test(message),
      )
    })
  }
})
