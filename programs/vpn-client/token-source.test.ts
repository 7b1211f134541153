import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sessionFrame } from '../../test/support/gateway-double.ts'
import { framesOf, tokenUntil, vpnWorld } from '../../test/support/vpn-world.ts'
import { Secret } from '../../src/kernel/secret.ts'

describe('the VPN client with a bad token', { concurrency: 4 }, () => {
  const UNAUTHENTICATED = {
    refuse: { status: 401, body: '{"code":"unauthenticated","message":"The token has expired."}' },
  }

  test('is reported, and the client connects when the file has another one', async (t) => {
    const world = await vpnWorld(t, 1)
    const [gateway] = world.gateways
    world.script(0, UNAUTHENTICATED)
    world.start()
    await world.clock.pass(1_000)
    for (const pause of [1_000, 2_000, 4_000, 5_000, 5_000]) await world.clock.pass(pause)
    assert.equal(gateway?.attempts.length, 1)
    world.script(0, {})
    world.token = tokenUntil(2_000)
    await world.clock.pass(5_000)
    await world.next('connected', 0)
    assert.deepEqual(world.reported(), [
      'connecting 0',
      'disconnected 0 refused with 401: The token has expired.',
      'disconnected 0 waiting for another token',
      'connecting 0',
      'connected 0',
    ])
    assert.equal(gateway?.attempts.at(-1)?.headers.authorization, `Bearer ${world.token}`)
  })

  test('tries the same one again after five minutes: a clock may have been wrong', async (t) => {
    const world = await vpnWorld(t, 1)
    world.script(0, UNAUTHENTICATED)
    world.start()
    await world.clock.pass(1_000)
    world.script(0, {})
    await world.next('disconnected', 0)
    await world.next('disconnected', 0)
    world.clock.advance(5 * 60_000)
    await world.next('connected', 0)
  })

  test('asks the other gateways too before it believes it', async (t) => {
    const world = await vpnWorld(t)
    world.script(0, UNAUTHENTICATED)
    world.start({ failback: false })
    await world.next('connected', 1)
  })

  test('waits for another one when a session ends with 4401', async (t) => {
    const world = await vpnWorld(t)
    world.start()
    await world.next('connected', 0)
    const session = await world.session(0)
    session.close(4401, 'the roles of the user have changed')
    assert.equal(
      (await world.next('disconnected', 0)).reason,
      'the token expired or was revoked (4401: the roles of the user have changed)',
    )
    await world.clock.pass(1_000)
    assert.equal((await world.next('disconnected', 0)).reason, 'waiting for another token')
    assert.equal(world.gateways[0]?.attempts.length, 1)
    world.token = tokenUntil(2_000)
    await world.clock.pass(1_000)
    await world.next('connected', 0)
  })

  test('reports that it cannot be read, and reads it again', async (t) => {
    const world = await vpnWorld(t, 1)
    let isThere = false
    const readToken = () => {
      if (!isThere) throw new Error('no such file')
      return new Secret(world.token)
    }
    world.start({ readToken })
    await world.clock.pass(1_000)
    await world.clock.pending(2_000)
    isThere = true
    await world.clock.pass(2_000)
    await world.next('connected', 0)
    assert.equal(world.reported()[0], 'disconnected 0 the token cannot be read: no such file')
  })

  test('never sends what is no token, nor shows it', async (t) => {
    const world = await vpnWorld(t, 1)
    world.token = 'two\r\nlines'
    world.start()
    await world.clock.pass(1_000)
    await world.clock.pending(2_000)
    world.token = tokenUntil(1_000)
    await world.clock.pass(2_000)
    await world.next('connected', 0)
    assert.deepEqual(world.reported(), [
      'disconnected 0 the token cannot be read: the text is not a token',
      'connecting 0',
      'connected 0',
    ])
  })
})

describe('a token that ends soon', { concurrency: 4 }, () => {
  const EXPIRING = { type: 'expiring', at: '2026-01-31T03:00:00.000Z' }

  test('is renewed in the session when a newer one is there, and not before', async (t) => {
    const world = await vpnWorld(t)
    world.start()
    await world.next('connected', 0)
    const session = await world.session(0)
    session.send(EXPIRING)
    assert.equal((await world.next('expiring', 0)).reason, 'the token ends at 2026-01-31T03:00:00.000Z')
    await world.clock.pass(5_000)
    for (const notNewer of [tokenUntil(1_000, { jti: 'other' }), tokenUntil(999), 'no-jwt']) {
      world.token = notNewer
      await world.clock.pass(5_000)
    }
    world.token = tokenUntil(2_000)
    await world.clock.pass(5_000)
    assert.deepEqual(await framesOf(session, 'renew'), [{ type: 'renew', token: world.token }])
    session.send({ type: 'renewed', at: '2026-01-31T04:00:00.000Z' })
    await world.next('connected', 0)
    assert.equal(world.gateways[0]?.attempts.length, 1)
  })

  test('is renewed again when the newer one ends soon too', async (t) => {
    const world = await vpnWorld(t)
    world.start()
    await world.next('connected', 0)
    const session = await world.session(0)
    world.token = tokenUntil(2_000)
    session.send(EXPIRING)
    await framesOf(session, 'renew')
    world.token = tokenUntil(3_000)
    session.send({ type: 'renewed', at: '2026-01-31T03:01:00.000Z' })
    session.send({ ...EXPIRING, at: '2026-01-31T03:01:00.000Z' })
    await framesOf(session, 'renew', 2)
    session.send({ type: 'renewed', at: '2026-01-31T04:00:00.000Z' })
    await world.next('connected', 0)
    await world.next('connected', 0)
    assert.deepEqual(world.reported(), [
      'connecting 0',
      'connected 0',
      'expiring 0 the token ends at 2026-01-31T03:00:00.000Z',
      'connected 0',
      'expiring 0 the token ends at 2026-01-31T03:01:00.000Z',
      'connected 0',
    ])
  })

  test('is reported after the connection when the gateway warns at once', async (t) => {
    const world = await vpnWorld(t)
    world.script(0, {
      greeting: (session) => {
        session.send(sessionFrame())
        session.send(EXPIRING)
      },
    })
    world.start()
    await world.next('expiring', 0)
    assert.deepEqual(world.reported().slice(0, 2), ['connecting 0', 'connected 0'])
  })

  test('goes on being looked for when the gateway does not take the new one', async (t) => {
    const world = await vpnWorld(t)
    world.start()
    await world.next('connected', 0)
    const session = await world.session(0)
    world.token = tokenUntil(2_000)
    session.send(EXPIRING)
    await framesOf(session, 'renew')
    session.send({ type: 'error', code: 'forbidden', message: `not yours: ${world.token}` })
    await world.next('expiring', 0)
    assert.equal(
      (await world.next('expiring', 0)).reason,
      'another token was not accepted: not yours: **redacted**',
    )
    await world.clock.pass(5_000)
    world.token = tokenUntil(3_000)
    await world.clock.pass(5_000)
    assert.equal((await framesOf(session, 'renew', 2)).at(-1)?.['token'], world.token)
  })
})
