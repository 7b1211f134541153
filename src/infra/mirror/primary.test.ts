import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { test, type TestContext } from 'node:test'
import { Secret } from '../../kernel/secret.ts'
import { PrimaryUsers, withPrimaryTunnels } from './primary.ts'

const ITEM = { id: 'a', name: 'ada', roles: ['admin'], enabled: true, token_generation: 3, deleted: false }
const ANSWER = { revision: 7, full: true, more: false, pool: '100.64.0.0/16', items: [ITEM] }
const signal = new AbortController().signal

async function primary(t: TestContext, answer: RequestListener, timeoutMs = 60_000) {
  const requests: IncomingMessage[] = []
  const server = createServer((request, response) => {
    requests.push(request)
    answer(request, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const source = new PrimaryUsers({
    url: `http://127.0.0.1:${port}`,
    readToken: () => new Secret('the-token'),
    timeoutMs,
  })
  t.after(() => {
    source.close()
    server.closeAllConnections()
    server.close()
  })
  return { source, requests }
}

test('users are asked for with the token, after a revision', async (t) => {
  const { source, requests } = await primary(t, (_request, response) => response.end(JSON.stringify(ANSWER)))
  assert.deepEqual(await source.changesSince(undefined, signal), {
    outcome: 'changes',
    changes: {
      ...ANSWER,
      items: [{ id: 'a', name: 'ada', roles: ['admin'], enabled: true, tokenGeneration: 3, deleted: false }],
    },
  })
  await source.changesSince(7, signal)
  assert.deepEqual(
    requests.map(({ url, headers }) => [url, headers.authorization]),
    [
      ['/users/mirror', 'Bearer the-token'],
      ['/users/mirror?since=7', 'Bearer the-token'],
    ],
  )
})

const FAILURES: readonly (readonly [name: string, RequestListener, outcome: string, reason: RegExp])[] = [
  ['401', (_request, response) => response.writeHead(401).end('{}'), 'refused', /does not accept the token/],
  [
    '403',
    (_request, response) => response.writeHead(403).end('{}'),
    'refused',
    /not issued with --purpose mirror/,
  ],
  [
    '404',
    (_request, response) => response.writeHead(404).end('{}'),
    'refused',
    /gateway\.mirror_from is not its api/,
  ],
  ['503', (_request, response) => response.writeHead(503).end('{}'), 'unreachable', /answers with 503/],
  [
    '302',
    (_request, response) => response.writeHead(302, { location: '/' }).end(),
    'unusable',
    /answers with 302/,
  ],
  ['a page', (_request, response) => response.end('<html>'), 'unusable', /cannot be read/],
  ['a wrong type', (_request, response) => response.end('{"revision":"7"}'), 'unusable', /cannot be read/],
  ['too much', (_request, response) => response.end('x'.repeat(2_000_000)), 'unusable', /larger than 1 MiB/],
  ['silence', () => undefined, 'unreachable', /^the primary does not answer$/],
  ['a broken connection', ({ socket }) => socket.destroy(), 'unreachable', /^the primary does not answer$/],
]
for (const [name, answer, outcome, reason] of FAILURES) {
  test(`${name} is ${outcome}`, async (t) => {
    const { source } = await primary(t, answer, name === 'silence' ? 200 : undefined)
    const failure = await source.changesSince(1, signal)
    assert.equal(failure.outcome, outcome)
    assert.match('reason' in failure ? failure.reason : '', reason)
  })
}

test('without a token the primary is not asked', async () => {
  const readToken = () => {
    throw new Error('secret')
  }
  const source = new PrimaryUsers({ url: 'http://127.0.0.1:1', readToken })
  const reason = 'gateway.mirror_token_file contains no usable token'
  assert.deepEqual(await source.changesSince(1, signal), { outcome: 'refused', reason })
})

test('the picture of a standby has the sessions of both, newest first, each gateway once', () => {
  const at = (connected_at: string) => ({ connected_at })
  const own = { gateways: [{ name: 'standby' }], sessions: [at('2')], total: 1 }
  const other = {
    gateways: [{ name: 'standby' }, { name: 'primary' }],
    sessions: [at('3'), at('1')],
    total: 5,
  }
  assert.deepEqual(withPrimaryTunnels(own, other), {
    primary: 'included',
    gateways: [{ name: 'standby' }, { name: 'primary' }],
    sessions: [at('3'), at('2'), at('1')],
    total: 6,
  })
  assert.deepEqual(withPrimaryTunnels(own, undefined), { ...own, primary: 'unavailable' })
})
