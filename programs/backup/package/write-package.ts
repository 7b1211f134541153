import { createHash } from 'node:crypto'
import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Header } from 'tar/header'
import { Pax } from 'tar/pax'
import { errorMessage } from '../../../src/kernel/errors.ts'
import { flushDirectory } from '../../files/replace-file.ts'
import { BackupError } from '../errors.ts'
import { seal } from './age.ts'
import { gzipChunks, zstdFrames } from './compression.ts'
import { transientChunks } from './file-chunks.ts'
import { leftOutOf, type SkippedLog } from './left-out.ts'
import { copyCertificates, copyLogs, type LogRoots } from './log-copies.ts'
import { encodeManifest, MANIFEST_NAME, type PackagedFile, type PackageManifest } from './manifest.ts'
import { NewFile } from './new-file.ts'

export type Compression = 'zstd' | 'gzip'

/** A file that nobody changes while it is packed. */
export interface StableFile {
  /** The path of the file. */
  readonly file: string
  /** The SHA-256 of the file, if it is known: then the file is read once less. */
  readonly sha256?: string
}

export interface PackageRequest extends LogRoots {
  /** The members that describe the backup; those of its files are added. */
  readonly manifest: Omit<PackageManifest, 'format' | 'size' | 'sha256' | 'files' | 'left_out'>
  /** The snapshot, and its name in the package, such as `database/platform.db`. */
  readonly database: StableFile & { readonly path: `database/${string}` }
  /** The directory with the files of the certificates. */
  readonly certificates?: string | undefined
  /** Other files that the package lacks, with the reasons. */
  readonly skipped?: readonly SkippedLog[] | undefined
  /** The exported journal. */
  readonly journal?: StableFile | undefined
  /** An empty directory for the package, and for copies of the logs while it is made. */
  readonly directory: string
  /** The name of the package without its extensions, such as `backup-20260131-020000`. */
  readonly name: string
  readonly compression: Compression
  /** age recipients; the package is sealed for all of them. */
  readonly recipients: readonly string[]
  readonly signal?: AbortSignal | undefined
}

/** A package that is complete on disk. */
export interface WrittenPackage {
  readonly file: string
  readonly size: number
  /** SHA-256 of the file, in hexadecimal digits. */
  readonly sha256: string
  /** The SHA-1 in upper case, as the drive needs it. */
  readonly sha1: string
  readonly manifest: PackageManifest
  readonly skippedLogs: readonly SkippedLog[]
}

const EXTENSIONS: Readonly<Record<Compression, string>> = { zstd: '.tar.zst', gzip: '.tar.gz' }

export function packageName({
  name,
  compression,
  recipients,
}: Pick<PackageRequest, 'name' | 'compression' | 'recipients'>): string {
  return `${name}${EXTENSIONS[compression]}${recipients.length > 0 ? '.age' : ''}`
}

/**
 * Packs, compresses, seals and hashes in one pass over streams. Throws `no_space` or `archive_failed`, and then leaves
 * nothing behind.
 */
export async function writePackage(request: PackageRequest): Promise<WrittenPackage> {
  const file = join(request.directory, packageName(request))
  const copies = join(request.directory, 'log-copies')
  try {
    const contents = await contentsOf(request, copies)
    const written = await writeArchive(request, file, contents.files)
    return { file, ...written, manifest: contents.manifest, skippedLogs: contents.skippedLogs }
  } catch (error) {
    await rm(file, { force: true })
    throw packageFailure(error)
  } finally {
    await rm(copies, { recursive: true, force: true })
  }
}

function packageFailure(error: unknown): BackupError {
  if (error instanceof BackupError) return error
  return new BackupError('archive_failed', `The package was not written: ${errorMessage(error)}`, {
    cause: error,
  })
}

interface Contents {
  readonly manifest: PackageManifest
  readonly files: readonly TarFile[]
  readonly skippedLogs: readonly SkippedLog[]
}

