import { isAbsolute } from 'node:path'
import { MANIFEST_NAME } from './manifest.ts'

const MAX_PATH_BYTES = 4_096
// With a path of at most this length a pax header is one block of 512 bytes. The parser may cut a character in two at the
// end of a block.
const MAX_PACKED_PATH_BYTES = 470

/** Whether a reader accepts the path of an entry: relative, without a segment that leads elsewhere. */
export function isSafePath(path: string): boolean {
  if (
    isAbsolute(path) ||
    path.includes('\0') ||
    path.includes('\\') ||
    Buffer.byteLength(path) > MAX_PATH_BYTES
  )
    return false
  return path !== MANIFEST_NAME && path.split('/').every((segment) => !['', '.', '..'].includes(segment))
}

/** Whether a file that is packed as this path can be restored. The parser reads a pax header line by line. */
export function isRestorable(path: string): boolean {
  return isSafePath(path) && !path.includes('\n') && Buffer.byteLength(path) <= MAX_PACKED_PATH_BYTES
}
