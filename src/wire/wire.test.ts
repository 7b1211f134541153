import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseIfMatch } from './entity-tag.ts'
import { NEWEST_FIRST, type PageOrder, type SortValue } from '../kernel/page.ts'
import { encodeCursor } from './cursor.ts'
import { COMMON_ERRORS, SHARED_ERRORS } from './error-codes.ts'
import { encodePage, parsePage } from './page.ts'

const TAGS: readonly (readonly [header: string | undefined, versions: readonly number[] | undefined])[] = [
  [undefined, undefined],
  ['*', undefined],
  [' * ', undefined],
  ['"3"', [3]],
  ['"3", "4"', [3, 4]],
  ['W/"3"', [3]],
  ['"of another kind"', [0]],
  ['"with, comma"', [0]],
  ['"3",, "4"', [3, 4]],
  [',"3", ', [3]],
]

for (const [header, versions] of TAGS) {
  test(`If-Match ${header ?? 'left out'} names ${versions ? `the versions ${versions.join(', ')}` : 'any version'}`, () => {
    assert.deepEqual(parseIfMatch(header), versions)
  })
}

test('an If-Match that is no entity tag is refused', () => {
  for (const header of ['3', '"3', '', ',', '"3" "4"', '"3", 4', "'3'"]) {
    assert.throws(() => parseIfMatch(header), { code: 'validation_failed' }, header)
  }
})

test('the cursor of a page leads to the rows behind it', () => {
  const next = { list: 'rows', order: 'newest', values: [6] }
  const page = encodePage({ items: [7, 6], next }, String).toJSON() as {
    items: number[]
    next_cursor: string
  }
  assert.deepEqual(page.items, [7, 6])
  assert.deepEqual(parsePage({ limit: 2, cursor: page.next_cursor }), { limit: 2, after: next })
  assert.deepEqual(encodePage({ items: [], next: null }, String).toJSON(), { items: [], next_cursor: null })
})

const BY_END: PageOrder<'endsAt' | 'name'> = {
  name: 'ends_at',
  keys: [
    { name: 'endsAt', type: 'integer', direction: 'asc', nullable: true },
    { name: 'name', type: 'text', direction: 'desc' },
  ],
}

const POSITIONS: readonly SortValue[][] = [
  [1, 'a'],
  [-1, ''],
  [Number.MAX_SAFE_INTEGER, 'ä"\n𝄞'],
  [null, 'ends never'],
  [0, 'x'.repeat(100)],
]

for (const values of POSITIONS) {
  test(`the cursor of a list with another order has the values ${JSON.stringify(values)}`, () => {
    const cursor = encodeCursor({ list: 'rows', order: 'ends_at', values })
    assert.deepEqual(parsePage({ cursor }, BY_END), {
      limit: 100,
      order: BY_END,
      after: { list: 'rows', order: 'ends_at', values },
    })
  })
}

test('without a query a page is the first one, of 100 items', () => {
  assert.deepEqual(parsePage({}), { limit: 100 })
})

test('a page can be restricted to a time range; a time that does not exist is refused', () => {
  const times = { created_from: '2026-01-31T03:00:00+01:00', created_to: '2026-02-01T00:00:00Z' }
  assert.deepEqual(parsePage(times), {
    limit: 100,
    createdFrom: Date.UTC(2026, 0, 31, 2),
    createdTo: Date.UTC(2026, 1, 1),
  })
  assert.throws(() => parsePage({ created_from: '2026-02-30T00:00:00Z' }), { message: /created_from/ })
})

const NO_CURSORS: readonly (readonly [order: PageOrder, ...texts: string[]])[] = [
  [NEWEST_FIRST, 'x', '7', 'p7', '{}', 'null', '[]', '["newest"]', '["newest","7"]', '["newest",null]'],
  [NEWEST_FIRST, '["newest",7,8]', '["newest",1.5]', '["newest",1e400]', '["newest",9007199254740992]'],
  [NEWEST_FIRST, '["newest", 7]', '["newest",-0]', '["oldest",7]', '["ends_at",7,"a"]', '["newest",[7]]'],
  [BY_END, '["newest",7]', '["ends_at",7]', '["ends_at",7,null]', '["ends_at","a",7]', '["ends_at",7,8]'],
  [BY_END, '["ends_at",7,"\\u0000"]', '["ends_at",7,"\\ud800"]', '["ends_at",7,"\\u0061"]'],
]

for (const [order, ...texts] of NO_CURSORS) {
  for (const text of texts) {
    test(`${text} is no cursor of the order ${order.name}`, () => {
      const cursor = Buffer.from(text.replace(/^\[(?=")/, '["rows",')).toString('base64url')
      assert.throws(() => parsePage({ cursor }, order), { code: 'validation_failed', message: /cursor/ })
    })
  }
}

test('a cursor in another encoding than that of a page is refused', () => {
  const cursor = encodeCursor({ list: 'rows', order: 'newest', values: [7] })
  for (const changed of [
    `${cursor}=`,
    ` ${cursor}`,
    cursor.replace('W', '+W'),
    '%%%',
    Buffer.from([0xff]).toString('base64url'),
  ])
    assert.throws(() => parsePage({ cursor: changed }), { code: 'validation_failed' }, changed)
})

test('every error code has a meaning and an error status', () => {
  for (const [code, { status, meaning }] of Object.entries({ ...COMMON_ERRORS, ...SHARED_ERRORS })) {
    assert.match(code, /^[a-z]+(_[a-z]+)*$/)
    assert.ok(status >= 400 && status < 600)
    assert.match(meaning, /\.$/)
  }
})
