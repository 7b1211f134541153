import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { eventually } from '../../test/support/eventually.ts'
import { sessionFrame } from '../../test/support/gateway-double.ts'
import { framesOf, vpnWorld, type VpnWorld } from '../../test/support/vpn-world.ts'
import type { VpnClientOptions } from './client.ts'

const PROBE_EVERY_MS = 5_000
const PATIENCE = { timeoutMs: 120_000 }

/** Connected with the second gateway while the first is away; its next probe is due. */
async function onSecond(t: TestContext, options: Partial<VpnClientOptions> = {}) {
  const world = await vpnWorld(t)
  await world.gateways[0]?.vanish()
  const client = world.start(options)
  await world.next('connected', 1)
  await world.clock.pending(PROBE_EVERY_MS)
  return { world, client }
}

/** The first gateway is asked so often that it has answered for 30 s. */
async function passProbes({ clock }: VpnWorld, count = 7): Promise<void> {
  for (let probe = 0; probe < count; probe += 1) await clock.pass(PROBE_EVERY_MS)
}

describe('the way back to the first gateway', { concurrency: 4 }, () => {
  test('is taken when that has answered for 30 s', async (t) => {
    const { world } = await onSecond(t)
    const old = await world.session(1)
    await world.gateways[0]?.comeBack()
    await passProbes(world)
    await world.next('connected', 0)
    assert.equal(world.gateways[0]?.probes, 7)
    assert.deepEqual(world.reported().slice(-2), [
      'disconnected 1 going back to the first gateway',
      'connected 0',
    ])
    const closed = await eventually('the old session ends', () => old.closed, PATIENCE)
    assert.deepEqual(closed, { code: 1000 })
  })

  test('starts to count again after every failed probe', async (t) => {
    const { world } = await onSecond(t)
    await world.gateways[0]?.comeBack()
    await passProbes(world, 6)
    await world.clock.pending(PROBE_EVERY_MS)
    world.script(0, { health: 503 })
    await passProbes(world, 1)
    await world.clock.pending(PROBE_EVERY_MS)
    world.script(0, {})
    await passProbes(world, 6)
    await world.clock.pending(PROBE_EVERY_MS)
    assert.equal(world.gateways[0]?.attempts.length, 0)
    await passProbes(world, 1)
    await world.next('connected', 0)
  })

  test('is not taken when it is switched off', async (t) => {
    const world = await vpnWorld(t)
    await world.gateways[0]?.vanish()
    world.start({ failback: false })
    await world.next('connected', 1)
    const heartbeatLimit = 3_605_000
    await eventually(
      'only a heartbeat is waited for',
      () => isDeepStrictEqual(world.clock.waits(), [heartbeatLimit]),
      PATIENCE,
    )
  })

  test('costs nothing when the first answers but opens no session', async (t) => {
    const { world, client } = await onSecond(t)
    world.script(0, { refuse: { status: 503 } })
    await world.gateways[0]?.comeBack()
    await passProbes(world)
    await eventually('it was tried', () => world.gateways[0]?.attempts.length === 1, PATIENCE)
    const session = await world.session(1)
    const answer = client.request('GET', '/orders')
    const [request] = await framesOf(session, 'request')
    session.send({ type: 'response', id: request?.['id'], status: 200 })
    assert.equal((await answer).status, 200)
    assert.equal(world.reported().at(-1), 'connected 1')
    // The first probe after an attempt comes at once.
    await world.clock.pending(PROBE_EVERY_MS)
    world.script(0, {})
    await passProbes(world, 6)
    await world.next('connected', 0)
  })

  test('waits for what is in flight, and holds back what comes meanwhile', async (t) => {
    const { world, client } = await onSecond(t)
    const second = await world.session(1)
    const early = client.request('GET', '/orders')
    const [request] = await framesOf(second, 'request')
    await world.gateways[0]?.comeBack()
    await passProbes(world)
    await eventually('it waits for quiet', () => world.gateways[0]?.probes === 7, PATIENCE)
    await world.clock.pending(5_000)
    const late = client.request('GET', '/alerts')
    second.send({ type: 'response', id: request?.['id'], status: 200, body: 'early' })
    assert.equal((await early).body, 'early')
    await world.next('connected', 0)
    const first = await world.session(0)
    const [lateRequest] = await framesOf(first, 'request')
    first.send({ type: 'response', id: lateRequest?.['id'], status: 200, body: 'late' })
    assert.equal((await late).body, 'late')
    assert.equal(second.frames.filter(({ type }) => type === 'request').length, 1)
  })

  test('leads over the replacement of the device’s own session', async (t) => {
    const { world } = await onSecond(t, { device: 'laptop' })
    const old = await world.session(1)
    world.script(0, {
      greeting: (session) => {
        old.close(4409)
        session.send(sessionFrame())
      },
    })
    await world.gateways[0]?.comeBack()
    await passProbes(world)
    await world.next('connected', 0)
  })
})
