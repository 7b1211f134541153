import { open, type FileHandle } from 'node:fs/promises'

// A single flush at the end would wait until the disk has written the whole file.
const FLUSH_BYTES = 16 * 1_024 ** 2

/** A new file, private to its owner. Its bytes go to the disk while later ones are written. */
export class NewFile implements AsyncDisposable {
  readonly #file: FileHandle
  #size = 0
  #flushedSize = 0
  #flush = Promise.resolve()

  private constructor(file: FileHandle) {
    this.#file = file
  }

  /** Throws when something has that name. */
  static async create(path: string): Promise<NewFile> {
    return new NewFile(await open(path, 'wx', 0o600))
  }

  /** In bytes. */
  get size(): number {
    return this.#size
  }

  async write(bytes: Uint8Array): Promise<void> {
    await writeAll(this.#file, bytes)
    this.#size += bytes.length
    if (this.#size - this.#flushedSize < FLUSH_BYTES) return
    await this.#flush
    this.#flushedSize = this.#size
    this.#flush = this.#file.datasync()
    // The next flush awaits this one.
    this.#flush.catch(() => undefined)
  }

  /** Resolves when every byte is on the disk. */
  async sync(): Promise<void> {
    await this.#flush
    await this.#file.sync()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#flush.catch(() => undefined)
    await this.#file.close()
  }
}

/** `writeFile` of a file handle writes 512 KiB at a time. */
export async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += (await file.write(bytes, at)).bytesWritten
}
