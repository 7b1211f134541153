import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, open, type FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Parser } from 'tar/parse'
import type { ReadEntry } from 'tar/read-entry'
import { errorMessage } from '../../../src/kernel/errors.ts'
import { AGE_MAGIC, unseal } from './age.ts'
import { ByteReader } from './byte-reader.ts'
import { decompressChunks } from './decompression.ts'
import { fileChunks } from './file-chunks.ts'
import { MANIFEST_NAME, parseManifest, type PackagedFile, type PackageManifest } from './manifest.ts'
import { isSafePath } from './paths.ts'

/** What a package can fail; a restore drill reports them by these names. */
export const PACKAGE_CHECKS = ['decrypts', 'unpacks', 'manifest', 'files'] as const
export type PackageCheck = (typeof PACKAGE_CHECKS)[number]

/** The first check that a package fails. */
export class PackageError extends Error {
  override readonly name = 'PackageError'
  readonly check: PackageCheck

  constructor(check: PackageCheck, message: string, options?: ErrorOptions) {
    super(message, options)
    this.check = check
  }
}

export interface UnpackRequest {
  readonly file: string
  /** An empty directory. Nothing is written outside of it. */
  readonly directory: string
  /** age identities (`AGE-SECRET-KEY-1…`), for a sealed package. */
  readonly identities: readonly string[]
  /** Called before a file is written. It rejects to refuse the package. */
  readonly onManifest?: (manifest: PackageManifest) => Promise<void>
  readonly signal?: AbortSignal | undefined
}

const BLOCK_BYTES = 256 * 1_024
const MAX_MANIFEST_BYTES = 64 * 1_024 ** 2
// Headers and padding of each file, and the end of the archive
const OVERHEAD_BYTES = 4 * 1_024
const OVERHEAD_SHARE = 1.1

/** Writes the files of a package into the directory, each compared with the manifest. Throws a {@link PackageError}. */
export async function unpackPackage(request: UnpackRequest): Promise<PackageManifest> {
  const unpacking = new Unpacking(request)
  const parser = new Parser({ strict: true, onReadEntry: (entry) => unpacking.take(entry) })
  // Entries of a kind that the parser does not read, such as sparse files.
  parser.on('ignoredEntry', (entry: ReadEntry) => unpacking.refuse(entry))
  const failed = new Promise<never>((_, reject) => {
    parser.on('error', (error) =>
      reject(new PackageError('unpacks', `The archive is damaged: ${errorMessage(error)}`)),
    )
    unpacking.onFailure(reject)
  })
  failed.catch(() => undefined)
  const ended = new Promise<void>((resolve) => void parser.on('end', () => resolve()))
  // Padding follows, which the parser would keep in memory.
  let isAtEnd = false
  parser.on('eof', () => (isAtEnd = true))
  try {
    for await (const chunk of tarBytes(request)) {
      request.signal?.throwIfAborted()
      unpacking.count(chunk.length)
      if (isAtEnd) continue
      if (!parser.write(chunk)) await Promise.race([once(parser, 'drain'), failed])
      unpacking.throwFailure()
    }
    parser.end()
    await Promise.race([ended, failed])
    return await Promise.race([unpacking.finish(), failed])
  } catch (error) {
    await unpacking.abort(error)
    throw error
  }
}

async function* tarBytes({ file, identities }: UnpackRequest): AsyncIterable<Buffer> {
  const isSealed = await startsWith(file, AGE_MAGIC)
  const bytes = isSealed
    ? failCheckOnError('decrypts', unseal(fileChunks(file), identities))
    : fileChunks(file)
  yield* failCheckOnError('unpacks', requireUncompressed(decompressChunks(bytes)))
}

// gzip (RFC 1952) and zstd (RFC 8878)
const COMPRESSED = [Buffer.from([0x1f, 0x8b]), Buffer.from([0x28, 0xb5, 0x2f, 0xfd])]

