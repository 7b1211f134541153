import { readFileSync } from 'node:fs'
import { systemErrorCode } from '../../../files/system-error.ts'
import { LINUX_PLACES, type RunStep } from './step.ts'

// Inside a container the file is read-only or missing, also for root.
const NOT_POSSIBLE_HERE: readonly unknown[] = ['ENOENT', 'EROFS', 'EACCES', 'EPERM']
// proc_sys_vm(5): pages, directory entries and inodes
const EVERYTHING = '3\n'
const CACHES = ['Buffers', 'Cached', 'SReclaimable']

/** Writes what waits for the disk, then drops the page cache. */
export const dropPageCache: RunStep = async ({ shell, files, signal, places = LINUX_PLACES }) => {
  // Only clean pages can be dropped.
  const synced = await shell.run(['sync'], { signal })
  if (synced.status === 'missing') return { skipped: synced.reason }
  if (synced.status === 'failed') throw new Error(synced.reason)
  const before = cachedBytes(places.memoryInfo)
  try {
    files.write(places.dropCaches, EVERYTHING)
  } catch (error) {
    const code = systemErrorCode(error)
    if (!NOT_POSSIBLE_HERE.includes(code)) throw error
    return { skipped: `${places.dropCaches} cannot be written here (${code})` }
  }
  return { freedBytes: Math.max(0, before - cachedBytes(places.memoryInfo)) }
}

/** Reads proc_meminfo(5), whose numbers are KiB. */
function cachedBytes(memoryInfo: string): number {
  const text = readFileSync(memoryInfo, 'utf8')
  const kibibytes = CACHES.map((name) => new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1] ?? 0)
  return kibibytes.reduce((sum: number, each) => sum + Number(each), 0) * 1_024
}
