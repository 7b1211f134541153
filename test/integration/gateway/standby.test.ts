import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { AppError } from '../../../src/kernel/errors.ts'
import type { Mirror } from '../../../src/ports/user-source.ts'
import { openSession, refusedBy } from './socket.ts'
import { openWorld } from './world.ts'

/** A copy of the users that a test makes old. */
class TestMirror implements Mirror {
  isOld = false
  isAway = false

  health() {
    return { status: 'ok', ageSeconds: 0, reason: null } as const
  }

  requireCurrent(): void {
    if (this.isOld) throw new AppError('unavailable', 'mirror_outdated', 'The copy is too old.')
  }

  isPrimaryAway(): boolean {
    return this.isAway
  }
}

describe('a standby gateway', () => {
  test('with an old copy of the users opens and renews no session, and keeps those that are open', async (t) => {
    const mirror = new TestMirror()
    const world = await openWorld(t, { mirror })
    const session = await openSession(world.url, { token: await world.token() })
    mirror.isOld = true
    const refused = await refusedBy(world.url, { token: await world.token() })
    assert.deepEqual([refused.status, refused.body.code], [503, 'mirror_outdated'])
    session.send({ type: 'renew', token: await world.token() })
    assert.equal((await session.frame('error'))['code'], 'mirror_outdated')
    mirror.isOld = false
    session.send({ type: 'renew', token: await world.token() })
    await session.frame('renewed')
  })

  test('answers requests with 503 at once while the primary is away, without asking it', async (t) => {
    const mirror = new TestMirror()
    const world = await openWorld(t, { mirror })
    const token = await world.token()
    const session = await openSession(world.url, { token })
    mirror.isAway = true
    session.send({ type: 'request', id: 'one', method: 'GET', path: '/orders' })
    assert.equal((await session.frame('response', { id: 'one' }))['status'], 503)
    const answer = await fetch(`${world.url}/orders`, { headers: { authorization: `Bearer ${token}` } })
    assert.deepEqual(
      [answer.status, ((await answer.json()) as { code: string }).code],
      [503, 'api_unavailable'],
    )
    mirror.isAway = false
    session.send({ type: 'request', id: 'two', method: 'GET', path: '/orders' })
    assert.notEqual((await session.frame('response', { id: 'two' }))['status'], 503)
  })
})
