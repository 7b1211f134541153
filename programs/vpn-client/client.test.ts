import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { framesOf, vpnWorld } from '../../test/support/vpn-world.ts'

describe('the VPN client connecting', { concurrency: 4 }, () => {
  test('connects to the first gateway with its token and device, and reports the address', async (t) => {
    const world = await vpnWorld(t)
    world.start({ device: 'laptop.1' })
    await world.next('connected', 0)
    assert.deepEqual(world.events, [
      { at: '2026-01-31T02:00:00.000Z', state: 'connecting', gateway: world.gateways[0]?.url },
      {
        at: '2026-01-31T02:00:00.000Z',
        state: 'connected',
        gateway: world.gateways[0]?.url,
        virtual_ip: '100.64.0.2',
      },
    ])
    const [attempt] = world.gateways[0]?.attempts ?? []
    assert.equal(attempt?.url, '/vpn?device=laptop.1')
    assert.equal(attempt?.headers.authorization, `Bearer ${world.token}`)
    assert.equal(world.gateways[1]?.attempts.length, 0)
  })

  test('connects to the next gateway at once when the first one is down', async (t) => {
    const world = await vpnWorld(t)
    await world.gateways[0]?.vanish()
    world.start({ failback: false })
    await world.next('connected', 1)
    assert.deepEqual(world.reported(), [
      'connecting 0',
      'disconnected 0 not reached (ECONNREFUSED)',
      'connecting 1',
      'connected 1',
    ])
  })

  test('waits five seconds for a gateway that does not answer', async (t) => {
    const world = await vpnWorld(t)
    world.script(0, { mute: true })
    world.start({ failback: false })
    await world.clock.pass(5_000)
    await world.next('connected', 1)
    assert.ok(world.reported().includes('disconnected 0 no session within 5 s'))
  })

  test('retries with growing pauses of up to 30 s, and reports changes only', async (t) => {
    const world = await vpnWorld(t)
    for (const gateway of world.gateways) await gateway.vanish()
    world.start()
    for (const pause of [1_000, 2_000, 4_000, 8_000, 16_000, 30_000]) await world.clock.pass(pause)
    await world.clock.pending(30_000)
    await world.gateways[1]?.comeBack()
    await world.clock.pass(30_000)
    await world.next('connected', 1)
    assert.deepEqual(world.reported(), [
      'connecting 0',
      'disconnected 0 not reached (ECONNREFUSED)',
      'connecting 1',
      'disconnected 1 not reached (ECONNREFUSED)',
      'connected 1',
    ])
  })

  const REFUSALS = [
    [
      { status: 503, body: '{"code":"pool_exhausted","message":"No address is free."}' },
      'refused with 503: No address is free.',
    ],
    [{ status: 429 }, 'refused with 429'],
    [{ status: 500, body: '<html>' }, 'refused with 500'],
    [{ status: 200, body: '{"message":7}' }, 'refused with 200'],
    [{ status: 404, body: 'null' }, 'refused with 404'],
  ] as const
  for (const [refuse, reason] of REFUSALS) {
    test(`tries the next gateway after an answer ${refuse.status}, and reports why`, async (t) => {
      const world = await vpnWorld(t)
      world.script(0, { refuse })
      world.start({ failback: false })
      await world.next('connected', 1)
      assert.ok(world.reported().includes(`disconnected 0 ${reason}`), world.reported().join('\n'))
    })
  }

  test('follows no redirection', async (t) => {
    const world = await vpnWorld(t, 3)
    const elsewhere = `${world.gateways[2]?.url}/vpn`
    world.script(0, { refuse: { status: 302, location: elsewhere } })
    world.start({ failback: false })
    await world.next('connected', 1)
    assert.equal(world.gateways[2]?.attempts.length, 0)
    assert.ok(world.reported().includes('disconnected 0 refused with 302: redirections are not followed'))
  })

  test('does not repeat its token when a gateway does', async (t) => {
    const world = await vpnWorld(t)
    const body = JSON.stringify({ message: `bad token ${world.token}` })
    world.script(0, { refuse: { status: 400, body } })
    world.script(1, {
      greeting: (session) => session.close(4400, world.token.slice(0, 120)),
    })
    world.token = 'short-token'
    world.start()
    await world.next('disconnected', 1)
    assert.doesNotMatch(JSON.stringify(world.events), /short-token/)
  })
})

