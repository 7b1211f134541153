import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  hasEmptyPeriod,
  isFiltered,
  isFirstPage,
  readListQuery,
  textMatchOf,
  withCursor,
  withFilter,
  type ListFilter,
} from './list-query.ts'

const FILTERS: readonly ListFilter[] = [
  { name: 'status', kind: 'choice', values: ['open', 'closed'] },
  { name: 'source', kind: 'text' },
  { name: 'created_from', kind: 'time' },
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
  assert.deepEqual(readListQuery(query, FILTERS), own)
  assert.deepEqual(readListQuery({ status: 'wrong', source: '', created_from: 'never' }, FILTERS), {})
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

test('a period that ends before it begins is empty', () => {
  const [noon, night] = ['2026-01-31T12:00:00Z', '2026-01-31T23:00:00+01:00']
  assert.equal(hasEmptyPeriod({ created_from: noon, created_to: night }), false)
  assert.equal(hasEmptyPeriod({ created_from: night, created_to: noon }), true)
  assert.equal(hasEmptyPeriod({ created_from: noon, created_to: noon }), true)
  assert.equal(hasEmptyPeriod({ created_from: night, ended_to: noon }), false)
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
