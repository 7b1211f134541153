import { createHash } from 'node:crypto'
import type { Dirent } from 'node:fs'
import { mkdir, open, readdir, realpath } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { getSystemErrorMessage } from 'node:util'
import { errorMessage } from '../../../src/kernel/errors.ts'
import { systemErrorCode } from '../../files/system-error.ts'
import { transientChunksOf, openRegularFile } from './file-chunks.ts'
import type { SkippedLog } from './left-out.ts'
import type { PackagedFile } from './manifest.ts'
import { writeAll } from './new-file.ts'
import { isRestorable } from './paths.ts'

/** A copy of a log, as it was when it was read. */
export interface LogCopy extends PackagedFile {
  /** Where the copy is. */
  readonly file: string
  readonly modifiedAt: number
}

/** The directories of logs, and which of them may be missing. */
export interface LogRoots {
  readonly logs: readonly string[]
  readonly optionalLogs: readonly string[]
}

export interface LogCopies {
  readonly copies: readonly LogCopy[]
  readonly skipped: readonly SkippedLog[]
}

/**
 * Copies every log below the roots, and hashes it on the way: one that grows, shrinks or goes later changes nothing.
 * Links are not followed; one that leads to a log below a root is no file of its own. A log whose name no reader accepts is
 * skipped, because the whole package could not be restored with it.
 */
export async function copyLogs(roots: LogRoots, directory: string, signal?: AbortSignal): Promise<LogCopies> {
  const copies: LogCopy[] = []
  const skipped: SkippedLog[] = []
  const isPacked = await packedTargetTest(roots)
  for (const [name, root] of namedRoots(roots.logs)) {
    for await (const { path, entry } of filesBelow(root, (each) =>
      skipped.push(markMissingRoot(each, root, roots)),
    )) {
      signal?.throwIfAborted()
      if (!entry.isFile()) {
        const reason = await reasonOfSpecial(path, entry, isPacked)
        if (reason !== undefined) skipped.push({ path, reason })
        continue
      }
      const packedAs = join(name, path.slice(root.length + 1))
      if (isRestorable(packedAs)) await addCopy(path, packedAs, directory, { copies, skipped })
      else skipped.push({ path, reason: 'its name cannot be restored' })
    }
  }
  return { copies, skipped }
}

// Certificates of the platform (docs/specification.md, Certificates). The directory may have others, such as those with tokens.
const CERTIFICATE_FILE = /^[0-9a-f]{64}\.pem$/

/** Copies the files of the certificates, as {@link copyLogs} does. Without the directory there is no certificate yet. */
export async function copyCertificates(
  certificates: string | undefined,
  directory: string,
  signal?: AbortSignal,
): Promise<LogCopies> {
  const copies: LogCopy[] = []
  const skipped: SkippedLog[] = []
  if (certificates === undefined) return { copies, skipped }
  const names = await readdir(certificates).catch((error: unknown) => {
    if (systemErrorCode(error) !== 'ENOENT') skipped.push({ path: certificates, reason: reasonOf(error) })
    return []
  })
  for (const name of names.filter((each) => CERTIFICATE_FILE.test(each)).toSorted()) {
    signal?.throwIfAborted()
    await addCopy(join(certificates, name), join('certs', name), directory, { copies, skipped })
  }
  return { copies, skipped }
}

async function addCopy(
  path: string,
  packedAs: string,
  directory: string,
  { copies, skipped }: { readonly copies: LogCopy[]; readonly skipped: SkippedLog[] },
): Promise<void> {
  try {
    copies.push(await copyLog(path, packedAs, join(directory, packedAs)))
  } catch (error) {
    if (error instanceof CopyError) throw error
    skipped.push({ path, reason: reasonOf(error) })
  }
}

