import type { BigIntStats } from 'node:fs'
import { normalize } from 'node:path'
import { DAY } from '../../../../src/kernel/time.ts'
import { OpenDirectory } from '../open-directory.ts'
import { MAX_DEPTH } from './disk-usage.ts'
import { Removal } from './removal.ts'
import type { CleaningDeps, RunStep } from './step.ts'

const MAX_AGE_MS = 7 * DAY

// A mistake in the configuration must not empty the system.
const SYSTEM_DIRECTORIES =
  '/ /bin /boot /dev /etc /home /lib /lib32 /lib64 /media /mnt /opt /proc /root /run /sbin /srv /sys /usr /usr/local ' +
  '/var /var/cache /var/lib /var/log /var/spool'

// Entries of the first level that running programs need whatever their age: directories of units, which systemd itself
// removes at the boot, and those of the X window system and of the file system.
const KEPT = /^(?:systemd-private-.*|snap-private-tmp|\..*-unix|\.X\d+-lock|lost\+found|aquota\..*)$/s

/** Removes what is older than 7 days below the temporary directory. */
export const cleanTmp: RunStep = async (deps) => {
  const path = normalize(deps.tmpDir).replace(/(?<=[^/])\/+$/, '')
  if (!path.startsWith('/') || SYSTEM_DIRECTORIES.split(' ').includes(path)) throw unsuitableError(path)
  using root = OpenDirectory.open(path)
  if (!root) return { skipped: `there is no directory ${path}` }
  const cleaning = new TmpCleaning(root, deps)
  await cleaning.run()
  return cleaning.outcome()
}

function unsuitableError(path: string): Error {
  return new Error(`tmp_dir is ${path}; name a directory that has only temporary files`)
}

class TmpCleaning {
  readonly #root: OpenDirectory
  readonly #removal: Removal
  readonly #oldBefore: number
  readonly #signal: AbortSignal | undefined

  constructor(root: OpenDirectory, { files, protectedPaths, clock, signal }: CleaningDeps) {
    this.#root = root
    this.#removal = new Removal(files, protectedPaths)
    this.#oldBefore = clock.now() - MAX_AGE_MS
    this.#signal = signal
  }

  async run(): Promise<void> {
    if (this.#removal.isProtected(this.#root)) throw unsuitableError(this.#root.path)
    await this.#clean(this.#root, 0)
  }

  outcome() {
    return this.#removal.outcome()
  }

  /** Whether nothing is left in it. */
  async #clean(directory: OpenDirectory, depth: number): Promise<boolean> {
    let isEmpty = true
    for await (const name of directory.names(this.#signal)) {
      const isGone = await this.#cleanEntry(directory, name, depth)
      isEmpty &&= isGone
    }
    return isEmpty
  }

  /** Whether the entry is gone. */
  async #cleanEntry(directory: OpenDirectory, name: Buffer, depth: number): Promise<boolean> {
    if (depth === 0 && KEPT.test(name.toString())) return false
    const stats = directory.stat(name)
    if (!stats?.isDirectory())
      return !stats || (this.#isOldFile(stats) && this.#removal.file(directory, name, stats))
    return depth < MAX_DEPTH && this.#cleanChild(directory, name, depth)
  }

  /** Whether the directory is gone. */
  async #cleanChild(parent: OpenDirectory, name: Buffer, depth: number): Promise<boolean> {
    {
      using child = parent.child(name)
      if (!child?.isOnMountOf(this.#root) || this.#removal.isProtected(child)) return false
      const isEmpty = await this.#clean(child, depth + 1)
      // Its time before the cleaning, which has changed it. Reading a directory changes its access time.
      if (!isEmpty || Number(child.stats.mtimeMs) >= this.#oldBefore) return false
    }
    return this.#removal.directory(parent, name)
  }

  /** A socket, a pipe and a device stay: it cannot be seen from all namespaces whether they are in use. */
  #isOldFile(stats: BigIntStats): boolean {
    if (!stats.isFile() && !stats.isSymbolicLink()) return false
    // An archive that was unpacked a moment ago may contain old times of change, but not of access.
    const usedAt = Math.max(Number(stats.mtimeMs), stats.isFile() ? Number(stats.atimeMs) : 0)
    return usedAt < this.#oldBefore
  }
}
