import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, test } from 'node:test'
import { eventually } from '../../support/eventually.ts'
import { exchange } from '../http/raw-socket.ts'
import { connect, openSession, PATIENT, refusedBy, type ConnectOptions } from './socket.ts'
import { openWorld, SECRET, type GatewayWorld } from './world.ts'

const NOW = Math.floor(Date.now() / 1_000)
const GOOD = { sub: 'id-of-ada', roles: ['devops'], iss: 'platform', iat: NOW, exp: NOW + 3_600 }

/** A token that another program signed. */
function forge(claims: object, { alg = 'HS256', secret = SECRET, typ = 'JWT' } = {}): string {
  const input = [{ alg, typ }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  const signature = alg === 'none' ? '' : createHmac('sha256', secret).update(input).digest('base64url')
  return `${input}.${signature}`
}

/** None of these opens a session. */
const BAD_TOKENS: Readonly<Record<string, string>> = {
  'the algorithm none': forge(GOOD, { alg: 'none' }),
  'the algorithm None with a signature': forge(GOOD, { alg: 'None' }),
  'another algorithm': forge(GOOD, { alg: 'HS512' }),
  'another key': forge(GOOD, { secret: 'another secret that is long enough too' }),
  'a lifetime in the past': forge({ ...GOOD, iat: NOW - 7_200, exp: NOW - 1 }),
  'no expiry': forge({ ...GOOD, exp: undefined }),
  'a start in the future': forge({ ...GOOD, nbf: NOW + 600 }),
  'another issuer': forge({ ...GOOD, iss: 'elsewhere' }),
  'no issuer': forge({ ...GOOD, iss: undefined }),
  'no subject': forge({ ...GOOD, sub: undefined }),
  '16 KB': forge({ ...GOOD, filler: 'x'.repeat(12_000) }),
  '9 KB': forge({ ...GOOD, filler: 'x'.repeat(6_500) }),
  'unknown roles only': forge({ ...GOOD, roles: ['king', 'ADMIN', 'constructor'] }),
  'no roles': forge({ ...GOOD, roles: [] }),
  'another kind': forge(GOOD, { typ: 'refresh' }),
  'text that is no token': 'abc',
  'an empty text': '',
}

async function assertUnauthenticated({ url, registry, logged }: GatewayWorld, options: ConnectOptions) {
  const refused = await refusedBy(url, options)
  assert.deepEqual([refused.status, refused.body.code], [401, 'unauthenticated'])
  assert.match(
    String(refused.headers['www-authenticate']),
    /^Bearer( error="invalid_token"(, error_description="(expired|revoked)")?)?$/,
  )
  assert.match(String(refused.headers['x-request-id']), /^[A-Za-z0-9._-]{1,128}$/)
  await eventually('the note in the audit trail', () => registry.refusals.length === 1, PATIENT)
  assert.equal(registry.refusals[0]?.remoteAddress, '127.0.0.1')
  assert.equal(registry.live.size, 0)
  assert.ok(logged.some((line) => line.message === 'session refused' && line['code'] === 'unauthenticated'))
}

describe('a token is refused before the upgrade', { concurrency: 4 }, () => {
  for (const [name, token] of Object.entries(BAD_TOKENS)) {
    test(`with ${name}`, async (t) => {
      const world = await openWorld(t)
      await assertUnauthenticated(world, { token })
      assert.ok(
        token === '' || !JSON.stringify(world.logged).includes(token.slice(0, 200)),
        'no token in the log',
      )
    })
  }

  test('with no token at all', async (t) => {
    await assertUnauthenticated(await openWorld(t), {})
  })

  for (const [name, protocols] of Object.entries<(token: string) => string[]>({
    'without the name of the protocol': (token) => [`bearer.${token}`],
    twice: (token) => ['platform.vpn.v1', `bearer.${token}`, 'bearer.abc'],
    'without its prefix': (token) => ['platform.vpn.v1', token],
  })) {
    test(`among the subprotocols ${name}`, async (t) => {
      const world = await openWorld(t)
      await assertUnauthenticated(world, { protocols: protocols(await world.token()) })
    })
  }

  test('when its user has revoked it meanwhile, and the audit trail names the user', async (t) => {
    const world = await openWorld(t)
    const token = await world.token()
    world.registry.endTokens('id-of-ada')
    await assertUnauthenticated(world, { token })
    assert.equal(world.registry.refusals[0]?.user?.id, 'id-of-ada')
  })
})

test('a valid token of another program opens a session', async (t) => {
  const { url } = await openWorld(t)
  await openSession(url, { token: forge(GOOD) })
})

test('a browser sends its token as a subprotocol, and the gateway selects the other one', async (t) => {
  const { url, token } = await openWorld(t)
  const session = await openSession(url, {
    protocols: ['platform.vpn.v1', `bearer.${await token()}`],
    origin: url,
  })
  assert.equal(session.socket.protocol, 'platform.vpn.v1')
})

for (const origin of [
  'http://evil.example',
  'null',
  'http://127.0.0.1',
  'file://',
  '',
  'http://127.0.0.1:1',
]) {
  test(`a page of ${JSON.stringify(origin)} may not open a session`, async (t) => {
    const { url, token, registry } = await openWorld(t)
    const refused = await refusedBy(url, { token: await token(), headers: { origin } })
    assert.deepEqual([refused.status, refused.body.code], [403, 'forbidden'])
    assert.deepEqual(registry.refusals, [])
  })
}

for (const query of [
  '?device=',
  '?device=a%20b',
  `?device=${'a'.repeat(65)}`,
  '?device=a&device=b',
  '?device=%C3%A4',
]) {
  test(`the device in ${query.slice(0, 20)} is refused`, async (t) => {
    const { url, token, registry } = await openWorld(t)
    const refused = await refusedBy(url, { token: await token(), query })
    assert.deepEqual([refused.status, refused.body.code], [400, 'validation_failed'])
    assert.equal(registry.live.size, 0)
  })
}

test('a device of 64 characters is accepted', async (t) => {
  const { url, token, registry } = await openWorld(t)
  const device = `Aa0._-${'x'.repeat(58)}`
  await openSession(url, { token: await token(), query: `?device=${device}` })
  assert.equal([...registry.live.values()][0]?.device, device)
})

test('a pool without a free address is 503, and accepts the next session when another one ends', async (t) => {
  const { url, token, registry } = await openWorld(t, { capacity: 2 })
  const first = await openSession(url, { token: await token() })
  await openSession(url, { token: await token() })
  const refused = await refusedBy(url, { token: await token() })
  assert.deepEqual([refused.status, refused.body.code], [503, 'pool_exhausted'])
  first.socket.close()
  await eventually('the address to come back', () => registry.live.size === 1, PATIENT)
  await openSession(url, { token: await token() })
})

test('a user with too many sessions gets 429 with Retry-After', async (t) => {
  const world = await openWorld(t, { sessionsPerUser: 1 })
  await openSession(world.url, { token: await world.token() })
  const refused = await refusedBy(world.url, { token: await world.token() })
  assert.deepEqual(
    [refused.status, refused.body.code, refused.headers['retry-after']],
    [429, 'too_many_sessions', '30'],
  )
  await openSession(world.url, { token: await world.token({ user: 'eve' }) })
  assert.match(await world.metrics(), /vpn_connections_total\{outcome="too_many_sessions"\} 1$/m)
})

test('a registry that is unavailable is 503', async (t) => {
  const { url, token, registry } = await openWorld(t)
  registry.setAway(true)
  const refused = await refusedBy(url, { token: await token() })
  assert.deepEqual([refused.status, refused.body.code], [503, 'store_unavailable'])
})

test('an address that connects too often gets 429 with Retry-After', async (t) => {
  const { url, token, advance } = await openWorld(t, { connectionsPerSecond: 1, connectionBurst: 3 })
  for (let count = 0; count < 3; count++) await openSession(url, { token: await token() })
  // Real time goes on too: sooner or later there is one more than came back.
  const answers = await Promise.all(
    Array.from({ length: 50 }, async () => connect(url, { token: await token() })),
  )
  const refused = answers.filter((answer) => 'status' in answer)
  assert.ok(refused.length > 0)
  for (const { status, body, headers } of refused) {
    assert.deepEqual([status, body.code], [429, 'rate_limited'])
    assert.match(String(headers['retry-after']), /^[1-9]\d*$/)
  }
  advance(10_000)
  await openSession(url, { token: await token() })
})

test('a read-only gateway refuses sessions and passes requests on', async (t) => {
  const { url, token, api } = await openWorld(t, { readOnly: true })
  const refused = await refusedBy(url, { token: await token() })
  assert.deepEqual([refused.status, refused.body.code], [503, 'read_only'])
  const answer = await fetch(`${url}/orders`, { headers: { authorization: `Bearer ${await token()}` } })
  assert.equal(answer.status, 200)
  assert.equal(api.seen.length, 1)
})

const KEY = 'dGhlIHNhbXBsZSBub25jZQ=='
const HANDSHAKE = {
  Host: '127.0.0.1',
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': KEY,
}

const BAD_HANDSHAKES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'without a key': { 'Sec-WebSocket-Key': '' },
  'with a short key': { 'Sec-WebSocket-Key': 'abc=' },
  'of an old version': { 'Sec-WebSocket-Version': '8' },
  'with a protocol that is no name': { 'Sec-WebSocket-Protocol': 'a b' },
  'with a protocol twice': { 'Sec-WebSocket-Protocol': 'platform.vpn.v1, platform.vpn.v1' },
}

