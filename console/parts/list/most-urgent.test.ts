import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiResult } from '../../api/operations.ts'
import type { ListPage } from './list-model.ts'
import { readMostUrgent } from './most-urgent.ts'

const LEVELS = ['high', 'low', 'info'] as const
type Level = (typeof LEVELS)[number]

const pageOf = (items: readonly string[], next_cursor: string | null = null): ApiResult<ListPage<string>> => {
  return { ok: true, value: { items, next_cursor }, etag: null }
}
const FAILED: ApiResult<ListPage<string>> = {
  ok: false,
  failure: { status: 503, code: 'store_unavailable', message: '', details: [], retryAfterSeconds: null },
}

/** What is read of lists by their levels, and which levels are read for it. */
async function readUrgent(lists: Partial<Record<Level | 'all', ApiResult<ListPage<string>>>>) {
  const asked: string[] = []
  const result = await readMostUrgent<string, Level>({
    async read(level) {
      asked.push(level ?? 'all')
      return lists[level ?? 'all'] ?? pageOf([])
    },
    levels: LEVELS,
    enough: 2,
  })
  return { items: result.ok ? result.value.items : result.failure.code, asked }
}

test('a list that fits into a page is read once', async () => {
  assert.deepEqual(await readUrgent({ all: pageOf(['a', 'b']) }), { items: ['a', 'b'], asked: ['all'] })
})

test('a longer list is read by level, until there are enough items', async () => {
  const lists = { all: pageOf(['d', 'c'], 'more'), high: pageOf(['a']), low: pageOf(['d', 'c'], 'more') }
  assert.deepEqual(await readUrgent(lists), { items: ['a', 'd', 'c'], asked: ['all', 'high', 'low'] })
})

test('a level that cannot be read is a failure', async () => {
  const lists = { all: pageOf(['d', 'c'], 'more'), high: FAILED }
  assert.deepEqual(await readUrgent(lists), { items: 'store_unavailable', asked: ['all', 'high'] })
})
