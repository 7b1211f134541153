import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '../../kernel/errors.ts'
import { redactFields } from './redact.ts'

const CANARY = 'kAnAr1+9/Zq7wXe'

function redacted(value: unknown): unknown {
  return redactFields({ value })['value']
}

test('data without secrets is printed unchanged', () => {
  const clean = {
    code: 'ECONNREFUSED',
    token_type: 'Bearer',
    tokens_total: 12,
    expires_in: 3_600,
    password_set: true,
    secret: null,
    route: '/orders/:order_id',
    address: '[::1]:9600',
    at: '2026-01-31T02:00:00.000Z',
    list: ['name', 'password'],
    nested: { amount_cents: 5, path: '/orders?status=pending&limit=10&cursor=abc' },
  }
  assert.deepEqual(redacted(clean), clean)
})

test('an error keeps its type, text, code, stack, cause and fields', () => {
  const cause = new TypeError('low')
  const error = new AppError('conflict', 'order_exists', 'There is one.', { cause })
  const shown = redacted({ error }) as {
    error: Record<string, unknown> & { cause: Record<string, unknown> }
  }
  assert.equal(shown.error['type'], 'AppError')
  assert.equal(shown.error['message'], 'There is one.')
  assert.equal(shown.error['code'], 'order_exists')
  assert.match(String(shown.error['stack']), /redact\.test\.ts/)
  assert.equal(shown.error.cause['type'], 'TypeError')
  assert.equal(shown.error.cause['message'], 'low')
})

test('cycles, depth, breadth and size are bounded', () => {
  const cycle: Record<string, unknown> = { name: 'a' }
  cycle['self'] = cycle
  assert.deepEqual(redacted(cycle), { name: 'a', self: '[circular]' })

  let deep: unknown = 'end'
  for (let level = 0; level < 120_000; level += 1) deep = [deep]
  assert.match(JSON.stringify(redacted(deep)), /^\[{7}"\[too deep\]"\]{7}$/)

  const wide = redacted({ list: Array.from({ length: 5_000 }, (_, index) => index) }) as {
    list: unknown[]
  }
  assert.equal(wide.list.length, 101)
  assert.equal(wide.list.at(-1), '4900 more')

  const many = Object.fromEntries(
    Array.from({ length: 14_000 }, (_, index) => [`k${index}`, 'x'.repeat(5_000)]),
  )
  assert.ok(JSON.stringify(redacted([many, many])).length < 100_000)
})

test('the same object twice is not a cycle', () => {
  const shared = { a: 1 }
  assert.deepEqual(redacted([shared, shared]), [shared, shared])
})

test('an object of a class is printed as its toJSON says, else only named', () => {
  class Row {
    readonly id = 1
  }
  const value = {
    url: new URL('https://host/path'),
    row: new Row(),
    map: new Map([['a', 1]]),
    headers: new Headers({ a: 'b' }),
    bytes: Buffer.from('secret'),
  }
  assert.deepEqual(redacted(value), {
    url: 'https://host/path',
    row: '[Row]',
    map: '[Map]',
    headers: '[Headers]',
    bytes: '[Buffer]',
  })
})

test('an unreadable value costs only its own field', () => {
  const refuse = (): never => {
    throw new Error(`token=${CANARY}`)
  }
  const value = {
    fine: 1,
    get getter(): unknown {
      return refuse()
    },
    json: { toJSON: refuse },
    proxy: new Proxy({}, { get: refuse, ownKeys: refuse, getPrototypeOf: refuse, has: refuse }),
    big: 10n ** 20n,
    nan: Number.NaN,
    call: () => CANARY,
    date: new Date(0),
    noDate: new Date(Number.NaN),
    missing: undefined,
  }
  assert.deepEqual(redacted(value), {
    fine: 1,
    getter: '[unreadable]',
    json: '[unreadable]',
    proxy: '[unreadable]',
    big: '100000000000000000000',
    nan: 'NaN',
    call: '[function]',
    date: '1970-01-01T00:00:00.000Z',
    noDate: null,
    missing: undefined,
  })
  assert.ok(!JSON.stringify(redacted(value)).includes(CANARY))
})

test('a getter is read once, so that it cannot show another value later', () => {
  let reads = 0
  const value = {
    get note(): string {
      reads += 1
      return reads === 1 ? 'fine' : CANARY
    },
  }
  assert.equal(JSON.stringify(redacted(value)), '{"note":"fine"}')
})

test('a key cannot change the prototype of what is printed', () => {
  const shown = redacted(JSON.parse('{"__proto__":{"admin":true},"a":1}')) as object
  assert.deepEqual(Object.keys(shown), ['(__proto__)', 'a'])
  assert.equal(Object.getPrototypeOf(shown), Object.prototype)
})

test('the arguments are not changed', () => {
  const given = Object.freeze({ password: 'x', nested: Object.freeze(['token=x']) })
  redacted(given)
  assert.deepEqual(given, { password: 'x', nested: ['token=x'] })
})
