import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseIfMatch } from './entity-tag.ts'
import { COMMON_ERRORS, SHARED_ERRORS } from './error-codes.ts'
import { encodePage, parsePage } from './page.ts'

const TAGS: readonly (readonly [header: string | undefined, versions: readonly number[] | undefined])[] = [
  [undefined, undefined],
  ['*', undefined],
  [' * ', undefined],
  ['"3"', [3]],
  ['"3", "4"', [3, 4]],
  ['W/"3"', [0]],
  ['"of another kind"', [0]],
]

for (const [header, versions] of TAGS) {
  test(`If-Match ${header ?? 'left out'} names ${versions ? `the versions ${versions.join(', ')}` : 'any version'}`, () => {
    assert.deepEqual(parseIfMatch(header), versions)
  })
}

test('an If-Match that is no entity tag is refused', () => {
  for (const header of ['3', '"3', '', '"3",', "'3'"]) {
    assert.throws(() => parseIfMatch(header), { code: 'validation_failed' }, header)
  }
})

test('the cursor of a page leads to the rows behind it', () => {
  const page = encodePage({ items: [7, 6], next: 6 }, String).toJSON() as {
    items: number[]
    next_cursor: string
  }
  assert.deepEqual(page.items, [7, 6])
  assert.ok(page.next_cursor)
  assert.deepEqual(parsePage({ limit: 2, cursor: page.next_cursor }), { limit: 2, before: 6 })
  assert.deepEqual(encodePage({ items: [], next: null }, String).toJSON(), { items: [], next_cursor: null })
})

test('without a query a page is the first one, of 100 items', () => {
  assert.deepEqual(parsePage({}), { limit: 100, before: Number.MAX_SAFE_INTEGER })
})

test('a page can be restricted to a time range; a time that does not exist is refused', () => {
  const times = { created_from: '2026-01-31T03:00:00+01:00', created_to: '2026-02-01T00:00:00Z' }
  assert.deepEqual(parsePage(times), {
    limit: 100,
    before: Number.MAX_SAFE_INTEGER,
    createdFrom: Date.UTC(2026, 0, 31, 2),
    createdTo: Date.UTC(2026, 1, 1),
  })
  assert.throws(() => parsePage({ created_from: '2026-02-30T00:00:00Z' }), { message: /created_from/ })
})

test('a cursor that no page has returned is refused', () => {
  for (const text of ['x', 'p', 'p-1', 'p1.5', 'p99999999999999999', 'q7', '7']) {
    const cursor = Buffer.from(text).toString('base64url')
    assert.throws(() => parsePage({ cursor }), { code: 'validation_failed', message: /cursor/ }, text)
  }
  assert.throws(() => parsePage({ cursor: '%%%' }), { code: 'validation_failed' })
})

test('every error code has a meaning and an error status', () => {
  for (const [code, { status, meaning }] of Object.entries({ ...COMMON_ERRORS, ...SHARED_ERRORS })) {
    assert.match(code, /^[a-z]+(_[a-z]+)*$/)
    assert.ok(status >= 400 && status < 600)
    assert.match(meaning, /\.$/)
  }
})
