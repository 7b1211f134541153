import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fakeClock } from '../../test/support/clock.ts'
import { onEveryDialect, testStore } from '../../test/support/store.ts'
import { AppError } from '../kernel/errors.ts'
import { Secret } from '../kernel/secret.ts'
import { HOUR } from '../kernel/time.ts'
import type { DialectName } from './dialects/capabilities.ts'
import { createOnce, type KeptAnswer } from './once.ts'
import { statement } from './statement.ts'

const CALL = { caller: 'anna', key: 'k-1', request: '["POST","/things",{"password":"correct horse"}]' }

const put = statement<{ name: string }>((db, value) =>
  db.insertInto('leases').values({ name: value('name'), holder: 'me', expires_at: 1 }),
)

async function world(dialect: DialectName) {
  const clock = fakeClock()
  const { store, [Symbol.asyncDispose]: dispose } = await testStore(dialect, clock)
  const once = createOnce({
    store,
    clock,
    secret: new Secret('a key for what is kept of requests'),
    toAnswer: ({ code, message }) => ({ status: 409, body: { code, message } }),
  })
  const effects = async () => (await store.read.db.selectFrom('leases').select('name').execute()).length
  let made = 0
  const makeThing = async (): Promise<KeptAnswer> => {
    const name = `thing-${++made}`
    await once.store.write((tx) => tx.run(put, { name }))
    return { status: 201, body: { name }, headers: { etag: '"1"' } }
  }
  return { clock, store, once, effects, makeThing, [Symbol.asyncDispose]: dispose }
}

onEveryDialect('a call under an idempotency key', (dialect) => {
  test('is carried out once, and gets the same answer again', async () => {
    await using w = await world(dialect)
    const first = await w.once.once(CALL, w.makeThing)
    const second = await w.once.once(CALL, w.makeThing)
    assert.deepEqual(first, {
      status: 201,
      body: { name: 'thing-1' },
      headers: { etag: '"1"' },
      replayed: false,
    })
    assert.deepEqual(second, { ...first, replayed: true })
    assert.equal(await w.effects(), 1)
  })

  test('is carried out once when its twins arrive at once', async () => {
    await using w = await world(dialect)
    const answers = await Promise.all(Array.from({ length: 20 }, () => w.once.once(CALL, w.makeThing)))
    assert.equal(await w.effects(), 1)
    assert.equal(new Set(answers.map(({ body }) => JSON.stringify(body))).size, 1)
    assert.equal(answers.filter(({ replayed }) => !replayed).length, 1)
  })

  test('is another one for another caller or another key', async () => {
    await using w = await world(dialect)
    for (const call of [CALL, { ...CALL, caller: 'bob' }, { ...CALL, key: 'k-2' }])
      await w.once.once(call, w.makeThing)
    assert.equal(await w.effects(), 3)
  })

  test('is refused when the key was used for another request', async () => {
    await using w = await world(dialect)
    await w.once.once(CALL, w.makeThing)
    await assert.rejects(w.once.once({ ...CALL, request: 'other' }, w.makeThing), {
      code: 'idempotency_key_reused',
    })
    assert.equal(await w.effects(), 1)
  })

  test('keeps a refusal as its answer', async () => {
    await using w = await world(dialect)
    const refuse = async (): Promise<KeptAnswer> => {
      await w.once.store.write(async (tx) => {
        await tx.run(put, { name: 'lost' })
        throw new AppError('conflict', 'thing_exists', 'There is one.')
      })
      return { status: 201 }
    }
    const expected = { status: 409, body: { code: 'thing_exists', message: 'There is one.' } }
    assert.deepEqual(await w.once.once(CALL, refuse), { ...expected, replayed: false })
    const again = await w.once.once(CALL, w.makeThing)
    assert.deepEqual([again.status, again.body, again.replayed], [409, expected.body, true])
    assert.equal(await w.effects(), 0)
  })

  test('may be sent again after a failure of the platform, of which nothing is left', async () => {
    await using w = await world(dialect)
    const fail = async (): Promise<KeptAnswer> => {
      await w.makeThing()
      throw new Error('a fault after the change')
    }
    await assert.rejects(w.once.once(CALL, fail), /a fault after the change/)
    assert.equal(await w.effects(), 0)
    assert.equal((await w.once.once(CALL, w.makeThing)).replayed, false)
    assert.equal(await w.effects(), 1)
  })

  test('keeps its answer when it changes nothing', async () => {
    await using w = await world(dialect)
    const look = async () => ({ status: 200, body: { at: w.clock.now() } })
    const first = await w.once.once(CALL, look)
    w.clock.advance(1_000)
    assert.deepEqual((await w.once.once(CALL, look)).body, first.body)
  })

  test('is forgotten after 24 hours', async () => {
    await using w = await world(dialect)
    await w.once.once(CALL, w.makeThing)
    w.clock.advance(24 * HOUR - 1)
    assert.equal((await w.once.once(CALL, w.makeThing)).replayed, true)
    w.clock.advance(2)
    assert.equal((await w.once.once(CALL, w.makeThing)).replayed, false)
    assert.equal(await w.effects(), 2)
  })

  test('leaves nothing behind after 24 hours', async () => {
    await using w = await world(dialect)
    await w.once.once(CALL, w.makeThing)
    assert.equal(await w.once.prune(), 0)
    w.clock.advance(24 * HOUR + 1)
    assert.equal(await w.once.prune(), 1)
  })

  test('keeps nothing of the request that a reader could guess a password by', async () => {
    await using w = await world(dialect)
    await w.once.once(CALL, w.makeThing)
    const { createHash } = await import('node:crypto')
    const row = await w.store.read.db.selectFrom('idempotency_keys').selectAll().executeTakeFirstOrThrow()
    assert.doesNotMatch(JSON.stringify(row), /correct horse/)
    assert.notEqual(row.request_hash, createHash('sha256').update(CALL.request).digest('base64url'))
  })

  test('may write once only, and says so instead of waiting for itself', async () => {
    await using w = await world(dialect)
    const writeTwice = async (): Promise<KeptAnswer> => {
      await w.makeThing()
      return w.makeThing()
    }
    await assert.rejects(w.once.once(CALL, writeTwice), /writes once/)
    assert.equal(await w.effects(), 0)
  })
})
