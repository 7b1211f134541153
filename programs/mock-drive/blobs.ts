import { randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream, mkdirSync, renameSync, rmSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { systemErrorCode } from '../files/system-error.ts'
import { ValueError } from '../mock-server/value-error.ts'

/** The contents of parts by their ids. A blob never changes. */
export interface Blobs {
  /** Stores the bytes. When the source fails, nothing is stored. */
  write(id: string, source: AsyncIterable<Uint8Array>): Promise<void>
  /** The bytes from `start` to `end`, exclusive. */
  read(id: string, start: number, end: number): AsyncIterable<Uint8Array>
  remove(id: string): void
}

export class MemoryBlobs implements Blobs {
  readonly #blobs = new Map<string, readonly Uint8Array[]>()

  async write(id: string, source: AsyncIterable<Uint8Array>): Promise<void> {
    const chunks: Uint8Array[] = []
    for await (const chunk of source) chunks.push(chunk)
    this.#blobs.set(id, chunks)
  }

  async *read(id: string, start: number, end: number): AsyncIterable<Uint8Array> {
    let at = 0
    for (const chunk of this.#blobs.get(id) ?? []) {
      if (at >= end) return
      const piece = chunk.subarray(Math.max(0, start - at), Math.max(0, end - at))
      at += chunk.length
      if (piece.length > 0) yield piece
    }
  }

  remove(id: string): void {
    this.#blobs.delete(id)
  }
}

/** A file for each blob. Throws a {@link ValueError} for a directory that cannot be used. */
export class DirectoryBlobs implements Blobs {
  readonly #directory: string

  constructor(directory: string) {
    this.#directory = directory
    try {
      mkdirSync(directory, { recursive: true, mode: 0o700 })
    } catch (error) {
      const got = `${JSON.stringify(directory)} (${systemErrorCode(error)})`
      throw new ValueError(`MOCK_DRIVE_DIR: expected a directory, or the path of a new one, got ${got}`, {
        cause: error,
      })
    }
  }

  async write(id: string, source: AsyncIterable<Uint8Array>): Promise<void> {
    const temporary = `${this.#path(id)}.${randomUUID()}`
    try {
      await pipeline(source, createWriteStream(temporary, { flags: 'wx', mode: 0o600 }))
      renameSync(temporary, this.#path(id))
    } finally {
      await rm(temporary, { force: true })
    }
  }

  async *read(id: string, start: number, end: number): AsyncIterable<Uint8Array> {
    if (end > start) yield* createReadStream(this.#path(id), { start, end: end - 1 })
  }

  remove(id: string): void {
    rmSync(this.#path(id), { force: true })
  }

  #path(id: string): string {
    return join(this.#directory, id)
  }
}
