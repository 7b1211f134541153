import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  opendirSync,
  openSync,
  readFileSync,
  type BigIntStats,
} from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { systemErrorCode } from '../../files/system-error.ts'

// ENOTDIR: O_DIRECTORY together with O_NOFOLLOW reports a link as such.
const NOT_A_DIRECTORY: readonly unknown[] = ['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'EPERM']
const ENTRIES_PER_TURN = 256

/**
 * An open directory. Its entries are reached through its handle (proc_pid_fd(5)), so a name always belongs to this
 * directory, even if the directory is moved or replaced by a link meanwhile. The calls are synchronous: a handle per
 * entry on the thread pool takes ten times as long, and {@link OpenDirectory.names} lets other work run in between.
 */
export class OpenDirectory implements Disposable {
  /** The path in messages. */
  readonly path: string
  /** At the time when it was opened. */
  readonly stats: BigIntStats
  readonly #file: number
  readonly #prefix: Buffer
  readonly #mount: string

  private constructor(location: string | Buffer, path: string) {
    this.#file = openSync(location, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
    try {
      this.path = path
      this.#prefix = Buffer.from(`/proc/self/fd/${this.#file}/`)
      this.stats = fstatSync(this.#file, { bigint: true })
      this.#mount = `${mountOf(this.#file)}:${this.stats.dev}`
    } catch (error) {
      closeSync(this.#file)
      throw error
    }
  }

  /** Opens an absolute path without following any link in it; undefined when there is no such directory. */
  static open(path: string): OpenDirectory | undefined {
    let directory: OpenDirectory | undefined = new OpenDirectory('/', '/')
    for (const name of path.split('/').filter(Boolean)) {
      using parent: OpenDirectory = directory
      directory = parent.child(name)
      if (!directory) {
        parent.#requireNoLink(name)
        return undefined
      }
    }
    return directory
  }

  /** The directory of that name; undefined when there is none, or none that may be opened. A link is none. */
  child(name: string | Buffer): OpenDirectory | undefined {
    try {
      return new OpenDirectory(this.at(name), this.pathOf(name))
    } catch (error) {
      if (NOT_A_DIRECTORY.includes(systemErrorCode(error))) return undefined
      throw error
    }
  }

  /** The entry of that name, itself if it is a link; undefined when there is none. */
  stat(name: string | Buffer): BigIntStats | undefined {
    return lstatSync(this.at(name), { bigint: true, throwIfNoEntry: false })
  }

  /** The names of the entries; bytes, because a name need not be valid UTF-8. Entries may be removed meanwhile. */
  async *names(signal?: AbortSignal): AsyncIterable<Buffer> {
    // The types of Node.js lack the encoding that makes each name a buffer.
    const entries = opendirSync(this.#prefix.toString(), { encoding: 'buffer' as BufferEncoding })
    try {
      for (let count = 0; ; count++) {
        if (count % ENTRIES_PER_TURN === 0) await nextTurn()
        signal?.throwIfAborted()
        const entry = entries.readSync()
        if (!entry) return
        yield Buffer.from(entry.name)
      }
    } finally {
      entries.closeSync()
    }
  }

  /** A path of an entry that does not depend on where this directory is. */
  at(name: string | Buffer): Buffer {
    return Buffer.concat([this.#prefix, Buffer.from(name)])
  }

  /** The path of an entry for messages. */
  pathOf(name: string | Buffer): string {
    return `${this.path === '/' ? '' : this.path}/${name.toString()}`
  }

  /** Whether both are on the same mount. A bind mount is another one, though it has the same device. */
  isOnMountOf(other: OpenDirectory): boolean {
    return this.#mount === other.#mount
  }

  [Symbol.dispose](): void {
    closeSync(this.#file)
  }

  #requireNoLink(name: string): void {
    if (!this.stat(name)?.isSymbolicLink()) return
    throw new Error(`${this.pathOf(name)} is a symbolic link; name the directory that it leads to`)
  }
}

/** Reads proc_pid_fdinfo(5). */
function mountOf(file: number): string {
  return /^mnt_id:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${file}`, 'utf8'))?.[1] ?? ''
}
