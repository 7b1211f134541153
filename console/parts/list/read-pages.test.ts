import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiResult } from '../../api/operations.ts'
import type { ListPage } from './list-model.ts'
import { readPages } from './read-pages.ts'

const pageOf = (items: readonly string[], next_cursor: string | null = null): ApiResult<ListPage<string>> => {
  return { ok: true, value: { items, next_cursor }, etag: null }
}
const FAILED: ApiResult<ListPage<string>> = {
  ok: false,
  failure: { status: 503, code: 'store_unavailable', message: '', details: [], retryAfterSeconds: null },
}

const PAGES: Readonly<Record<string, ApiResult<ListPage<string>>>> = {
  first: pageOf(['a'], 'second'),
  second: pageOf(['b'], 'third'),
  third: pageOf(['c']),
}

test('the pages of a list are read to its end, or so many of them', async () => {
  const read = async ({ cursor = 'first' }) => PAGES[cursor] ?? FAILED
  assert.deepEqual(await readPages(read), pageOf(['a', 'b', 'c']))
  assert.deepEqual(await readPages(read, 2), pageOf(['a', 'b'], 'third'))
  assert.deepEqual(await readPages(async () => FAILED), FAILED)
})