/** The parser would decompress an archive once more, and its limit would be that of the outer one. */
async function* requireUncompressed(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Buffer> {
  const reader = new ByteReader(chunks)
  try {
    const start = await reader.readUpTo(BLOCK_BYTES)
    if (COMPRESSED.some((magic) => start.subarray(0, magic.length).equals(magic)))
      throw new Error('it is compressed twice')
    yield start
    while (!(await reader.isAtEnd())) yield await reader.readUpTo(BLOCK_BYTES)
  } finally {
    await reader.close()
  }
}

async function startsWith(file: string, text: string): Promise<boolean> {
  let start = Buffer.alloc(0)
  for await (const chunk of fileChunks(file, text.length)) start = Buffer.concat([start, chunk])
  return start.toString('latin1') === text
}

async function* failCheckOnError<T>(check: PackageCheck, chunks: AsyncIterable<T>): AsyncIterable<T> {
  try {
    yield* chunks
  } catch (error) {
    if (error instanceof PackageError) throw error
    throw new PackageError(check, `The package cannot be read: ${errorMessage(error)}`, { cause: error })
  }
}

/** The entries of an archive on their way to the directory. */
class Unpacking {
  readonly #request: UnpackRequest
  #manifest: PackageManifest | undefined
  #expected = new Map<string, PackagedFile>()
  #limit = MAX_MANIFEST_BYTES + OVERHEAD_BYTES
  #bytes = 0
  #work: Promise<void> = Promise.resolve()
  #failure: Error | undefined
  #reject: (error: unknown) => void = () => undefined
  readonly #aborting = Promise.withResolvers<never>()

  constructor(request: UnpackRequest) {
    this.#request = request
    this.#aborting.promise.catch(() => undefined)
  }

  /** Closes the file that is being written. */
  async abort(error: unknown): Promise<void> {
    this.#failure ??= toError(error)
    this.#aborting.reject(error)
    await this.#work
  }

  onFailure(reject: (error: unknown) => void): void {
    this.#reject = reject
  }

  throwFailure(): void {
    if (this.#failure) throw this.#failure
  }

  /** Limits what a small package can grow to. */
  count(bytes: number): void {
    this.#bytes += bytes
    if (this.#bytes > this.#limit)
      throw new PackageError('unpacks', 'The archive has more bytes than its manifest names.')
  }

  take(entry: ReadEntry): void {
    this.#work = this.#work
      .then(() => this.#write(entry))
      .catch((error: unknown) => {
        this.#fail(error)
        entry.resume()
      })
  }

  refuse(entry: ReadEntry): void {
    this.#work = this.#work.then(() => this.#fail(wrongKind(entry)))
  }

  #fail(error: unknown): void {
    this.#failure ??= toError(error)
    this.#reject(error)
  }

  async finish(): Promise<PackageManifest> {
    await this.#work
    this.throwFailure()
    if (!this.#manifest) throw new PackageError('manifest', `The archive has no ${MANIFEST_NAME}.`)
    const [missing] = this.#expected.keys()
    if (missing !== undefined) throw new PackageError('files', `${missing} is not in the archive.`)
    return this.#manifest
  }

  async #write(entry: ReadEntry): Promise<void> {
    if (this.#failure) return entry.resume()
    if (!this.#manifest) return this.#readManifest(entry)
    const { path, type, size } = entry
    const expected = this.#expected.get(path)
    // Directories are made for the files in them.
    if (!expected && type === 'Directory') return entry.resume()
    if (type !== 'File' && type !== 'OldFile') throw wrongKind(entry)
    if (!expected)
      throw new PackageError(
        'files',
        `${printablePath(path)} is not in the manifest, or twice in the archive.`,
      )
    if (size !== expected.size)
      throw new PackageError(
        'files',
        `${printablePath(path)} has ${size} bytes, and ${expected.size} in the manifest.`,
      )
    this.#expected.delete(path)
    await this.#writeFile(entry, expected)
  }

  /** An entry whose archive ends in the middle would never end. */
  async *#content(entry: ReadEntry): AsyncIterable<Uint8Array> {
    const iterator = entry[Symbol.asyncIterator]()
    for (;;) {
      const { done, value } = await Promise.race([iterator.next(), this.#aborting.promise])
      if (done) return
      yield value
    }
  }

  async #readManifest(entry: ReadEntry): Promise<void> {
    if (entry.path !== MANIFEST_NAME || entry.size > MAX_MANIFEST_BYTES)
      throw new PackageError('manifest', `The archive does not begin with ${MANIFEST_NAME}.`)
    const chunks: Uint8Array[] = []
    for await (const chunk of this.#content(entry)) chunks.push(chunk)
    this.#manifest = manifestIn(Buffer.concat(chunks).toString('utf8'))
    const { files } = this.#manifest
    await this.#request.onManifest?.(this.#manifest)
    this.#expected = new Map(files.map((file) => [file.path, file]))
    const content = files.reduce((sum, { size }) => sum + size + OVERHEAD_BYTES, entry.size)
    this.#limit = content * OVERHEAD_SHARE + MAX_MANIFEST_BYTES
  }

  async #writeFile(entry: ReadEntry, { path, sha256 }: PackagedFile): Promise<void> {
    const hash = createHash('sha256')
    await using file = await explainWriteError(path, this.#create(path))
    for await (const chunk of this.#content(entry)) {
      hash.update(chunk)
      await explainWriteError(path, file.writeFile(chunk))
    }
    if (hash.digest('hex') !== sha256)
      throw new PackageError('files', `${printablePath(path)} has another SHA-256.`)
  }

  async #create(path: string): Promise<FileHandle> {
    const target = join(this.#request.directory, path)
    await mkdir(dirname(target), { recursive: true, mode: 0o700 })
    return open(target, 'wx', 0o600)
  }
}

/** A file may be in the way of a directory of the same package, its name too long, or the disk full. */
async function explainWriteError<T>(path: string, step: Promise<T>): Promise<T> {
  try {
    return await step
  } catch (error) {
    const message = `${printablePath(path)} cannot be written: ${errorMessage(error)}`
    throw new PackageError('unpacks', message, { cause: error })
  }
}

function wrongKind({ path, type }: ReadEntry): PackageError {
  return new PackageError('unpacks', `${printablePath(path)} is a ${type}; a package has files only.`)
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(errorMessage(error))
}

function manifestIn(text: string): PackageManifest {
  try {
    const manifest = parseManifest(text)
    const unsafe = manifest.files.find(({ path }) => !isSafePath(path))
    if (unsafe) throw new Error(`it names the unsafe path ${printablePath(unsafe.path)}`)
    return manifest
  } catch (error) {
    throw new PackageError('manifest', `${MANIFEST_NAME} cannot be used: ${errorMessage(error)}`, {
      cause: error,
    })
  }
}

/** Escapes control characters, which could change a terminal. */
function printablePath(path: string): string {
  return JSON.stringify(path.slice(0, 200))
}
