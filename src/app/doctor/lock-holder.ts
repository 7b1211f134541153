import { readFileSync, statSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

// sqlite.org/walformat.html, 2.3.1: the byte of the shared memory that a writer locks.
const WRITE_LOCK_BYTE = 120
const LOCKS = '/proc/locks'
const LOOKS = 8
const LOOK_EVERY_MS = 250

/** A process that has held the write lock of a SQLite file for two seconds, while a write takes milliseconds. */
export interface LockHolder {
  readonly processId: number
  readonly name: string
}

/** Undefined where nobody holds it for so long, and where the system does not say. Takes nothing and changes nothing. */
export async function findLockHolder(path: string): Promise<LockHolder | undefined> {
  const inode = statSync(`${path}-shm`, { throwIfNoEntry: false })?.ino
  if (inode === undefined) return undefined
  const first = writerOf(inode)
  for (let looks = 1; first !== undefined && looks < LOOKS; looks++) {
    await pause(LOOK_EVERY_MS)
    if (writerOf(inode) !== first) return undefined
  }
  return first === undefined ? undefined : { processId: first, name: nameOf(first) }
}

/** proc_locks(5): `1: POSIX  ADVISORY  WRITE 6733 08:01:1234 120 120` */
function writerOf(inode: number): number | undefined {
  for (const line of readText(LOCKS).split('\n')) {
    const [, , , kind, processId, file = '', start, end] = line.trim().split(/\s+/)
    const holdsByte = Number(start) <= WRITE_LOCK_BYTE && (end === 'EOF' || Number(end) >= WRITE_LOCK_BYTE)
    if (kind === 'WRITE' && file.endsWith(`:${inode}`) && holdsByte) return Number(processId)
  }
  return undefined
}

function nameOf(processId: number): string {
  return readText(`/proc/${processId}/comm`).trim() || 'unknown'
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