for (const [name, headers] of Object.entries(BAD_HANDSHAKES)) {
  test(`a handshake ${name} is refused and leases nothing`, async (t) => {
    const { url, token, registry } = await openWorld(t)
    const all = { ...HANDSHAKE, ...headers, Authorization: `Bearer ${await token()}` }
    const [answer] = await exchange(url, requestText('GET /vpn', all))
    assert.deepEqual([answer?.status, answer?.error().code], [400, 'validation_failed'])
    assert.equal(registry.live.size, 0)
  })
}

test('a handshake with another method is refused', async (t) => {
  const { url, token } = await openWorld(t)
  const headers = { ...HANDSHAKE, Authorization: `Bearer ${await token()}` }
  const [answer] = await exchange(url, requestText('POST /vpn', headers))
  assert.equal(answer?.status, 400)
})

test('a handshake with two hosts is refused', async (t) => {
  const { url, token } = await openWorld(t)
  const text = requestText('GET /vpn', { ...HANDSHAKE, Authorization: `Bearer ${await token()}` })
  const [answer] = await exchange(url, text.replace('Host: ', 'Host: 192.0.2.1\r\nHost: '))
  assert.equal(answer?.status, 400)
})

test('the path of the sessions asks for an upgrade', async (t) => {
  const { url } = await openWorld(t)
  const answer = await fetch(`${url}/vpn`)
  assert.deepEqual([answer.status, answer.headers.get('upgrade')], [426, 'websocket'])
})

