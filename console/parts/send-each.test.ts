import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UNREACHABLE, type ApiResult } from '../api/operations.ts'
import { sendEach } from './send-each.ts'

test('a refused change does not stop the others, and each refusal is reported', async () => {
  const sent: string[] = []
  const progress: number[] = []
  const send = async (item: string): Promise<ApiResult<null>> => {
    sent.push(item)
    if (item === 'a') return { ok: true, value: null, etag: null }
    return { ok: false, failure: { ...UNREACHABLE, message: item } }
  }
  const { done, refused } = await sendEach(['b', 'a', 'c'], send, (count) => progress.push(count))
  assert.deepEqual(
    [sent, progress],
    [
      ['b', 'a', 'c'],
      [1, 2, 3],
    ],
  )
  const reasons = refused.map(({ item, failure }) => [item, failure.message])
  assert.deepEqual(
    [done, reasons],
    [
      1,
      [
        ['b', 'b'],
        ['c', 'c'],
      ],
    ],
  )
})
