import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { eventually } from '../../support/eventually.ts'
import { HOUR, MINUTE, SECOND } from '../../../src/kernel/time.ts'
import { openSession, PATIENT, refusedBy } from './socket.ts'
import { openWorld, type GatewayWorld, type WorldOptions } from './world.ts'

const MIB = 1_048_576

/** A gateway with one session of the user ada. */
async function withSession(t: TestContext, options: WorldOptions = {}, wish = {}) {
  const world = await openWorld(t, options)
  const session = await openSession(world.url, { token: await world.token(wish) })
  return { ...world, session }
}

/** The registry got one end, with this code. */
async function assertReleased({ registry }: Awaited<ReturnType<typeof withSession>>, code: number) {
  await eventually('the address to be released', () => registry.live.size === 0, PATIENT)
  assert.deepEqual(
    registry.ends.map((end) => end.code),
    [code],
  )
}

test('the first frame describes the session', async (t) => {
  const { session, registry } = await withSession(t, { heartbeatMs: 30_000 })
  const [[id, { virtualIp, remoteAddress }] = ['', { virtualIp: '', remoteAddress: '' }]] = registry.live
  assert.deepEqual(session.frames[0], {
    type: 'session',
    session_id: id,
    virtual_ip: virtualIp,
    prefix_length: 16,
    heartbeat_seconds: 30,
    gateway: 'gate-1',
    user: { id: 'id-of-ada', name: 'ada', roles: ['devops'] },
  })
  assert.equal(remoteAddress, '127.0.0.1')
})

/** Lets one interval pass, and waits for the heartbeat that it brings. */
async function nextHeartbeat({ session, advance }: Awaited<ReturnType<typeof withSession>>, seq: number) {
  advance(30_000)
  return session.frame('heartbeat', { seq })
}

