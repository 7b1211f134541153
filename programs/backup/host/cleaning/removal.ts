import { statSync, type BigIntStats } from 'node:fs'
import type { FileChanges } from '../file-changes.ts'
import { systemErrorCode } from '../../../files/system-error.ts'
import type { OpenDirectory } from '../open-directory.ts'
import { bytesOf } from './disk-usage.ts'
import type { StepOutcome } from './step.ts'

// The codes of an entry that was replaced, or filled, during the removal.
const CHANGED: readonly unknown[] = ['EISDIR', 'ENOTDIR', 'ENOTEMPTY', 'EEXIST']
// A mount point, or protected by the file system.
const NOT_REMOVABLE: readonly unknown[] = ['EBUSY', 'EPERM', 'EACCES']

/** Removes entries and counts them. */
export class Removal {
  readonly #files: FileChanges
  readonly #protected: ReadonlySet<string>
  #freedBytes = 0
  #removed = 0
  #left = 0

  constructor(files: FileChanges, protectedPaths: readonly string[]) {
    this.#files = files
    this.#protected = new Set(protectedPaths.flatMap(identitiesAt))
  }

  /** Whether a directory must not be entered. It is compared by its identity, since it may have several paths. */
  isProtected({ stats }: OpenDirectory): boolean {
    return this.#protected.has(identityOf(stats))
  }

  /** Whether the file is gone. */
  file(directory: OpenDirectory, name: Buffer, stats: BigIntStats): boolean {
    if (this.#protected.has(identityOf(stats))) return false
    const outcome = this.#attempt(directory.pathOf(name), () => this.#files.removeFile(directory, name))
    if (outcome === 'removed' && stats.isFile()) this.#freedBytes += bytesOf(stats)
    return outcome !== 'left'
  }

  /** Whether the directory is gone. */
  directory(parent: OpenDirectory, name: Buffer): boolean {
    return this.#attempt(parent.pathOf(name), () => this.#files.removeDirectory(parent, name)) !== 'left'
  }

  outcome(): StepOutcome {
    const left = this.#left > 0 ? `, ${this.#left} could not be removed` : ''
    return { freedBytes: this.#freedBytes, detail: `${this.#removed} removed${left}` }
  }

  #attempt(path: string, remove: () => void): 'removed' | 'gone' | 'left' {
    try {
      remove()
      this.#removed++
      return 'removed'
    } catch (error) {
      const code = systemErrorCode(error)
      if (code === 'ENOENT') return 'gone'
      if (NOT_REMOVABLE.includes(code)) this.#left++
      else if (!CHANGED.includes(code))
        // The error of the system names a path below /proc.
        throw new Error(`${JSON.stringify(path)} cannot be removed (${code})`, { cause: error })
      return 'left'
    }
  }
}

function identitiesAt(path: string): string[] {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false })
  return stats ? [identityOf(stats)] : []
}

function identityOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`
}
