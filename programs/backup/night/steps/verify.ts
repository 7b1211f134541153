import { toRfc3339 } from '../../../../src/kernel/time.ts'
import type { IndexEntry } from '../../drive/index-entries.ts'
import { verifyUpload } from '../../drive/stored-files.ts'
import { BackupError } from '../../errors.ts'
import { isOfServer, ownershipOf } from '../ownership.ts'
import { RemoteIndex } from '../remote-index.ts'
import type { RunContext } from '../run-context.ts'
import { requireArchive } from './upload.ts'
import type { NightStep } from './step.ts'

/** Compares the archive on the drive with the one here, enters it into the index of its month, and reads that back. */
export const verifyStep: NightStep = {
  name: 'verify',
  reaches: 'verified',
  errorCode: 'verify_mismatch',
  async run(context) {
    const { drive } = context.drive()
    const archive = requireArchive(context)
    const { remote } = context.run
    if (!remote) throw new BackupError('internal', 'The state names no archive on the drive.')
    context.deps.progress('verifying')
    await verifyUpload(drive, { fileId: remote.fileId, name: archive.name }, archive).catch(
      (error: unknown) => removeRejected(context, error),
    )
    const index = new RemoteIndex(drive, remote.folderId, context.deps.settings.hostName)
    const { isOwnEntry } = ownershipOf(context, context.run.backupId, [])
    const damagedIndex = await index.put(entryOf(context), isOwnEntry)
    if (damagedIndex !== undefined)
      context.deps.logger.error(
        { path: `${context.monthFolder()}/${damagedIndex}` },
        'the index of the month was damaged and is kept here; earlier backups of the month can be restored by their ids',
      )
    const { entries } = await index.read()
    requireEntry(entries, entryOf(context))
    rememberOthers(context, entries)
    const known = context.state.remoteIds
    if (known) context.update({ remoteIds: [...new Set([...known, context.run.backupId])] })
  },
}

/** Removes an archive that differs from the local one. */
async function removeRejected(context: RunContext, error: unknown): Promise<never> {
  const fileId = context.run.remote?.fileId
  if (fileId !== undefined && error instanceof BackupError && error.errorCode === 'verify_mismatch')
    await context
      .drive()
      .drive.delete(fileId)
      .catch((failure: unknown) => context.warn('the rejected archive is still on the drive', failure))
  throw error
}

function entryOf(context: RunContext): IndexEntry {
  const { name, size, sha256, createdAt, contents } = requireArchive(context)
  return {
    backup_id: context.run.backupId,
    file: name,
    size,
    sha256,
    created_at: toRfc3339(createdAt),
    contents,
    servers: [context.deps.settings.server],
    made_by: context.deps.settings.madeBy,
  }
}

/** Keeps the other servers of the folder for `status`, `install` and `doctor`: a shared folder is usually a mistake. */
function rememberOthers(context: RunContext, entries: readonly IndexEntry[]): void {
  const { settings, logger } = context.deps
  const others = entries.filter((entry) => !isOfServer(entry, settings))
  const sharedWith = [...new Set(others.map(({ made_by: madeBy, servers }) => madeBy ?? String(servers)))]
  context.update({ sharedWith })
  if (sharedWith.length > 0)
    logger.warn({ shared_with: sharedWith }, 'other servers have backups in the same folder of the drive')
}

function requireEntry(entries: readonly IndexEntry[], { backup_id, size, sha256 }: IndexEntry): void {
  const isWanted = (each: IndexEntry) =>
    each.backup_id === backup_id && each.sha256 === sha256 && each.size === size
  if (entries.some(isWanted)) return
  throw new BackupError(
    'verify_mismatch',
    `The index on the drive does not name the archive of ${backup_id}.`,
  )
}
