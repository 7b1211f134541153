import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sessionFrame } from '../../test/support/gateway-double.ts'
import { framesOf, vpnWorld } from '../../test/support/vpn-world.ts'

describe('a session of the VPN client', { concurrency: 4 }, () => {
  test('is replaced by one at the next gateway when the connection breaks', async (t) => {
    const world = await vpnWorld(t)
    world.start({ failback: false })
    await world.next('connected', 0)
    world.clock.advance(5_000)
    ;(await world.session(0)).drop()
    assert.equal((await world.next('disconnected', 0)).reason, 'the connection broke')
    await world.clock.pass(1_000)
    await world.next('connected', 1)
  })

  test('goes back to the first gateway when the last one is lost', async (t) => {
    const world = await vpnWorld(t)
    await world.gateways[0]?.vanish()
    world.start({ failback: false })
    await world.next('connected', 1)
    await world.gateways[0]?.comeBack()
    world.clock.advance(5_000)
    ;(await world.session(1)).close(1001, 'the gateway stops')
    assert.equal(
      (await world.next('disconnected', 1)).reason,
      'the gateway is going away (1001: the gateway stops)',
    )
    await world.clock.pass(1_000)
    await world.next('connected', 0)
  })

  test('that ends as soon as it began does not come back at once for ever', async (t) => {
    const world = await vpnWorld(t, 1)
    world.script(0, {
      greeting: (session) => {
        session.send(sessionFrame())
        setImmediate(() => session.drop())
      },
    })
    world.start()
    for (const pause of [1_000, 2_000, 4_000, 8_000, 16_000]) await world.clock.pass(pause)
  })

  test('answers heartbeats, and lives as long as they come', async (t) => {
    const world = await vpnWorld(t)
    world.script(0, {
      greeting: (session) => session.send(sessionFrame({ heartbeat_seconds: 30 })),
    })
    world.start({ failback: false })
    await world.next('connected', 0)
    const session = await world.session(0)
    for (const seq of [1, 2, 3]) {
      world.clock.advance(34_000)
      session.send({ type: 'heartbeat', seq, at: '2026-01-31T02:00:30.000Z' })
      assert.deepEqual((await framesOf(session, 'heartbeat_ack', seq)).at(-1), { type: 'heartbeat_ack', seq })
    }
    await world.clock.pass(35_000)
    assert.equal((await world.next('disconnected', 0)).reason, 'no heartbeat for 35 s')
    await world.clock.pass(1_000)
    await world.next('connected', 1)
  })

  for (const [code, reason] of [
    [4403, 'disconnected by an operator (4403)'],
    [4409, 'another connection of the same device has taken over (4409)'],
  ] as const) {
    test(`is the last one when it ends with ${code}`, async (t) => {
      const world = await vpnWorld(t)
      const client = world.start()
      await world.next('connected', 0)
      ;(await world.session(0)).close(code)
      const end = await client.ended
      assert.deepEqual([end.code, end.reason], [code, reason])
      assert.equal(world.reported().at(-1), `disconnected 0 ${reason}`)
      assert.equal(world.gateways[1]?.attempts.length, 0)
      await assert.rejects(client.request('GET', '/orders'), { code: 'no_session' })
    })
  }

  test('that was replaced by a forgotten attempt of its own client is opened again', async (t) => {
    const world = await vpnWorld(t)
    world.script(0, { mute: true })
    world.start({ failback: false })
    await world.clock.pass(5_000)
    await world.next('connected', 1)
    world.script(0, {})
    world.clock.advance(5_000)
    ;(await world.session(1)).close(4409)
    await world.clock.pass(1_000)
    await world.next('connected', 0)
  })

  const NONSENSE: Readonly<Record<string, string | Buffer>> = {
    'no JSON': 'hello',
    'half a frame': '{"type":"heart',
    'a list': '[]',
    null: 'null',
    'a number': '7',
    'no type': '{}',
    'a heartbeat without a number': '{"type":"heartbeat"}',
    'a response without a status': '{"type":"response","id":"1"}',
    'a response without a request and with a bad status': '{"type":"response","id":"1","status":"ok"}',
    'a second session': JSON.stringify(sessionFrame()),
    bytes: Buffer.from([0, 1, 2]),
    'more than it may hold': 'x'.repeat(9 * 1_024 * 1_024),
  }
  for (const [what, frame] of Object.entries(NONSENSE)) {
    test(`goes on to the next gateway when a frame is ${what}`, async (t) => {
      const world = await vpnWorld(t)
      world.start({ failback: false })
      await world.next('connected', 0)
      ;(await world.session(0)).send(frame)
      assert.match((await world.next('disconnected', 0)).reason ?? '', /^the gateway sent a /)
      await world.clock.pass(1_000)
      await world.next('connected', 1)
    })
  }

  test('goes on to the next gateway when what comes is no WebSocket', async (t) => {
    const world = await vpnWorld(t)
    world.start({ failback: false })
    await world.next('connected', 0)
    ;(await world.session(0)).sendRaw(Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'))
    assert.equal((await world.next('disconnected', 0)).reason, 'the gateway sent a frame that cannot be read')
    await world.clock.pass(1_000)
    await world.next('connected', 1)
  })

  for (const first of [
    '{"type":"heartbeat","seq":1}',
    JSON.stringify(sessionFrame({ virtual_ip: 'ten' })),
    'hi',
    JSON.stringify(sessionFrame({ heartbeat_seconds: 0 })),
  ]) {
    test(`does not begin with ${first.slice(0, 40)}`, async (t) => {
      const world = await vpnWorld(t)
      world.script(0, { greeting: (session) => session.send(first) })
      world.start({ failback: false })
      await world.next('connected', 1)
      assert.ok(
        world
          .reported()
          .includes('disconnected 0 no gateway answers there (its first frame is not a session frame)'),
      )
    })
  }

  test('leaves frames alone that a newer gateway may send', async (t) => {
    const world = await vpnWorld(t)
    world.start()
    await world.next('connected', 0)
    const session = await world.session(0)
    session.send({ type: 'weather', sky: 'blue' })
    session.send({ type: 'toString' })
    session.send({ type: 'error', code: 'whatever', message: 'without a request' })
    session.send({ type: 'renewed', at: 'never' })
    session.send({ type: 'heartbeat', seq: 1, mood: 'good' })
    await framesOf(session, 'heartbeat_ack')
    assert.deepEqual(world.reported(), ['connecting 0', 'connected 0'])
  })
})