describe('a request of the VPN client', { concurrency: 4 }, () => {
  test('goes out as a frame and comes back with its own answer, whatever the order and the status', async (t) => {
    const world = await vpnWorld(t)
    const client = world.start()
    await world.next('connected', 0)
    const session = await world.session(0)
    const order = client.request('POST', '/orders', {
      headers: { 'idempotency-key': 'k' },
      body: { order_id: 'a' },
    })
    const alerts = client.request('GET', '/alerts')
    const [first, second] = await framesOf(session, 'request', 2)
    assert.deepEqual(first, {
      type: 'request',
      id: first?.['id'],
      method: 'POST',
      path: '/orders',
      headers: { 'idempotency-key': 'k' },
      body: { order_id: 'a' },
    })
    session.send({
      type: 'response',
      id: second?.['id'],
      status: 503,
      headers: {},
      body: { code: 'unavailable' },
    })
    session.send({ type: 'response', id: first?.['id'], status: 201, headers: { etag: '"1"' }, body: 'made' })
    assert.equal((await alerts).status, 503)
    const { status, headers, body } = await order
    assert.deepEqual({ status, headers, body }, { status: 201, headers: { etag: '"1"' }, body: 'made' })
  })

  test('fails with the code of an error frame', async (t) => {
    const world = await vpnWorld(t)
    const client = world.start()
    await world.next('connected', 0)
    const session = await world.session(0)
    const answer = client.request('GET', '/orders')
    const [request] = await framesOf(session, 'request')
    session.send({ type: 'error', id: request?.['id'], code: 'too_many_requests', message: 'Too many.' })
    await assert.rejects(answer, { code: 'too_many_requests', message: 'Too many.' })
  })

  test('fails when the session is lost, and when there is none', async (t) => {
    const world = await vpnWorld(t, 1)
    const client = world.start()
    await assert.rejects(client.request('GET', '/orders'), { code: 'no_session' })
    await world.next('connected', 0)
    const session = await world.session(0)
    const answer = client.request('GET', '/orders')
    await framesOf(session, 'request')
    session.drop()
    await assert.rejects(answer, { code: 'no_session', message: /the connection broke/ })
  })

  test('that is too large for a frame fails alone', async (t) => {
    const world = await vpnWorld(t)
    const client = world.start()
    await world.next('connected', 0)
    const session = await world.session(0)
    await assert.rejects(client.request('POST', '/orders', { body: 'x'.repeat(65_536) }), {
      code: 'payload_too_large',
    })
    session.send({ type: 'heartbeat', seq: 1 })
    await framesOf(session, 'heartbeat_ack')
    assert.equal(session.frames.length, 1)
  })
})

describe('stopping the VPN client', { concurrency: 4 }, () => {
  test('closes the session with 1000', async (t) => {
    const world = await vpnWorld(t)
    const client = world.start()
    await world.next('connected', 0)
    const session = await world.session(0)
    await Promise.all([client.stop(), client.stop()])
    assert.deepEqual(session.closed, { code: 1000 })
    assert.deepEqual(await client.ended, { code: 1000, reason: 'stopped' })
    assert.equal(world.reported().at(-1), 'disconnected 0 stopped')
    assert.deepEqual(world.clock.waits(), [])
  })

  test('takes less than a second when the gateway does not answer', async (t) => {
    const world = await vpnWorld(t)
    const client = world.start()
    await world.next('connected', 0)
    ;(await world.session(0)).freeze()
    const stopped = client.stop()
    await world.clock.pass(800)
    await stopped
  })

  test('gives up an attempt that is under way', async (t) => {
    const world = await vpnWorld(t)
    world.script(0, { mute: true })
    const client = world.start()
    await world.next('connecting', 0)
    await client.stop()
    assert.deepEqual(world.reported(), ['connecting 0', 'disconnected 0 stopped'])
    assert.equal(world.gateways[1]?.attempts.length, 0)
  })

  test('ends the waiting while no gateway answers', async (t) => {
    const world = await vpnWorld(t, 1)
    await world.gateways[0]?.vanish()
    const client = world.start()
    await world.next('disconnected', 0)
    await client.stop()
    assert.deepEqual(world.clock.waits(), [])
  })
})
