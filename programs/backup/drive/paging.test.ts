import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonMembers } from './json-members.ts'
import { pagesOf } from './paging.ts'

/** Reads all pages of a drive that answers with `answer`; returns the markers of the requests. */
async function readAll(answer: (page: number) => JsonMembers): Promise<(string | undefined)[]> {
  const markers: (string | undefined)[] = []
  const read = async (marker: string | undefined) => answer(markers.push(marker))
  for await (const _ of pagesOf('list', 'next_marker', read)) {
    // Only the markers count here.
  }
  return markers
}

describe('the pages of a list', () => {
  it('are read to the last, which names no next one', async () => {
    assert.deepEqual(await readAll((page) => (page < 3 ? { next_marker: `m${page}` } : {})), [
      undefined,
      'm1',
      'm2',
    ])
  })

  it('end with drive_rejected when the drive repeats a marker', async () => {
    await assert.rejects(
      readAll(() => ({ next_marker: 'same' })),
      { errorCode: 'drive_rejected', message: 'list: the drive repeats the marker of a page' },
    )
  })

  it('end with drive_rejected when there are too many', async () => {
    await assert.rejects(
      readAll((page) => ({ next_marker: page })),
      { errorCode: 'drive_rejected', message: 'list: the drive names more than 10000 pages' },
    )
  })
})