/** The manifest, which comes first, and every file with its hash. */
async function contentsOf(request: PackageRequest, copies: string): Promise<Contents> {
  const { database, journal, skipped = [], signal } = request
  const first = await describe(database.path, database)
  const certificates = await copyCertificates(request.certificates, copies, signal)
  const logCopies = await copyLogs(request, copies, signal)
  const last = journal ? [await describe('journal.export', journal)] : []
  const described = [first, ...certificates.copies, ...logCopies.copies, ...last]
  const { size, sha256 } = first
  const files = described.map(({ path, size: bytes, sha256: hash }) => ({ path, size: bytes, sha256: hash }))
  const allSkipped = [...skipped, ...certificates.skipped, ...logCopies.skipped]
  const leftOut = leftOutOf(allSkipped)
  const manifest: PackageManifest = {
    format: 1,
    ...request.manifest,
    size,
    sha256,
    files,
    ...(leftOut && { left_out: leftOut }),
  }
  return {
    manifest,
    files: [manifestFile(manifest), ...described.map(toTarFile)],
    skippedLogs: allSkipped,
  }
}

interface DescribedFile extends PackagedFile {
  readonly file: string
  readonly modifiedAt: number
}

async function describe(path: string, { file, sha256 }: StableFile): Promise<DescribedFile> {
  const { size, mtimeMs } = await stat(file)
  return { path, size, sha256: sha256 ?? (await sha256Of(file)), file, modifiedAt: mtimeMs }
}

async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of transientChunks(file)) hash.update(chunk)
  return hash.digest('hex')
}

function toTarFile({ path, size, modifiedAt, file }: DescribedFile): TarFile {
  return { path, size, modifiedAt, read: () => transientChunks(file, size) }
}

function manifestFile(manifest: PackageManifest): TarFile {
  const bytes = Buffer.from(encodeManifest(manifest))
  async function* read() {
    yield bytes
  }
  return { path: MANIFEST_NAME, size: bytes.length, modifiedAt: Date.parse(manifest.created_at), read }
}

async function writeArchive(
  { compression, recipients, directory, signal }: PackageRequest,
  file: string,
  files: readonly TarFile[],
): Promise<Pick<WrittenPackage, 'size' | 'sha256' | 'sha1'>> {
  const tar = tarArchive(files)
  const compressed = compression === 'zstd' ? zstdFrames(tar) : gzipChunks(tar)
  const bytes = recipients.length > 0 ? seal(compressed, recipients) : compressed
  const [sha256, sha1] = [createHash('sha256'), createHash('sha1')]
  await using archive = await NewFile.create(file)
  for await (const chunk of bytes) {
    signal?.throwIfAborted()
    const written = archive.write(chunk)
    sha256.update(chunk)
    sha1.update(chunk)
    await written
  }
  await archive.sync()
  flushDirectory(directory)
  return { size: archive.size, sha256: sha256.digest('hex'), sha1: sha1.digest('hex').toUpperCase() }
}

const BLOCK_BYTES = 512
const END = Buffer.alloc(2 * BLOCK_BYTES)
const PADDING = Buffer.alloc(BLOCK_BYTES)

/** One file of an archive. */
interface TarFile {
  readonly path: string
  readonly size: number
  /** Milliseconds since the epoch. */
  readonly modifiedAt: number
  /** Exactly `size` bytes; a chunk is valid until the next one is read. */
  read(): AsyncIterable<Uint8Array>
}

/** The bytes of a tar archive (POSIX pax) with these files. A chunk is valid until the next one is read. */
export async function* tarArchive(files: Iterable<TarFile>): AsyncIterable<Uint8Array> {
  for (const file of files) {
    yield* headerOf(file)
    yield* content(file)
    yield PADDING.subarray(0, paddingOf(file.size))
  }
  yield END
}

function paddingOf(size: number): number {
  return (BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES
}

function* headerOf({ path, size, modifiedAt }: TarFile): Iterable<Uint8Array> {
  const fields = {
    path,
    size,
    mtime: new Date(Math.floor(modifiedAt / 1_000) * 1_000),
    mode: 0o600,
    uid: 0,
    gid: 0,
  }
  const header = new Header({ ...fields, type: 'File' })
  // A file needs a second header only if its path or size does not fit into the first.
  if (header.encode()) yield new Pax({ path, size }).encode()
  if (header.block) yield header.block
}

async function* content({ path, size, read }: TarFile): AsyncIterable<Uint8Array> {
  let left = size
  for await (const chunk of read()) {
    left -= chunk.length
    if (left < 0) break
    yield chunk
  }
  if (left !== 0) throw new Error(`${path} has changed while it was packed`)
}