test('heartbeats are numbered, and a session that answers them continues', async (t) => {
  const world = await withSession(t, { heartbeatMs: 30_000 })
  for (const seq of [1, 2, 3, 4, 5]) {
    const { at } = await nextHeartbeat(world, seq)
    assert.match(String(at), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    world.session.send({ type: 'heartbeat_ack', seq })
    await answered(world)
  }
  world.advance(30_000)
  await eventually(
    'the round-trip time',
    () => [...world.registry.heard.values()][0]?.rttMs !== null,
    PATIENT,
  )
})

test('a pong counts as an answer to a heartbeat', async (t) => {
  const world = await withSession(t, { heartbeatMs: 30_000 })
  for (const seq of [1, 2, 3, 4, 5]) {
    await nextHeartbeat(world, seq)
    world.session.socket.pong()
    await answered(world)
  }
})

/** What was sent before this has reached the gateway, which has read endings since its clock was put forward. */
async function answered({ session }: Awaited<ReturnType<typeof withSession>>) {
  for (let answer = ''; answer !== 'response';) {
    const id = session.frames.length
    session.send({ type: 'request', id, method: 'GET', path: '/' })
    const frame = await eventually(
      'an answer',
      () => session.frames.find((each) => each['id'] === id),
      PATIENT,
    )
    answer = frame.type
  }
}

test('a ping is answered', async (t) => {
  const { session } = await withSession(t)
  const pong = new Promise((resolve) => session.socket.once('pong', (data) => resolve(String(data))))
  session.socket.ping('are you there?')
  assert.equal(await pong, 'are you there?')
})

test('two heartbeats without an answer end a session with 4408', async (t) => {
  const world = await withSession(t, { heartbeatMs: 30_000 })
  await nextHeartbeat(world, 1)
  await nextHeartbeat(world, 2)
  await answered(world)
  world.advance(30_000)
  assert.equal((await world.session.closed).code, 4408)
  assert.equal(world.session.frames.filter(({ type }) => type === 'heartbeat').length, 2)
  await assertReleased(world, 4408)
})

test('an answer to the first of two heartbeats counts for that one', async (t) => {
  const world = await withSession(t, { heartbeatMs: 30_000 })
  await nextHeartbeat(world, 1)
  await nextHeartbeat(world, 2)
  world.session.send({ type: 'heartbeat_ack', seq: 1 })
  await answered(world)
  await nextHeartbeat(world, 3)
  world.advance(30_000)
  assert.equal((await world.session.closed).code, 4408)
})

const BAD_FRAMES: Readonly<Record<string, string | Buffer>> = {
  'no JSON': '{"type":',
  'a number': '42',
  null: 'null',
  'an array': '[]',
  nothing: '',
  'no type': '{}',
  'an unknown type': '{"type":"hello"}',
  'a type of every object': '{"type":"constructor"}',
  'a frame of the server': '{"type":"heartbeat","seq":1}',
  'an answer to a heartbeat without its number': '{"type":"heartbeat_ack"}',
  'an answer to a heartbeat with half a number': '{"type":"heartbeat_ack","seq":0.5}',
  'a request without a method': '{"type":"request","id":"1","path":"/"}',
  'a request with an unknown method': '{"type":"request","id":"1","method":"CONNECT","path":"/"}',
  'a request without a path': '{"type":"request","id":"1","method":"GET"}',
  'a request to another host': '{"type":"request","id":"1","method":"GET","path":"http://192.0.2.1/"}',
  'a path with a space': '{"type":"request","id":"1","method":"GET","path":"/a b"}',
  'a path with a second line': '{"type":"request","id":"1","method":"GET","path":"/a\\r\\nX-User-ID: root"}',
  'a path with a parent segment': '{"type":"request","id":"1","method":"GET","path":"/a/%2E./b"}',
  'a path with parent segments and backslashes':
    '{"type":"request","id":"1","method":"GET","path":"/a\\..\\..\\b"}',
  'a path that names a host': '{"type":"request","id":"1","method":"GET","path":"//evil.example/a"}',
  'a request without an id': '{"type":"request","method":"GET","path":"/"}',
  'headers in a list': '{"type":"request","id":"1","method":"GET","path":"/","headers":["a"]}',
  'a header that is no text': '{"type":"request","id":"1","method":"GET","path":"/","headers":{"a":1}}',
  'a header with a second line':
    '{"type":"request","id":"1","method":"GET","path":"/","headers":{"a":"b\\r\\nX-User-ID: root"}}',
  'a header with a space in its name':
    '{"type":"request","id":"1","method":"GET","path":"/","headers":{"x-user-id ":"root"}}',
  'a request with two paths': '{"type":"request","id":"1","method":"GET","path":"/a","path":"/b"}',
  'a request with two bodies': '{"type":"request","id":"1","method":"POST","path":"/","body":1,"body":2}',
  'a request with two bodies that are spelled differently': String.raw`{"type":"request","id":"1","method":"POST","path":"/","body":1,"bod\u0079":2}`,
  'a header twice':
    '{"type":"request","id":"1","method":"POST","path":"/","headers":{"a":"1","a":"2"},"body":{}}',
  'bytes instead of text': Buffer.from('{"type":"heartbeat_ack","seq":1}'),
}

for (const [name, frame] of Object.entries(BAD_FRAMES)) {
  test(`${name} ends a session with 4400`, async (t) => {
    const world = await withSession(t)
    world.session.socket.send(frame)
    assert.equal((await world.session.closed).code, 4400)
    await assertReleased(world, 4400)
    assert.deepEqual(world.api.seen, [])
  })
}

test('a frame larger than 64 KiB ends a session with 1009', async (t) => {
  const world = await withSession(t)
  world.session.socket.send('x'.repeat(64 * 1_024 + 1))
  assert.equal((await world.session.closed).code, 1009)
  await assertReleased(world, 1009)
})

test('a frame of 64 KiB is taken', async (t) => {
  const { session, api } = await withSession(t)
  const frame = { type: 'request', id: '1', method: 'POST', path: '/', body: '' }
  const body = 'x'.repeat(64 * 1_024 - JSON.stringify(frame).length)
  session.send({ ...frame, body })
  await session.frame('response')
  assert.equal(api.seen[0]?.body, JSON.stringify(body))
})

test('text that is not UTF-8 ends a session with 1007', async (t) => {
  const world = await withSession(t)
  world.session.socket.send(Buffer.from([0xff, 0xfe]), { binary: false })
  assert.equal((await world.session.closed).code, 1007)
  await assertReleased(world, 1007)
})

test('a client that disconnects releases its address', async (t) => {
  const world = await withSession(t)
  world.session.socket.close(1000)
  await assertReleased(world, 1000)
})

test('a client whose connection breaks releases its address', async (t) => {
  const world = await withSession(t)
  world.session.socket.terminate()
  await assertReleased(world, 1006)
})

for (const [code, reason] of [
  [4401, 'the password was changed'],
  [4403, 'disconnected by an operator'],
  [4409, 'replaced'],
] as const) {
  test(`a session that another process has ended is closed with ${code}, and once`, async (t) => {
    const world = await withSession(t)
    const [id = ''] = world.registry.live.keys()
    world.registry.endElsewhere(id, code, reason)
    assert.deepEqual(await world.session.closed, { code, reason })
    await eventually(
      'the acknowledgement',
      async () => (await world.registry.listEnds()).length === 0,
      PATIENT,
    )
    await assertReleased(world, code)
  })
}

test('a session that is ended before it has its connection is closed as soon as it has it', async (t) => {
  const world: GatewayWorld = await openWorld(t, {
    async afterRegister(id) {
      world.registry.endElsewhere(id, 4403, 'disconnected by an operator')
      const isAcknowledged = async () => (await world.registry.listEnds()).length === 0
      await eventually('the acknowledgement', isAcknowledged, PATIENT)
    },
  })
  const session = await openSession(world.url, { token: await world.token() })
  assert.equal((await session.closed).code, 4403)
})

test('a second session of a device takes the place and the address of the first', async (t) => {
  const { url, token, registry } = await openWorld(t)
  const first = await openSession(url, { token: await token(), query: '?device=laptop' })
  const second = await openSession(url, { token: await token(), query: '?device=laptop' })
  assert.equal((await first.closed).code, 4409)
  assert.equal(second.frames[0]?.['virtual_ip'], first.frames[0]?.['virtual_ip'])
  assert.equal(registry.live.size, 1)
})

test('a session is warned five minutes before its token expires, and ends with it', async (t) => {
  const world = await withSession(t)
  await answered(world)
  assert.deepEqual(
    world.session.frames.map(({ type }) => type),
    ['session', 'response'],
  )
  world.advance(56 * MINUTE)
  const { at } = await world.session.frame('expiring')
  assert.ok(Math.abs(Date.parse(String(at)) - Date.now() - HOUR) < 5 * MINUTE)
  world.advance(5 * MINUTE)
  assert.equal((await world.session.closed).code, 4401)
  assert.equal(world.session.frames.filter(({ type }) => type === 'expiring').length, 1)
  await assertReleased(world, 4401)
})

test('a token with less than five minutes left brings a warning after the session frame', async (t) => {
  const { session } = await withSession(t, {}, { ttlMs: 4 * MINUTE })
  await session.frame('expiring')
  assert.deepEqual(
    session.frames.map(({ type }) => type),
    ['session', 'expiring'],
  )
})

test('a renewed session outlives its first token, and has the roles of the second', async (t) => {
  const world = await withSession(t)
  const { session, advance, token, api, registry } = world
  advance(56 * MINUTE)
  await session.frame('expiring')
  session.send({ type: 'renew', token: await token({ roles: ['auditor'] }) })
  const { at } = await session.frame('renewed')
  assert.ok(Math.abs(Date.parse(String(at)) - Date.now() - 116 * MINUTE) < 5 * MINUTE)
  advance(50 * MINUTE)
  await answered(world)
  assert.equal(api.seen[0]?.headers['x-user-roles'], 'auditor')
  assert.equal(registry.live.size, 1)
  advance(6 * MINUTE)
  await eventually(
    'a second warning',
    () => session.frames.filter(({ type }) => type === 'expiring').length === 2,
    PATIENT,
  )
})

test('the token of another user does not renew a session, and does not end it', async (t) => {
  const { session, token } = await withSession(t)
  session.send({ type: 'renew', token: await token({ user: 'eve' }) })
  assert.equal((await session.frame('error'))['code'], 'forbidden')
  session.send({ type: 'request', id: 1, method: 'GET', path: '/' })
  await session.frame('response', { id: 1 })
})

for (const [name, make] of Object.entries({
  'no token': async () => undefined,
  'a token that is no text': async () => 1,
  'an empty token': async () => '',
  'a forged token': async () => 'not.a.token',
  'a token without a role': (world: Awaited<ReturnType<typeof openWorld>>) =>
    world.token({ roles: ['king'] }),
})) {
  test(`a renewal with ${name} ends a session with 4401`, async (t) => {
    const world = await withSession(t)
    world.session.send({ type: 'renew', token: await make(world) })
    assert.equal((await world.session.closed).code, 4401)
    await assertReleased(world, 4401)
  })
}

test('a client that does not read is closed with 4429 or disconnected, and releases its address', async (t) => {
  const world = await withSession(t)
  const text = JSON.stringify('x'.repeat(MIB - 2))
  world.api.reply = (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(text)
  }
  world.session.socket.pause()
  for (let id = 0; world.registry.live.size > 0 && id < 2_000; id++) {
    world.session.send({ type: 'request', id, method: 'GET', path: '/' })
    if (id % 10 === 9)
      await eventually('answers', () => world.api.seen.length > id || world.registry.live.size === 0, PATIENT)
  }
  await assertReleased(world, 4429)
  world.session.socket.resume()
  assert.ok([4429, 1006].includes((await world.session.closed).code))
})

test('a client that sends pings and does not read the pongs is closed too', async (t) => {
  const world = await withSession(t)
  world.session.socket.pause()
  const ping = Buffer.alloc(125)
  await eventually(
    'the end of the session',
    () => {
      for (let count = 0; count < 20_000 && world.session.socket.bufferedAmount < 8 * MIB; count++) {
        world.session.socket.ping(ping)
      }
      return world.registry.live.size === 0
    },
    PATIENT,
  )
  await assertReleased(world, 4429)
})

test('a gateway that stops closes all sessions with 1001, refuses further ones, and leaves', async (t) => {
  const mayLeave = Promise.withResolvers<void>()
  const world = await openWorld(t, { beforeLeave: () => mayLeave.promise })
  const token = await world.token()
  const sessions = await Promise.all(Array.from({ length: 200 }, () => openSession(world.url, { token })))
  const stopped = world.close()
  const refused = await refusedBy(world.url, { token })
  assert.deepEqual([refused.status, refused.body.code], [503, 'draining'])
  const closings = await Promise.all(sessions.map(({ closed }) => closed))
  mayLeave.resolve()
  await stopped
  assert.deepEqual(new Set(closings.map(({ code }) => code)), new Set([1001]))
  assert.equal(world.registry.ends.length, 200)
  assert.equal(world.registry.isJoined, false)
  await world.close()
})

test('a gateway that stops cuts the connection of a client that does not answer', async (t) => {
  const world = await withSession(t)
  world.session.socket.pause()
  // By default the library cuts a connection 30 s after its close frame.
  const library = pause(29 * SECOND, 'the library', { ref: false })
  const gateway = world.close().then(() => 'the gateway')
  assert.equal(await Promise.race([gateway, library]), 'the gateway')
  assert.deepEqual(
    world.registry.ends.map(({ code }) => code),
    [1001],
  )
  world.session.socket.terminate()
})

test('a gateway that cannot say that it lives ends its sessions before others take their addresses', async (t) => {
  const world = await withSession(t, { heartbeatMs: HOUR / 4 })
  await eventually('a first sign of life', () => world.registry.beats > 0, PATIENT)
  world.registry.setAway(true)
  world.advance(HOUR / 2)
  await eventually('a call to fail', () => world.registry.missed > 0, PATIENT)
  assert.equal(world.session.socket.readyState, world.session.socket.OPEN)
  world.advance(HOUR / 2 - MINUTE)
  assert.equal((await world.session.closed).code, 1001)
  world.registry.setAway(false)
  await assertReleased(world, 1001)
})

test('a gateway stops although the registry is unavailable', async (t) => {
  const world = await withSession(t)
  world.registry.setAway(true)
  await world.close()
  assert.equal((await world.session.closed).code, 1001)
  assert.ok(world.logged.some(({ message }) => message.startsWith('the gateway could not leave')))
})

test('an end that the registry did not accept is retried', async (t) => {
  const world = await withSession(t)
  world.registry.setAway(true)
  world.session.socket.close(1000)
  await eventually('a call to fail', () => world.registry.missed > 0, PATIENT)
  assert.equal(world.registry.live.size, 1)
  world.registry.setAway(false)
  await assertReleased(world, 1000)
})

test('the log has one line for the start of a session and one for its end, without the token', async (t) => {
  const world = await withSession(t)
  world.session.socket.close(1000)
  await assertReleased(world, 1000)
  const [opened, closed] = world.logged.filter(({ message }) => message.startsWith('session '))
  assert.equal(opened?.message, 'session opened')
  assert.equal(closed?.message, 'session closed')
  assert.equal(closed?.['code'], 1000)
  assert.equal(closed?.['session_id'], opened?.['session_id'])
  assert.doesNotMatch(JSON.stringify(world.logged), /eyJ/)
})

test('the metrics count sessions, connections, frames and ends', async (t) => {
  const world = await withSession(t)
  assert.match(await world.metrics(), /^platform_vpn_sessions 1$/m)
  world.session.socket.send('bad')
  await assertReleased(world, 4400)
  const text = await world.metrics()
  assert.match(text, /^platform_vpn_sessions 0$/m)
  assert.match(text, /^platform_vpn_connections_total\{outcome="opened"\} 1$/m)
  assert.match(text, /^platform_vpn_closes_total\{code="4400"\} 1$/m)
  assert.match(text, /^platform_vpn_frames_total\{direction="in",type="bad"\} 1$/m)
  assert.match(text, /^platform_vpn_frames_total\{direction="out",type="session"\} 1$/m)
})
