import { createHash } from 'node:crypto'
import { mkdir, open, readdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { errorMessage } from '../../../src/kernel/errors.ts'
import { transientChunksOf, openRegularFile } from './file-chunks.ts'
import type { PackagedFile } from './manifest.ts'
import { writeAll } from './new-file.ts'
import { isRestorable } from './paths.ts'

/** A copy of a log, as it was when it was read. */
export interface LogCopy extends PackagedFile {
  /** Where the copy is. */
  readonly file: string
  readonly modifiedAt: number
}

/** A log that is not packed, with the reason. */
export interface SkippedLog {
  readonly path: string
  readonly reason: string
}

export interface LogCopies {
  readonly copies: readonly LogCopy[]
  readonly skipped: readonly SkippedLog[]
}

/**
 * Copies every log below the roots, and hashes it on the way: one that grows, shrinks or goes later changes nothing.
 * Links are not followed; sockets and pipes are no logs. A log whose name no reader accepts is skipped, because the whole
 * package could not be restored with it.
 */
export async function copyLogs(
  roots: readonly string[],
  directory: string,
  signal?: AbortSignal,
): Promise<LogCopies> {
  const copies: LogCopy[] = []
  const skipped: SkippedLog[] = []
  for (const [name, root] of namedRoots(roots)) {
    for await (const path of logsBelow(root, skipped)) {
      signal?.throwIfAborted()
      const packedAs = join(name, path.slice(root.length + 1))
      if (!isRestorable(packedAs)) {
        skipped.push({ path, reason: 'its name cannot be restored' })
        continue
      }
      const copy = await copyLog(path, packedAs, join(directory, packedAs)).catch((error: unknown) => {
        if (isOfTarget(error)) throw error
        skipped.push({ path, reason: errorMessage(error) })
      })
      if (copy) copies.push(copy)
    }
  }
  return { copies, skipped }
}

/** `logs/…` for one root; `logs/<its name>/…` for several, of which no two have the same name. */
function namedRoots(roots: readonly string[]): [name: string, root: string][] {
  const clean = roots.map((root) => root.replace(/(?<=[^/])\/+$/, ''))
  if (clean.length === 1) return clean.map((root) => ['logs', root])
  const taken = new Set<string>()
  return clean.map((root) => {
    let name = basename(root)
    for (let number = 2; taken.has(name); number++) name = `${basename(root)}-${number}`
    taken.add(name)
    return [join('logs', name), root]
  })
}

async function* logsBelow(directory: string, skipped: SkippedLog[]): AsyncIterable<string> {
  const entries = await readdir(directory, { withFileTypes: true }).catch((error: unknown) => {
    skipped.push({ path: directory, reason: errorMessage(error) })
    return []
  })
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) yield* logsBelow(path, skipped)
    else if (entry.isFile()) yield path
  }
}

/** An error of the copy, such as a full disk, is no reason to leave a log out. */
class TargetError extends Error {
  override readonly name = 'TargetError'
}

function isOfTarget(error: unknown): boolean {
  return error instanceof TargetError
}

async function copyLog(source: string, path: string, file: string): Promise<LogCopy> {
  await using log = await openRegularFile(source)
  const { size: sizeAtOpen, mtimeMs } = await log.stat()
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  await using copy = await open(file, 'wx', 0o600)
  const hash = createHash('sha256')
  let size = 0
  for await (const chunk of transientChunksOf(log, sizeAtOpen)) {
    const written = writeAll(copy, chunk).catch((error: unknown) => {
      throw new TargetError(errorMessage(error), { cause: error })
    })
    hash.update(chunk)
    size += chunk.length
    await written
  }
  return { path, size, sha256: hash.digest('hex'), file, modifiedAt: mtimeMs }
}

/** The bytes of all logs below the roots at this moment. */
export async function logBytes(roots: readonly string[]): Promise<number> {
  let bytes = 0
  for (const root of roots) {
    for await (const path of logsBelow(root, [])) {
      const file = await openRegularFile(path).catch(() => undefined)
      bytes += (await file?.stat())?.size ?? 0
      await file?.close()
    }
  }
  return bytes
}
