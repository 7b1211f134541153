import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, test } from 'node:test'
import { Type } from 'typebox'
import { Changes } from '../../../src/infra/http/changes.ts'
import { createHttpServer } from '../../../src/infra/http/server.ts'
import { AppError } from '../../../src/kernel/errors.ts'
import { silentLogger } from '../../../src/kernel/logger.ts'
import { noMetrics } from '../../../src/kernel/metrics.ts'
import { Secret } from '../../../src/kernel/secret.ts'
import { HOUR } from '../../../src/kernel/time.ts'
import type { DialectName } from '../../../src/store/dialects/capabilities.ts'
import { DatabaseIdempotencyKeys } from '../../../src/store/idempotency-keys.ts'
import { created, routeOf } from '../../../src/wire/route.ts'
import { Fields } from '../../../src/wire/schemas.ts'
import { fakeClock } from '../../support/clock.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import { onEveryDialect, testStore } from '../../support/store.ts'
import { ADMIN, assertRefused, openApi, openClient, type Api } from './client.ts'
import type { Answer } from './traffic.ts'
import { PASSWORD } from './samples.ts'

const route = routeOf('Things')

const TWINS = 50

type Body = Readonly<Record<string, unknown>>

/** An operation under a key: what it is given, something else for the same key, and what is there afterwards. */
interface Subject {
  readonly path: string
  readonly status: number
  body(mark: string): Body
  readonly change: Body
  /** How many of it there are for that mark. */
  effects(api: Api, mark: string): Promise<number>
}

const items = async (api: Api, path: string) =>
  ((await api.send({ method: 'GET', path })).json() as { items: Record<string, unknown>[] }).items

const SUBJECTS: readonly Subject[] = [
  {
    path: '/orders',
    status: 201,
    body: (mark) => ({ order_id: mark, platform: mark, amount_cents: 4_990 }),
    change: { amount_cents: 1 },
    effects: async (api, mark) => {
      const events = await items(api, '/messages?subject=order.created&limit=1000')
      const ofOrder = events.filter((event) => (event['payload'] as { subject: string }).subject === mark)
      assert.equal(ofOrder.length, 1, 'the creation has one event')
      return (await items(api, `/orders?platform=${mark}`)).length
    },
  },
  {
    path: '/messages/publish',
    status: 202,
    body: (mark) => ({ subject: mark, payload: { shop: 7 } }),
    change: { payload: { shop: 8 } },
    effects: async (api, mark) => (await items(api, `/messages?subject=${mark}`)).length,
  },
  {
    path: '/alerts/report',
    status: 201,
    body: (mark) => ({ source: mark, title: 'Backup failed', level: 'HIGH' }),
    change: { title: 'Backup failed again' },
    effects: async (api, mark) =>
      (await items(api, `/alerts?source=${mark}`)).reduce(
        (count, alert) => count + Number(alert['count']),
        0,
      ),
  },
  {
    path: '/users',
    status: 201,
    body: (mark) => ({ name: mark, password: PASSWORD, roles: ['devops'] }),
    change: { roles: ['auditor'] },
    effects: async (api, mark) =>
      (await items(api, '/users?limit=1000')).filter((user) => user['name'] === mark).length,
  },
]

// Both before the first test: the runner calls the hooks of a file once all tests that it knows have ended.
const database = await createTestDatabase()
const [sqlite, postgres] = await Promise.all([openApi(), openApi({ DATABASE_URL: database.url })])
suite('on sqlite', sqlite)
suite('on postgres', postgres)
after(() => database.drop())

