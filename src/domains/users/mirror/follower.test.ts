import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually } from '../../../../test/support/eventually.ts'
import { mirrorWorld, PASSWORD, STANDBY_POOL } from '../../../../test/support/mirror.ts'
import { AppError } from '../../../kernel/errors.ts'
import { HOUR, MINUTE, SECOND } from '../../../kernel/time.ts'

const AWAY = { outcome: 'unreachable', reason: 'the primary does not answer' } as const
const MAX_AGE_MS = 10 * MINUTE

async function world() {
  const w = await mirrorWorld('sqlite')
  const { id } = await w.users.create({ name: 'root', password: PASSWORD, roles: ['admin'] })
  const follower = w.followerWith(MAX_AGE_MS)
  /** Lets time pass until the primary was asked again, and the answer was used. */
  const nextAnswer = async () => {
    const [wait] = await eventually('a pause', () =>
      w.clock.waits().length === 1 ? w.clock.waits() : undefined,
    )
    w.clock.advance(wait ?? 0)
    await eventually('the next pause', () => w.clock.waits().length === 1)
    return wait ?? 0
  }
  return {
    ...w,
    follower,
    rootId: id,
    nextAnswer,
    async [Symbol.asyncDispose]() {
      await follower.stop()
      await w[Symbol.asyncDispose]()
    },
  }
}

const hasCode = (code: string) => (error: unknown) => error instanceof AppError && error.code === code

test('a standby asks every two seconds, for what has changed since', async () => {
  await using w = await world()
  await w.follower.start()
  const pause = await w.nextAnswer()
  assert.ok(pause >= 1.9 * SECOND && pause <= 2.1 * SECOND, String(pause))
  const { revision } = await w.copy.state()
  assert.deepEqual(w.source.asked, [undefined, revision])
  assert.deepEqual(w.follower.health(), { status: 'ok', ageSeconds: 0, reason: null })
  w.follower.requireCurrent()
})

test('while the primary is away it goes by its copy, says so, and asks less often', async () => {
  await using w = await world()
  await w.follower.start()
  w.source.failure = AWAY
  await w.nextAnswer()
  const pauses: number[] = []
  for (let attempt = 0; attempt < 4; attempt++) pauses.push(await w.nextAnswer())
  assert.ok((pauses.at(-1) ?? 0) >= 4 * SECOND && (pauses.at(-1) ?? 0) <= 8 * SECOND, String(pauses))
  const { status, reason, ageSeconds } = w.follower.health()
  assert.deepEqual([status, reason], ['degraded', AWAY.reason])
  assert.ok((ageSeconds ?? 0) > 8)
  assert.ok(w.follower.isPrimaryAway())
  w.follower.requireCurrent()

  await w.users.setPassword(w.rootId, 'another brass telescope')
  w.source.failure = undefined
  await w.nextAnswer()
  assert.equal(w.follower.health().status, 'ok')
  assert.equal((await w.copies.get(w.rootId)).tokenGeneration, 2)
})

test('a copy that is older than the limit opens no sessions', async () => {
  await using w = await world()
  await w.follower.start()
  w.source.failure = AWAY
  w.clock.advance(MAX_AGE_MS + SECOND)
  assert.throws(() => w.follower.requireCurrent(), hasCode('mirror_outdated'))
  assert.equal(w.follower.health().status, 'expired')
  await w.nextAnswer()
  w.source.failure = undefined
  await w.nextAnswer()
  w.follower.requireCurrent()
})

test('after a restart without the primary the copy is as old as it was', async () => {
  await using w = await world()
  await w.follower.start()
  await w.follower.stop()
  w.source.failure = AWAY
  w.clock.advance(MAX_AGE_MS - SECOND)
  const restarted = w.followerWith(MAX_AGE_MS)
  await restarted.start()
  restarted.requireCurrent()
  assert.equal(restarted.health().ageSeconds, MAX_AGE_MS / SECOND - 1)
  w.clock.advance(2 * SECOND)
  assert.throws(() => restarted.requireCurrent(), hasCode('mirror_outdated'))
  await restarted.stop()
})

test('a standby that has never reached its primary starts, and opens no sessions', async () => {
  await using w = await world()
  w.source.failure = AWAY
  await w.follower.start()
  const { status, ageSeconds } = w.follower.health()
  assert.deepEqual([status, ageSeconds], ['expired', null])
  assert.throws(() => w.follower.requireCurrent(), /has not reached the primary yet/)
})

test('a pool that overlaps the pool of the primary is refused at the start, from memory too', async () => {
  await using w = await world()
  w.source.pool = '100.64.0.0/16'
  const message = `vpn.ip_pool: is ${STANDBY_POOL}, which overlaps 100.64.0.0/16, the pool of the primary; a standby needs a pool of its own`
  await assert.rejects(w.follower.start(), { kind: 'invalid', message })
  w.source.failure = AWAY
  await assert.rejects(w.followerWith(MAX_AGE_MS).start(), { message })
})

test('a primary that takes the pool of a running standby ends new sessions, and is said in the health', async () => {
  await using w = await world()
  await w.follower.start()
  w.source.pool = '100.64.0.0/16'
  await w.nextAnswer()
  assert.throws(() => w.follower.requireCurrent(), hasCode('pool_overlap'))
  assert.match(w.follower.health().reason ?? '', /overlaps/)
})

test('an answer that has no end is given up', async () => {
  await using w = await world()
  await w.follower.start()
  const { revision } = await w.copy.state()
  w.source.changesSince = async () => ({
    outcome: 'changes',
    changes: { revision: revision ?? 0, full: false, more: true, pool: w.source.pool, items: [] },
  })
  await w.nextAnswer()
  assert.equal(w.follower.health().reason, 'the answer of the primary has no end')
  assert.equal(w.follower.isPrimaryAway(), false)
})

test('all users are read again after an hour', async () => {
  await using w = await world()
  await w.follower.start()
  w.clock.advance(HOUR)
  await w.nextAnswer()
  assert.deepEqual(w.source.asked.slice(0, 2), [undefined, undefined])
})
