import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { fakeClock } from '../../../test/support/clock.ts'
import { onEveryDialect, testStore } from '../../../test/support/store.ts'
import { AppError } from '../../kernel/errors.ts'
import { Secret } from '../../kernel/secret.ts'
import { HOUR } from '../../kernel/time.ts'
import type { DialectName } from '../../store/dialects/capabilities.ts'
import { DatabaseIdempotencyKeys } from '../../store/idempotency-keys.ts'
import type { Tx } from '../../store/store.ts'
import type { Answer } from '../../wire/route.ts'
import { Changes } from './changes.ts'
import { changeRows } from '../../store/tables.ts'

const REQUEST = { caller: 'anna', key: 'k-1', text: '["POST","/things",{"password":"correct horse"}]' }

const put = changeRows((db, name: string) =>
  db.insertInto('leases').values({ name, holder: 'me', expires_at: 1 }),
)

async function world(dialect: DialectName) {
  const clock = fakeClock()
  const { store, [Symbol.asyncDispose]: dispose } = await testStore(dialect, clock)
  const keys = new DatabaseIdempotencyKeys({
    store,
    clock,
    secrets: [new Secret('a key for request hashes')],
  })
  const changes = new Changes({ store, keys })
  const rows = async () => (await store.read.db.selectFrom('leases').select('name').execute()).length
  const insert = (tx: Tx, name: string) => put(tx, name)
  const run = (change: (tx: Tx) => Promise<Answer>, request: typeof REQUEST | undefined = REQUEST) =>
    changes.run({ prepare: () => undefined, change }, request)
  let created = 0
  const createThing = async (tx: Tx): Promise<Answer> => {
    const name = `thing-${++created}`
    await insert(tx, name)
    return { status: 201, body: { name }, headers: { etag: '"1"' } }
  }
  return { clock, store, keys, changes, run, rows, insert, createThing, [Symbol.asyncDispose]: dispose }
}

const isReplay = ({ headers }: Answer) => headers?.['idempotent-replay'] === 'true'

onEveryDialect('a change', (dialect) => {
  test('without a key runs each time', async () => {
    await using w = await world(dialect)
    for (const _ of [1, 2]) await w.changes.run({ prepare: () => undefined, change: w.createThing })
    assert.equal(await w.rows(), 2)
  })

  test('is prepared before its transaction, and gets what was prepared', async () => {
    await using w = await world(dialect)
    const answer = await w.changes.run({
      prepare: () => w.rows(),
      change: async (tx, rowsBefore) => ({ ...(await w.createThing(tx)), body: { rowsBefore } }),
    })
    assert.deepEqual(answer.body, { rowsBefore: 0 })
  })
})