function suite(where: string, api: Api): void {
  after(() => api[Symbol.asyncDispose]())
  const post = (path: string, key: string, body: Body, caller: Record<string, string> = ADMIN) =>
    api.send({
      method: 'POST',
      path,
      body,
      headers: { ...caller, 'content-type': 'application/json', 'idempotency-key': key },
    })

  for (const subject of SUBJECTS) {
    describe(`POST ${subject.path} under a key, ${where}`, () => {
      const marks = () => ({ mark: `m-${randomUUID()}`, key: randomUUID() })

      test('gets its first answer again', async () => {
        const { mark, key } = marks()
        const first = await post(subject.path, key, subject.body(mark))
        assert.equal(first.status, subject.status, first.text)
        assertReplay(await post(subject.path, key, subject.body(mark)), first)
        assertReplay(await post(subject.path, key, subject.body(mark)), first)
        assert.equal(await subject.effects(api, mark), 1)
      })

      test('is refused with another body, and its first answer stays', async () => {
        const { mark, key } = marks()
        const first = await post(subject.path, key, subject.body(mark))
        const other = { ...subject.body(mark), ...subject.change }
        assertRefused(await post(subject.path, key, other), 409, 'idempotency_key_reused')
        assertReplay(await post(subject.path, key, subject.body(mark)), first)
        assert.equal(await subject.effects(api, mark), 1)
      })

      test('is another call when another caller uses the key', async () => {
        const { mark, key } = marks()
        await post(subject.path, key, subject.body(mark))
        const other = { 'x-user-id': 'other', 'x-user-roles': 'admin' }
        const answer = await post(subject.path, key, subject.body(mark), other)
        assert.equal(answer.headers['idempotent-replay'], undefined)
      })

      test(`is carried out once when it arrives ${TWINS} times at once`, async () => {
        const { mark, key } = marks()
        const twins = Array.from({ length: TWINS }, () => post(subject.path, key, subject.body(mark)))
        const answers = await Promise.all(twins)
        const first = answers.find((answer) => answer.headers['idempotent-replay'] === undefined)
        assert.ok(first, 'one of them is not a repetition')
        assert.equal(first.status, subject.status, first.text)
        for (const answer of answers) if (answer !== first) assertReplay(answer, first)
        assert.equal(await subject.effects(api, mark), 1)
      })
    })
  }

  describe(`a refusal under a key, ${where}`, () => {
    test('comes again, even when its reason has gone', async () => {
      const mark = `m-${randomUUID()}`
      const order = { order_id: mark, platform: 'live', amount_cents: 1 }
      await post('/orders', randomUUID(), order)
      const refused = await post('/orders', mark, { ...order, amount_cents: 2 })
      assertRefused(refused, 409, 'order_exists')
      assertReplay(await post('/orders', mark, { ...order, amount_cents: 2 }), refused)

      const path = `/alerts/${randomUUID()}/recover`
      const missing = await api.send({ method: 'POST', path, headers: { ...ADMIN, 'idempotency-key': path } })
      assertRefused(missing, 404, 'alert_not_found')
      assertReplay(
        await api.send({ method: 'POST', path, headers: { ...ADMIN, 'idempotency-key': path } }),
        missing,
      )
    })

    test('for its form does not use up the key', async () => {
      const key = randomUUID()
      const order = { order_id: key, platform: 'live', amount_cents: -1 }
      assertRefused(await post('/orders', key, order), 400, 'validation_failed', 'amount_cents')
      assert.equal((await post('/orders', key, { ...order, amount_cents: 1 })).status, 201)
    })

    test('for a missing right does not use up the key', async () => {
      const key = randomUUID()
      const order = { order_id: key, platform: 'live', amount_cents: 1 }
      const tool = (roles: string) => ({ 'x-user-id': 'tool', 'x-user-roles': roles })
      assertRefused(await post('/orders', key, order, tool('auditor')), 403, 'forbidden')
      assert.equal((await post('/orders', key, order, tool('service'))).status, 201)
      assertRefused(await post('/orders', key, order, tool('auditor')), 403, 'forbidden')
    })
  })

  describe(`a key, ${where}`, () => {
    test('belongs to one operation', async () => {
      const key = randomUUID()
      await post('/orders', key, { order_id: key, platform: 'live', amount_cents: 1 })
      const answer = await post('/messages/publish', key, { subject: 'shop.opened', payload: 1 })
      assertRefused(answer, 409, 'idempotency_key_reused')
    })

    test('may be any 1 to 128 printable ASCII characters', async () => {
      for (const key of ['!', 'with spaces, "quotes" and \\', '~'.repeat(128), '__proto__']) {
        const order = { order_id: `m-${randomUUID()}`, platform: 'live', amount_cents: 1 }
        const first = await post('/orders', key, order)
        assert.equal(first.status, 201, key)
        assertReplay(await post('/orders', key, order), first)
      }
    })

    test('may be nothing else', async () => {
      for (const key of ['', 'a'.repeat(129), 'a\tb', 'k\u00e9y', '\u0080']) {
        const order = { order_id: `m-${randomUUID()}`, platform: 'live', amount_cents: 1 }
        assertRefused(await post('/orders', key, order), 400, 'validation_failed', 'Idempotency-Key', key)
      }
    })

    test('means nothing to other methods', async () => {
      const headers = { ...ADMIN, 'content-type': 'application/json', 'idempotency-key': randomUUID() }
      const order_id = `m-${randomUUID()}`
      await post('/orders', randomUUID(), { order_id, platform: 'live', amount_cents: 1 })
      for (const status of ['paid', 'shipped']) {
        const moved = await api.send({
          method: 'PUT',
          path: `/orders/${order_id}`,
          body: { status },
          headers,
        })
        assert.deepEqual([moved.status, (moved.json() as { status: string }).status], [200, status])
      }
    })
  })
}

