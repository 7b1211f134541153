import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { systemClock } from './clock.ts'
import { alignColumns, formatCount } from './text.ts'
import { hasRole, type Identity, knownRoles } from './identity.ts'
import { newId } from './ids.ts'
import { NEWEST_FIRST, pageOf } from './page.ts'
import { backoffMs } from './waiting.ts'
import { Secret } from './secret.ts'

test('a secret is redacted in every printed form, and only reveal() returns it', () => {
  const secret = new Secret('hunter2')
  const shown = [
    String(secret),
    `${secret}`,
    JSON.stringify({ secret }),
    inspect({ secret }),
    inspect([secret]),
  ]
  for (const text of shown) assert.doesNotMatch(text, /hunter2/)
  assert.equal(secret.reveal(), 'hunter2')
})

test('unknown roles are ignored and duplicates removed', () => {
  assert.deepEqual(knownRoles(['root', 'service', 'admin', 'service', 'Admin', '']), ['admin', 'service'])
})

test('hasRole accepts a caller with at least one of the roles', () => {
  const caller: Identity = { id: 'a', name: 'a', roles: ['auditor'], via: 'token' }
  assert.equal(hasRole(caller, ['admin', 'auditor']), true)
  assert.equal(hasRole(caller, ['admin']), false)
  assert.equal(hasRole({ ...caller, roles: [] }, []), false)
})

test('ids are UUIDv7', () => {
  assert.match(newId(), /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
})

test('backoff doubles up to its maximum, with jitter over the upper half', () => {
  const backoff = { initialMs: 100, maximumMs: 1_000 }
  const highest = [0, 1, 2, 3, 4, 500].map((attempt) => backoffMs(backoff, attempt, () => 1))
  const lowest = [0, 1, 2, 3, 4, 500].map((attempt) => backoffMs(backoff, attempt, () => 0))
  assert.deepEqual(highest, [100, 200, 400, 800, 1_000, 1_000])
  assert.deepEqual(lowest, [50, 100, 200, 400, 500, 500])
})

test('the next page starts after the last item of this one, and the last page has no next page', () => {
  const rows = [5, 4, 3].map((seq) => ({ seq }))
  const page = (limit: number) => pageOf(rows, limit, NEWEST_FIRST, 'rows')
  assert.deepEqual(page(2), { items: rows.slice(0, 2), next: { list: 'rows', order: 'newest', values: [4] } })
  assert.deepEqual(page(3), { items: rows, next: null })
  assert.deepEqual(pageOf([], 3, NEWEST_FIRST, 'rows'), { items: [], next: null })
})

test('a wait of the system clock ends after its time, or as soon as its signal is aborted', async () => {
  await systemClock.wait(0)
  await systemClock.wait(60_000, AbortSignal.abort())
  const stopping = new AbortController()
  const wait = systemClock.wait(60_000, stopping.signal)
  stopping.abort()
  await wait
})

test('a counted noun is singular for one only', () => {
  assert.deepEqual(
    [0, 1, 2].map((count) => formatCount(count, 'order')),
    ['0 orders', '1 order', '2 orders'],
  )
})

test('columns are aligned, without spaces at the end of a line', () => {
  assert.equal(
    alignColumns([
      ['NAME', 'STATE'],
      ['a', 'on'],
      ['longer', ''],
    ]),
    'NAME    STATE\na       on\nlonger\n',
  )
})

test('a cell makes no lines of its own and does not control the terminal', () => {
  const name = 'a\u001b[31m\nforged\u009b\u202e'
  assert.equal(alignColumns([['NAME'], [name]]), 'NAME\na\\u{1b}[31m\\u{a}forged\\u{9b}\\u{202e}\n')
})
