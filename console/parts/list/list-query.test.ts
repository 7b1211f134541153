import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  hasEmptyPeriod,
  hasMovingPeriod,
  isFiltered,
  isFirstPage,
  queryOfApi,
  readListQuery,
  textMatchOf,
  withCursor,
  withFilter,
  withoutFilters,
  type ListFilter,
} from './list-query.ts'

const FILTERS: readonly ListFilter[] = [
  { name: 'status', kind: 'choice', values: ['open', 'closed'] },
  { name: 'source', kind: 'text' },
  { name: 'created', kind: 'period' },
  { name: 'due', kind: 'period', parameters: ['after', 'before'], words: ['next-10m'] },
]

test('only parameters that the list has are read from the address', () => {
  const query = {
    status: 'open',
    source: 'shop',
    created_from: '2026-01-31T00:00:00Z',
    cursor: 'abc',
    other: '1',
  }
  const { other: _, ...own } = query
  const sorts = [{ value: 'due_at', column: 'due_at', direction: 'ascending' }] as const
  const shape = { filters: FILTERS, sorts }
  assert.deepEqual(readListQuery(query, shape), own)
  const wrong = { status: 'wrong', source: '', created_from: 'never', created: 'last-9y', sort: 'color' }
  assert.deepEqual(readListQuery(wrong, shape), {})
  const words = { created: 'today', sort: 'due_at', columns: 'status' }
  assert.deepEqual(readListQuery(words, shape), words)
})

test('another filter begins with the first page; another page keeps the filters', () => {
  const query = { status: 'open', cursor: 'abc' }
  assert.equal(withFilter('/list', query, 'source', 'a b&c'), '/list?status=open&source=a+b%26c')
  assert.equal(withFilter('/list', query, 'status', ''), '/list')
  assert.equal(withCursor('/list', query, 'def'), '/list?status=open&cursor=def')
  assert.equal(withCursor('/list', query, null), '/list?status=open')
})

test('a cursor is no filter', () => {
  assert.deepEqual([isFiltered({ cursor: 'a' }), isFirstPage({ cursor: 'a' })], [false, false])
  assert.deepEqual([isFiltered({ status: 'open' }), isFirstPage({ status: 'open' })], [true, true])
})

test('a period by word is sent as the times that it has now, and moves with them', () => {
  const now = Date.parse('2026-01-31T12:00:00Z')
  const at = (query: Record<string, string>) => queryOfApi(query, FILTERS, now)
  assert.deepEqual(at({ created: 'last-1h', status: 'open', columns: 'status' }), {
    created_from: '2026-01-31T11:00:00.000Z',
    status: 'open',
  })
  assert.deepEqual(at({ due: 'next-10m', sort: 'due_at' }), {
    after: '2026-01-31T12:00:00.000Z',
    before: '2026-01-31T12:10:00.000Z',
    sort: 'due_at',
  })
  const { created_from = '', created_to = '' } = at({ created: 'today' })
  assert.ok(Date.parse(created_from) <= now && Date.parse(created_to) > now)
  assert.equal(new Date(created_from).getHours(), 0)
  assert.equal(hasMovingPeriod({ created: 'today' }, FILTERS), true)
  assert.equal(hasMovingPeriod({ created_from, status: 'open' }, FILTERS), false)
})

test('without its filters a query keeps the order and the columns', () => {
  const query = { status: 'open', sort: 'due_at', columns: 'status', cursor: 'a' }
  assert.deepEqual(withoutFilters(query), { sort: 'due_at', columns: 'status' })
  assert.equal(isFiltered(withoutFilters(query)), false)
})

test('a period that ends before it begins is empty', () => {
  const [noon, night] = ['2026-01-31T12:00:00Z', '2026-01-31T23:00:00+01:00']
  assert.equal(hasEmptyPeriod({ created_from: noon, created_to: night }, FILTERS), false)
  assert.equal(hasEmptyPeriod({ created_from: night, created_to: noon }, FILTERS), true)
  assert.equal(hasEmptyPeriod({ created_from: noon, created_to: noon }, FILTERS), true)
  assert.equal(hasEmptyPeriod({ created_from: night, before: noon }, FILTERS), false)
  assert.equal(hasEmptyPeriod({ after: night, before: noon }, FILTERS), true)
})

test('the hint of an empty list is that of its text filter; a filter by a part has none', () => {
  const filters: readonly ListFilter[] = [
    ...FILTERS,
    { name: 'text', kind: 'text', match: 'part' },
    { name: 'id_prefix', kind: 'text', match: 'beginning' },
  ]
  assert.equal(textMatchOf(filters, { status: 'open', text: 'a' }), 'part')
  assert.equal(textMatchOf(filters, { text: 'a', source: 'shop' }), 'whole')
  assert.equal(textMatchOf(filters, { text: 'a', id_prefix: 'o-' }), 'beginning')
})
