import { createHash } from 'node:crypto'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { transientChunks } from '../package/file-chunks.ts'
import type { StagedArchive } from './state.ts'

// A directory that was named by mistake may have other files, such as a database.
const OWN_NAMES = /^(?:backup-\d{8}-\d{6}\..*|database\.snapshot.*|journal\.export.*|log-copies|dry-run)$/

/** Removes the routine's own files from the staging directory, and creates it if it is missing. */
export async function emptyStaging(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  await removeOthers(directory, undefined)
}

/** Removes the files of the routine from the staging directory, except this archive, which a retry uses. */
export async function keepInStaging(directory: string, archive: StagedArchive | undefined): Promise<void> {
  const names = await readdir(directory).catch(() => [])
  if (names.length > 0) await removeOthers(directory, archive?.name)
}

async function removeOthers(directory: string, kept: string | undefined): Promise<void> {
  for (const name of await readdir(directory))
    if (OWN_NAMES.test(name) && name !== kept)
      await rm(join(directory, name), { recursive: true, force: true })
}

/** Whether the archive is in the staging directory as it was packed. */
export async function isIntact(directory: string, { name, size, sha256 }: StagedArchive): Promise<boolean> {
  const hash = createHash('sha256')
  let bytes = 0
  try {
    for await (const chunk of transientChunks(join(directory, name))) {
      hash.update(chunk)
      bytes += chunk.length
    }
  } catch {
    return false
  }
  return bytes === size && hash.digest('hex') === sha256
}