function assertReplay(answer: Answer, first: Answer): void {
  const seen = ({ status, headers, text }: Answer) => ({ status, text, etag: headers['etag'] })
  assert.deepEqual(seen(answer), seen(first))
  assert.equal(answer.headers['idempotent-replay'], 'true')
}

/** A server with its own clock and one operation, which creates a thing unless the test makes it fail. */
async function thingServer(dialect: DialectName) {
  await using opening = new AsyncDisposableStack()
  const clock = fakeClock()
  const { store } = opening.use(await testStore(dialect, clock))
  const keys = new DatabaseIdempotencyKeys({
    store,
    clock,
    secrets: [new Secret('a key for request hashes')],
  })
  const failures: AppError[] = []
  let things = 0
  const makeThing = route({
    method: 'POST',
    path: '/things',
    operation: 'makeThing',
    summary: 'Make a thing',
    access: 'authenticated',
    answers: { 201: { description: 'The thing.', schema: Fields({ number: Type.Integer() }) } },
    // In `prepare`, because a transaction may be repeated.
    prepare: () => failures.shift(),
    change: async (_tx, _request, failure) => {
      if (failure) throw failure
      return created('/things', String(things + 1), { number: ++things })
    },
  })
  const server = await createHttpServer({
    routes: [makeThing],
    identify: () => ({ id: 'tool', name: 'tool', roles: [], via: 'headers' }),
    changes: new Changes({ store, keys }),
    logger: silentLogger,
    metrics: noMetrics,
    version: '0.0.0',
    readOnly: false,
    rateLimitPerMinute: 0,
  })
  opening.defer(() => server.close())
  const client = opening.use(openClient(`http://${await server.listen({ host: '127.0.0.1', port: 0 })}`))
  const post = () => client.send({ method: 'POST', path: '/things', headers: { 'idempotency-key': 'k-1' } })
  const opened = opening.move()
  return { clock, failures, post, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

onEveryDialect('a key', (dialect) => {
  test('is forgotten after 24 hours', async () => {
    await using world = await thingServer(dialect)
    const first = await world.post()
    world.clock.advance(24 * HOUR - 1)
    assertReplay(await world.post(), first)
    world.clock.advance(2)
    const anew = await world.post()
    assert.deepEqual([anew.json(), anew.headers['idempotent-replay']], [{ number: 2 }, undefined])
  })

  const PASSING = [
    new AppError('unavailable', 'store_unavailable', 'The database is away.'),
    new AppError('rate_limited', 'rate_limited', 'Too much at once.', { retryAfterSeconds: 1 }),
    new AppError('internal', 'internal', 'A fault.'),
  ]
  for (const failure of PASSING) {
    test(`of a call that failed with ${failure.code} may be used again`, async () => {
      await using world = await thingServer(dialect)
      world.failures.push(failure, failure)
      for (const _ of [1, 2])
        assert.equal(((await world.post()).json() as { code: string }).code, failure.code)
      const first = await world.post()
      assert.deepEqual([first.status, first.headers['idempotent-replay']], [201, undefined])
      assertReplay(await world.post(), first)
    })
  }

  test('of twins of which the first one fails makes one thing', async () => {
    await using world = await thingServer(dialect)
    world.failures.push(...PASSING)
    const answers = await Promise.all(Array.from({ length: 10 }, () => world.post()))
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b)
    assert.deepEqual(statuses, [...Array<number>(7).fill(201), 429, 500, 503])
    for (const answer of answers) if (answer.status === 201) assert.deepEqual(answer.json(), { number: 1 })
  })
})
