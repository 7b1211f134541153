import { chmodSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'

const SHARED_MEMORY = '/dev/shm'
// Many times what the tests keep at once. Docker's default is 64 MiB.
const NEEDED_BYTES = 4 * 1024 ** 3

/** A directory in memory for the temporary files of a test run, removed at the end of the scope. */
export interface MemoryDirectory extends Disposable {
  readonly path: string
}

/** Undefined: this machine has too little memory for it, or does not let a program run from there. */
export function createMemoryDirectory(): MemoryDirectory | undefined {
  if (!isUsable(SHARED_MEMORY)) return undefined
  const path = mkdtempSync(join(SHARED_MEMORY, 'platform-'))
  // As /tmp: some tests start programs as another user.
  chmodSync(path, 0o1777)
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}

function isUsable(directory: string): boolean {
  const mount = readMounts().find(([, where]) => where === directory)
  if (!mount) return false
  const [, , type, options = ''] = mount
  if (type !== 'tmpfs' || options.split(',').includes('noexec')) return false
  const { bavail, bsize } = statfsSync(directory)
  return Math.min(bavail * bsize, process.availableMemory()) >= NEEDED_BYTES
}

/** Device, place, type and options of each file system (man 5 proc_pid_mounts). */
function readMounts(): string[][] {
  try {
    return readFileSync('/proc/self/mounts', 'utf8')
      .split('\n')
      .map((line) => line.split(' '))
  } catch {
    return []
  }
}
