import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { test } from 'node:test'
import { isForwardingHeader, headersForApi } from './headers-for-api.ts'
import { createIdentify } from '../identity.ts'

const NAMES = [
  'Forwarded',
  'Via',
  'CDN-Loop',
  'CF-Connecting-IP',
  'CF-Connecting-IPv6',
  'Client-IP',
  'Fastly-Client-IP',
  'Fly-Client-IP',
  'True-Client-IP',
  'X-Azure-ClientIP',
  'X-Client-IP',
  'X-Cluster-Client-IP',
  'X-Envoy-External-Address',
  'X-Envoy-Internal',
  'X-Forwarded',
  'X-Forwarded-For',
  'X-Forwarded-Host',
  'X-Forwarded-Proto',
  'X-Original-Forwarded-For',
  'X-Original-Host',
  'X-Original-URL',
  'X-Real-IP',
  'X-Remote-Addr',
  'X-Rewrite-URL',
]
const SPELLINGS: readonly ((name: string) => string)[] = [
  (name) => name,
  (name) => name.toLowerCase(),
  (name) => name.replaceAll('-', '_'),
  (name) => name.replace('-', '_').toUpperCase(),
  (name) => name.replaceAll('-', '.'),
  (name) => `_${name}`,
]
const ALL = NAMES.flatMap((name) => SPELLINGS.map((respell) => respell(name)))

const identify = createIdentify({
  authenticator: { authenticate: () => Promise.reject(new Error('no tokens here')) },
  trustedProxies: [{ address: '127.0.0.0', prefixLength: 8, family: 'ipv4' }],
})

function requestWith(headers: Readonly<Record<string, string>>): IncomingMessage {
  const known = { host: '127.0.0.1', 'x-user-id': 'root', 'x-user-roles': 'admin' }
  return {
    socket: { remoteAddress: '127.0.0.1' },
    headers: { ...known, ...headers },
    rawHeaders: [],
  } as unknown as IncomingMessage
}

test('a request with a forwarding header gives its trusted peer no identity', () => {
  assert.deepEqual(identify(requestWith({})), { id: 'root', name: 'root', roles: ['admin'], via: 'headers' })
  for (const name of ALL) assert.equal(identify(requestWith({ [name.toLowerCase()]: 'x' })), undefined, name)
})

test('no forwarding header of a client reaches the api', () => {
  const sender = { identity: undefined, requestId: 'r' }
  for (const name of ALL)
    assert.deepEqual(headersForApi({ [name]: 'x' }, sender, 'a'), { host: 'a', 'x-request-id': 'r' }, name)
})

test('other headers are no forwarding headers', () => {
  for (const name of [
    'accept',
    'content-type',
    'if-match',
    'idempotency-key',
    'user-agent',
    'x-viable',
    'x-ip',
  ])
    assert.equal(isForwardingHeader(name), false, name)
})