onEveryDialect('a change under an idempotency key', (dialect) => {
  test('runs once, and its answer is replayed', async () => {
    await using w = await world(dialect)
    const first = await w.run(w.createThing)
    const second = await w.run(w.createThing)
    assert.deepEqual(first, { status: 201, body: { name: 'thing-1' }, headers: { etag: '"1"' } })
    assert.deepEqual(second, { ...first, headers: { etag: '"1"', 'idempotent-replay': 'true' } })
    assert.equal(await w.rows(), 1)
  })

  test('is replayed after a rotation of the keys, and refused for another request', async () => {
    await using w = await world(dialect)
    await w.run(w.createThing)
    const secrets = [new Secret('a new key'), new Secret('a key for request hashes')] as const
    const keys = new DatabaseIdempotencyKeys({ store: w.store, clock: w.clock, secrets })
    assert.equal((await keys.find(REQUEST))?.status, 201)
    await assert.rejects(keys.find({ ...REQUEST, text: '[]' }), { code: 'idempotency_key_reused' })
  })

  test('runs once when twenty requests arrive at once', async () => {
    await using w = await world(dialect)
    const answers = await Promise.all(Array.from({ length: 20 }, () => w.run(w.createThing)))
    assert.equal(await w.rows(), 1)
    assert.equal(new Set(answers.map(({ body }) => JSON.stringify(body))).size, 1)
    assert.equal(answers.filter((answer) => !isReplay(answer)).length, 1)
  })

  test('runs once when two processes get the same request at once', async () => {
    await using w = await world(dialect)
    const other = new Changes({ store: w.store, keys: w.keys })
    const change = { prepare: () => undefined, change: w.createThing }
    const answers = await Promise.all(
      [w.changes, other, w.changes, other].map((each) => each.run(change, REQUEST)),
    )
    assert.equal(await w.rows(), 1)
    assert.equal(new Set(answers.map(({ body }) => JSON.stringify(body))).size, 1)
  })

  test('does not hold up other changes while it is prepared', async () => {
    await using w = await world(dialect)
    const { promise, resolve } = Promise.withResolvers<void>()
    const slow = w.changes.run({ prepare: () => promise, change: w.createThing }, REQUEST)
    await w.run(w.createThing, { ...REQUEST, key: 'k-2' })
    assert.equal(await w.rows(), 1)
    resolve()
    await slow
    assert.equal(await w.rows(), 2)
  })

  test('is another one for another caller or another key', async () => {
    await using w = await world(dialect)
    for (const request of [REQUEST, { ...REQUEST, caller: 'bob' }, { ...REQUEST, key: 'k-2' }])
      await w.run(w.createThing, request)
    assert.equal(await w.rows(), 3)
  })

  test('is refused when the key was used for another request', async () => {
    await using w = await world(dialect)
    await w.run(w.createThing)
    await assert.rejects(w.run(w.createThing, { ...REQUEST, text: 'other' }), {
      code: 'idempotency_key_reused',
    })
    assert.equal(await w.rows(), 1)
  })

  test('stores a refusal as its answer, and nothing of the refused change', async () => {
    await using w = await world(dialect)
    const refuse = async (tx: Tx): Promise<Answer> => {
      await w.insert(tx, 'lost')
      throw new AppError('conflict', 'thing_exists', 'There is one.')
    }
    const expected = { status: 409, body: { code: 'thing_exists', message: 'There is one.' } }
    const { status, body } = await w.run(refuse)
    assert.deepEqual({ status, body }, expected)
    const again = await w.run(w.createThing)
    assert.deepEqual([again.status, again.body, isReplay(again)], [409, expected.body, true])
    assert.equal(await w.rows(), 0)
  })

  test('with a key is refused before it has changed anything', async (t) => {
    await using w = await world(dialect)
    const steps: string[] = []
    const claim = w.keys.claim.bind(w.keys)
    t.mock.method(w.keys, 'claim', (...given: Parameters<typeof claim>) => {
      steps.push('claim')
      return claim(...given)
    })
    await w.run(async () => {
      steps.push('refuse')
      throw new AppError('conflict', 'thing_exists', 'It exists.')
    })
    assert.equal(steps[0], 'refuse')
  })

  test('may be sent again after a failure of the platform, of which nothing is left', async () => {
    await using w = await world(dialect)
    const fail = async (tx: Tx): Promise<Answer> => {
      await w.createThing(tx)
      throw new Error('a fault after the change')
    }
    await assert.rejects(w.run(fail), /a fault after the change/)
    assert.equal(await w.rows(), 0)
    assert.equal(isReplay(await w.run(w.createThing)), false)
    assert.equal(await w.rows(), 1)
  })

  test('stores its answer when it changes nothing', async () => {
    await using w = await world(dialect)
    const look = async () => ({ status: 200, body: { at: w.clock.now() } })
    const first = await w.run(look)
    w.clock.advance(1_000)
    assert.deepEqual((await w.run(look)).body, first.body)
  })

  test('may write several times', async () => {
    await using w = await world(dialect)
    await w.run(async (tx) => {
      await w.createThing(tx)
      return w.createThing(tx)
    })
    assert.equal(await w.rows(), 2)
  })

  test('is forgotten after 24 hours', async () => {
    await using w = await world(dialect)
    await w.run(w.createThing)
    w.clock.advance(24 * HOUR - 1)
    assert.equal(isReplay(await w.run(w.createThing)), true)
    w.clock.advance(2)
    assert.equal(isReplay(await w.run(w.createThing)), false)
    assert.equal(await w.rows(), 2)
  })

  test('is pruned in batches after 24 hours', async () => {
    await using w = await world(dialect)
    for (const key of ['a', 'b', 'c']) await w.run(w.createThing, { ...REQUEST, key })
    assert.equal(await w.keys.prune(2), 0)
    w.clock.advance(24 * HOUR + 1)
    assert.deepEqual([await w.keys.prune(2), await w.keys.prune(2), await w.keys.prune(2)], [2, 1, 0])
  })

  test('stores nothing of the request that could be used to guess a password', async () => {
    await using w = await world(dialect)
    await w.run(w.createThing)
    const row = await w.store.read.db.selectFrom('idempotency_keys').selectAll().executeTakeFirstOrThrow()
    assert.doesNotMatch(JSON.stringify(row), /correct horse/)
    assert.notEqual(row['request_hash'], createHash('sha256').update(REQUEST.text).digest('base64url'))
  })
})
