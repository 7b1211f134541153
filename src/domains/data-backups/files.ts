import { mkdir, readdir, rm, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError, errorMessage } from '../../kernel/errors.ts'
import { moveFile } from '../../store/files/snapshot.ts'
import { requiredBytes } from './model.ts'

interface BackupFilesOptions {
  readonly directory: string
  /** Extension of the file names. */
  readonly extension: string
  /** The free space in a directory; left out: that of the file system. */
  readonly freeBytes?: (directory: string) => Promise<number>
}

/**
 * The directory of the backups. A backup is written under a name of its own and gets its final name, `<id>.<extension>`,
 * when it is complete and verified.
 */
export class BackupFiles {
  readonly #options: BackupFilesOptions

  constructor(options: BackupFilesOptions) {
    this.#options = options
  }

  nameOf(id: string): string {
    return `${id}.${this.#options.extension}`
  }

  pathOf(id: string): string {
    return join(this.#options.directory, this.nameOf(id))
  }

  /** Where a backup is written. */
  unplacedPathOf(id: string): string {
    return `${this.pathOf(id)}.unplaced`
  }

  /**
   * Rejects with `no_space` if a backup of a database of that size does not fit, and with `backup_directory_unavailable`
   * if there can be no directory.
   */
  async requireSpace(databaseBytes: number): Promise<void> {
    const { directory } = this.#options
    const [free, required] = [await this.#freeBytes(), requiredBytes(databaseBytes)]
    if (free < required) throw noSpace(directory, free, required)
  }

  async #freeBytes(): Promise<number> {
    const { directory, freeBytes = freeBytesOf } = this.#options
    try {
      await this.create()
      return await freeBytes(directory)
    } catch (error) {
      throw directoryUnavailable(directory, error)
    }
  }

  /** Creates the directory. */
  async create(): Promise<void> {
    await mkdir(this.#options.directory, { recursive: true, mode: 0o700 })
  }

  /** Gives a complete file its final name. */
  async place(id: string): Promise<void> {
    await moveFile(this.unplacedPathOf(id), this.pathOf(id))
  }

  /** Removes what an attempt has left under other names than the final one. */
  async removeUnplaced(id: string): Promise<void> {
    await this.#removeMatching((name) => name.startsWith(`${this.nameOf(id)}.`))
  }

  /** Removes every file of a backup; there may be none. */
  async remove(id: string): Promise<void> {
    await this.#removeMatching((name) => name === this.nameOf(id) || name.startsWith(`${this.nameOf(id)}.`))
  }

  /** The size of a placed file, or undefined if there is none. */
  async sizeOf(id: string): Promise<number | undefined> {
    try {
      return (await stat(this.pathOf(id))).size
    } catch (error) {
      if (isMissing(error)) return undefined
      throw error
    }
  }

  async #removeMatching(matches: (name: string) => boolean): Promise<void> {
    const { directory } = this.#options
    for (const name of (await namesIn(directory)).filter(matches))
      await rm(join(directory, name), { force: true })
  }
}

async function namesIn(directory: string): Promise<string[]> {
  try {
    return await readdir(directory)
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}

async function freeBytesOf(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory)
  return bavail * bsize
}

function noSpace(directory: string, free: number, required: number): AppError {
  const message = `A backup needs ${required} bytes in ${directory}, and ${free} are free; make room, or delete older backups.`
  return new AppError('unavailable', 'no_space', message)
}

function directoryUnavailable(directory: string, cause: unknown): AppError {
  const message = `The directory of the backups, ${directory}, cannot be used: ${errorMessage(cause)}.`
  return new AppError('unavailable', 'backup_directory_unavailable', message, { cause })
}