/** `logs/…` for one root; `logs/<its name>/…` for several, of which no two have the same name. */
function namedRoots(roots: readonly string[]): [name: string, root: string][] {
  const clean = roots.map(withoutSlash)
  if (clean.length === 1) return clean.map((root) => ['logs', root])
  const taken = new Set<string>()
  return clean.map((root) => {
    let name = basename(root)
    for (let number = 2; taken.has(name); number++) name = `${basename(root)}-${number}`
    taken.add(name)
    return [join('logs', name), root]
  })
}

function withoutSlash(path: string): string {
  return path.replace(/(?<=[^/])\/+$/, '')
}

/** Every file below the directory, that is everything but directories. */
async function* filesBelow(
  directory: string,
  onSkipped: (skipped: SkippedLog) => void,
): AsyncIterable<{ readonly path: string; readonly entry: Dirent }> {
  const entries = await readdir(directory, { withFileTypes: true }).catch((error: unknown) => {
    onSkipped({ path: directory, reason: reasonOf(error) })
    return []
  })
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) yield* filesBelow(path, onSkipped)
    else yield { path, entry }
  }
}

/** Marks a directory that could not be read if it is a root that may not be missing. */
function markMissingRoot(skipped: SkippedLog, root: string, { optionalLogs }: LogRoots): SkippedLog {
  const isRoot = skipped.path === root
  return isRoot && !optionalLogs.map(withoutSlash).includes(root)
    ? { ...skipped, isMissingRoot: true }
    : skipped
}

/** A function that tests whether the target of a link is below a root, and thereby packed itself. */
async function packedTargetTest({ logs }: LogRoots): Promise<(target: string) => boolean> {
  const real = await Promise.all(logs.map((root) => realpath(root).catch(() => root)))
  return (target) => real.some((root) => target.startsWith(`${root}/`))
}

/** Undefined for a link to what is packed. */
async function reasonOfSpecial(
  path: string,
  entry: Dirent,
  isPacked: (target: string) => boolean,
): Promise<string | undefined> {
  if (!entry.isSymbolicLink()) return 'it is a socket, a pipe or a device'
  const target = await realpath(path).catch(() => undefined)
  if (target === undefined) return 'it is a link that leads nowhere'
  return isPacked(target) ? undefined : 'it is a link to another place'
}

/** The reason without the path, which the log has beside it. */
function reasonOf(error: unknown): string {
  return error instanceof Error && 'errno' in error && typeof error.errno === 'number'
    ? getSystemErrorMessage(error.errno)
    : errorMessage(error)
}

/** An error of the copy, such as a full disk, is no reason to leave a log out. */
class CopyError extends Error {
  override readonly name = 'CopyError'
}

function withCopyError<T>(step: Promise<T>): Promise<T> {
  return step.catch((error: unknown) => {
    throw new CopyError(errorMessage(error), { cause: error })
  })
}

async function copyLog(path: string, packedAs: string, file: string): Promise<LogCopy> {
  await using log = await openRegularFile(path)
  const { size: sizeAtOpen, mtimeMs } = await log.stat()
  await withCopyError(mkdir(dirname(file), { recursive: true, mode: 0o700 }))
  await using copy = await withCopyError(open(file, 'wx', 0o600))
  const hash = createHash('sha256')
  let size = 0
  for await (const chunk of transientChunksOf(log, sizeAtOpen)) {
    const written = withCopyError(writeAll(copy, chunk))
    hash.update(chunk)
    size += chunk.length
    await written
  }
  return { path: packedAs, size, sha256: hash.digest('hex'), file, modifiedAt: mtimeMs }
}

/** The bytes of all logs below the roots at this moment. */
export async function logBytes(roots: readonly string[]): Promise<number> {
  let bytes = 0
  for (const root of roots) {
    for await (const { path } of filesBelow(root, () => undefined)) {
      const file = await openRegularFile(path).catch(() => undefined)
      bytes += (await file?.stat())?.size ?? 0
      await file?.close()
    }
  }
  return bytes
}