test('an upgrade elsewhere, or to something else, is a request like any other', async (t) => {
  const { url, token, api } = await openWorld(t)
  const authorization = { Authorization: `Bearer ${await token()}` }
  const [elsewhere] = await exchange(
    url,
    requestText('GET /orders', { ...HANDSHAKE, ...authorization, Connection: 'Upgrade, close' }),
  )
  assert.equal(elsewhere?.status, 200)
  assert.equal(api.seen[0]?.headers.upgrade, undefined)
  const [other] = await exchange(
    url,
    requestText('GET /vpn', { ...HANDSHAKE, Upgrade: 'h2c', Connection: 'Upgrade, close' }),
  )
  assert.equal(other?.status, 426)
})

test('a client that disconnects while it is registered releases its address', async (t) => {
  const { url, token, registry } = await openWorld(t)
  const headers = { ...HANDSHAKE, Authorization: `Bearer ${await token()}` }
  const { hostname, port } = new URL(url)
  const { connect: open } = await import('node:net')
  for (let count = 0; count < 20; count++) {
    const socket = open(Number(port), hostname)
    socket.on('error', () => undefined)
    socket.write(requestText('GET /vpn', headers), () => socket.resetAndDestroy())
  }
  await openSession(url, { token: await token() })
  await eventually('only one session to be left', () => registry.live.size === 1, PATIENT)
})

function requestText(line: string, headers: Readonly<Record<string, string>>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${line} HTTP/1.1\r\n${lines.join('')}\r\n`
}
