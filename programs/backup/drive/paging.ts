import { BackupError } from '../errors.ts'
import { textOf, type JsonMembers } from './json-members.ts'

const MAX_PAGES = 10_000

/** The pages of a list. The marker of the next one is in the member `next_…`; without it the page is the last. */
export async function* pagesOf(
  call: string,
  markerName: `next_${string}`,
  read: (marker: string | undefined) => Promise<JsonMembers>,
): AsyncIterable<JsonMembers> {
  let marker: string | undefined
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const page = await read(marker)
    yield page
    const next = textOf(page, markerName)
    if (next === '') return
    // A faulty drive that repeats its marker would never end the list.
    if (next === marker)
      throw new BackupError('drive_rejected', `${call}: the drive repeats the marker of a page`)
    marker = next
  }
  throw new BackupError('drive_rejected', `${call}: the drive names more than ${MAX_PAGES} pages`)
}
