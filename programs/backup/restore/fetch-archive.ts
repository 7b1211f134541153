import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import type { Drive, DriveFile } from '../drive/port.ts'
import type { IndexedBackup } from './month-index.ts'
import { countText, sizeText } from './words.ts'

export interface FetchRequest {
  readonly drive: Drive
  readonly folderId: string
  readonly backup: IndexedBackup
  /** Where the archive is written; no file may be there. */
  readonly target: string
  readonly progress: (text: string) => void
  readonly signal?: AbortSignal | undefined
}

/** Downloads an archive and compares it with the index, if that names it. A lost connection is continued by the drive's client. */
export async function fetchArchive(request: FetchRequest): Promise<string> {
  const { backup, target } = request
  const file = await findArchive(request)
  const { size, sha256 } = await writeArchiveTo(target, file, request)
  if (size !== backup.size)
    throw new Error(`${backup.file} has ${countText(size)} bytes, and ${countText(backup.size)} in the index`)
  if (backup.sha256 === undefined)
    return `${countText(size)} bytes with the SHA-256 ${sha256}; no index names the archive, so only the hashes inside of it are compared`
  if (sha256 !== backup.sha256)
    throw new Error(`${backup.file} has the SHA-256 ${sha256}, and ${backup.sha256} in the index`)
  return `${countText(size)} bytes with the SHA-256 of the index, ${sha256}`
}

/** Finds the archive by its name and size: a repeated upload may have left another file of that name. */
async function findArchive({ drive, folderId, backup }: FetchRequest): Promise<DriveFile> {
  const namesakes = (await drive.list(folderId)).filter(({ name }) => name === backup.file)
  const file = namesakes.find(({ size }) => size === backup.size) ?? namesakes[0]
  if (file) return file
  throw new Error(`${backup.file} is in the index, but not on the drive`)
}

async function writeArchiveTo(
  target: string,
  file: DriveFile,
  { drive, progress, signal }: FetchRequest,
): Promise<{ size: number; sha256: string }> {
  const hash = createHash('sha256')
  let [size, percent] = [0, -1]
  await using archive = await open(target, 'wx', 0o600)
  for await (const chunk of drive.download(file)) {
    signal?.throwIfAborted()
    const written = archive.writeFile(chunk)
    hash.update(chunk)
    size += chunk.length
    await written
    const reached = Math.floor((size / file.size) * 100)
    if (reached === percent) continue
    percent = reached
    progress(`downloading ${file.name}: ${percent} % of ${sizeText(file.size)}`)
  }
  return { size, sha256: hash.digest('hex') }
}
