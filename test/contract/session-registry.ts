import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it, type TestContext } from 'node:test'
import type { RegisteredSession, SessionRegistry, SessionRequest } from '../../src/ports/session-registry.ts'
import { AppError } from '../../src/kernel/errors.ts'
import { eventually } from '../support/eventually.ts'

/** A registry that has joined, and what a test can do around it. */
export interface RegistryWorld {
  readonly registry: SessionRegistry
  /** The number of addresses. */
  readonly capacity: number
  /** A user, with the generation of the tokens that are valid now. */
  makeUser(): Promise<{ readonly id: string; readonly name: string; readonly generation: number | undefined }>
  /** Disconnects a session as an operator does. */
  disconnect(sessionId: string): Promise<void>
  /** Changes the user, which revokes the tokens issued before. */
  endTokens(userId: string): Promise<void>
  /** The sessions among these that hold their address now. */
  live(sessionIds: readonly string[]): Promise<readonly string[]>
}

const isCode = (code: string) => (error: unknown) => error instanceof AppError && error.code === code

/** The contract of the port `SessionRegistry`. `open` registers its own clean-up. */
export function describeSessionRegistryContract(
  name: string,
  open: (t: TestContext, pool: { cidr: string }) => Promise<RegistryWorld>,
): void {
  /** A small pool: five addresses beside network, broadcast and gateway. */
  const world = async (t: TestContext) => {
    const opened = await open(t, { cidr: '10.77.0.0/29' })
    const user = await opened.makeUser()
    const request = (more: Partial<SessionRequest> = {}): SessionRequest => ({
      user: { id: user.id, name: user.name },
      token: { generation: user.generation, issuedAt: Date.now() },
      device: undefined,
      remoteAddress: '192.0.2.1',
      ...more,
    })
    const register = (more: Partial<SessionRequest> = {}) => opened.registry.register(request(more))
    const fill = () => Promise.all(Array.from({ length: opened.capacity }, () => register()))
    return { ...opened, user, register, fill }
  }

  describe(`${name} keeps the contract of a session registry`, () => {
    it('gives each session an id and an address of its own', async (t) => {
      const { fill, capacity, live } = await world(t)
      const sessions = await fill()
      assert.equal(new Set(sessions.map(({ id }) => id)).size, capacity)
      assert.equal(new Set(sessions.map(({ virtualIp }) => virtualIp)).size, capacity)
      for (const { virtualIp, prefixLength } of sessions) {
        assert.match(virtualIp, /^\d{1,3}(\.\d{1,3}){3}$/)
        assert.ok(prefixLength >= 12 && prefixLength <= 30)
      }
      assert.equal((await live(ids(sessions))).length, capacity)
    })

    it('refuses a renewal with a token that was revoked meanwhile', async (t) => {
      const { registry, user, register, endTokens } = await world(t)
      const { id } = await register()
      const token = { generation: user.generation, issuedAt: Date.now() }
      await registry.renew(id, user.id, token)
      await endTokens(user.id)
      await assert.rejects(registry.renew(id, user.id, token), isCode('unauthenticated'))
    })

    it('refuses when no address is free', async (t) => {
      const { fill, register } = await world(t)
      await fill()
      await assert.rejects(register(), isCode('pool_exhausted'))
    })

    it('gives a device its address back', async (t) => {
      const { register, registry } = await world(t)
      const device = randomUUID()
      const first = await register({ device })
      await registry.close([{ id: first.id, code: 1000, reason: 'closed by the client' }])
      const second = await register({ device })
      assert.notEqual(second.id, first.id)
      assert.equal(second.virtualIp, first.virtualIp)
    })

    it('replaces the session of a device by the next one, and lists the end until it is acknowledged', async (t) => {
      const { register, registry, live } = await world(t)
      const device = randomUUID()
      const first = await register({ device })
      const second = await register({ device })
      assert.equal(second.virtualIp, first.virtualIp)
      assert.deepEqual(await live([first.id, second.id]), [second.id])
      const end = await endOf(registry, first.id)
      assert.equal(end.code, 4409)
      assert.ok(end.reason.length > 0 && Buffer.byteLength(end.reason) <= 123, 'it fits into a close frame')
      await endOf(registry, first.id)
      await registry.acknowledge([first.id])
      await assertNoEnds(registry)
    })

    it('allows several sessions without a device', async (t) => {
      const { register, live } = await world(t)
      const sessions = [await register(), await register()]
      assert.equal((await live(ids(sessions))).length, 2)
    })

    it('lists a session that an operator has disconnected', async (t) => {
      const { register, registry, disconnect, live } = await world(t)
      const { id } = await register()
      await disconnect(id)
      assert.equal((await endOf(registry, id)).code, 4403)
      assert.deepEqual(await live([id]), [])
      await registry.acknowledge([id])
      await assertNoEnds(registry)
    })

    it('refuses a token that a change of its user has revoked', async (t) => {
      const { register, endTokens, user } = await world(t)
      const issuedAt = Date.now() - 60_000
      await endTokens(user.id)
      const token = { generation: user.generation, issuedAt }
      await assert.rejects(register({ token }), isCode('unauthenticated'))
    })

    it('ends a session once, however often it is closed', async (t) => {
      const { fill, registry, live } = await world(t)
      const sessions = await fill()
      const ends = sessions.map(({ id }) => ({ id, code: 1006, reason: 'the connection was lost' }))
      await Promise.all([registry.close(ends), registry.close(ends)])
      await registry.close(ends)
      assert.deepEqual(await live(ids(sessions)), [])
    })

    it('ignores unknown sessions', async (t) => {
      const { registry } = await world(t)
      const id = randomUUID()
      await registry.close([{ id, code: 1000, reason: 'closed by the client' }])
      await registry.beat([{ id, lastSeenAt: Date.now(), rttMs: 12 }])
      await registry.acknowledge([id])
      await registry.close([])
      await registry.beat([])
      await registry.acknowledge([])
    })

    it('accepts news with and without a round-trip time', async (t) => {
      const { register, registry, live } = await world(t)
      const { id } = await register()
      await registry.beat([{ id, lastSeenAt: Date.now(), rttMs: null }])
      await registry.beat([{ id, lastSeenAt: Date.now(), rttMs: 0 }])
      assert.deepEqual(await live([id]), [id])
    })

    it('records a refusal, with and without a user', async (t) => {
      const { registry, user } = await world(t)
      await registry.recordRefusal({
        remoteAddress: '192.0.2.1',
        user: undefined,
        device: undefined,
        reason: 'The token is not valid.',
      })
      await registry.recordRefusal({
        remoteAddress: '2001:db8::1',
        user: { id: user.id, name: user.name },
        device: 'laptop',
        reason: 'The token names no role.',
      })
    })

    it('ends open sessions when the gateway leaves', async (t) => {
      const { fill, registry, live } = await world(t)
      const sessions = await fill()
      await registry.leave()
      assert.deepEqual(await live(ids(sessions)), [])
    })
  })
}

function ids(sessions: readonly RegisteredSession[]): string[] {
  return sessions.map(({ id }) => id)
}

async function endOf(registry: SessionRegistry, id: string) {
  return eventually(
    `the end of ${id}`,
    async () => (await registry.listEnds()).find((end) => end.id === id),
    {
      timeoutMs: 120_000,
    },
  )
}

async function assertNoEnds(registry: SessionRegistry): Promise<void> {
  assert.deepEqual(await registry.listEnds(), [])
}
