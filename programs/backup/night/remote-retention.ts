import { expiredBackups } from '../drive/retention.ts'
import { isOfServer, ownershipOf } from './ownership.ts'
import { RemoteIndex } from './remote-index.ts'
import type { RunContext } from './run-context.ts'

const MONTHS_BACK = 13

/** Removes the backups that `remote_keep` does not keep: first from the index of their month, then the archive. */
export async function expireRemote(context: RunContext): Promise<void> {
  const { deps, run } = context
  const known = context.state.remoteIds ?? (await searchDrive(context))
  context.update({ remoteIds: known })
  for (const backupId of expiredBackups(known, deps.settings.remoteKeep, run.backupId)) {
    deps.progress(`removing ${backupId} from the drive`)
    if (!(await removeRemote(context, backupId))) continue
    context.update({ remoteIds: (context.state.remoteIds ?? []).filter((each) => each !== backupId) })
    deps.logger.info({ backup_id: backupId }, 'an old backup was removed from the drive')
  }
}

/**
 * Removes a backup of this server from the index of its month, and its archive, whatever the extensions are. `false` when
 * the drive still has any of it, which another server may have written again meanwhile: the next night tries again.
 */
export async function removeRemote(context: RunContext, backupId: string): Promise<boolean> {
  const { drive } = context.drive()
  const folderId = await drive.findFolder(context.monthFolder(backupId))
  if (folderId === undefined) return true
  const index = new RemoteIndex(drive, folderId, context.deps.settings.hostName)
  const { isOwnEntry, isOwnFile } = ownershipOf(context, backupId, (await index.read()).entries)
  await index.remove(isOwnEntry)
  for (const file of await drive.list(folderId)) if (isOwnFile(file)) await drive.delete(file.fileId)
  const isLeft = (await drive.list(folderId)).some(isOwnFile) || (await index.read()).entries.some(isOwnEntry)
  if (isLeft) {
    context.deps.logger.warn({ backup_id: backupId }, 'the drive still has a backup after its removal')
    return false
  }
  const { archives = [] } = context.state
  context.update({ archives: archives.filter((each) => each.backupId !== backupId) })
  return true
}

/** The backups of this server in the indexes of the last months. Needed once, and after the state was lost. */
async function searchDrive(context: RunContext): Promise<string[]> {
  const { drive } = context.drive()
  const { settings } = context.deps
  const ids = new Set([context.run.backupId])
  for (const month of monthsUpTo(context.run.backupId)) {
    const folderId = await drive.findFolder(context.monthFolder(month))
    if (folderId === undefined) continue
    const { entries } = await new RemoteIndex(drive, folderId, settings.hostName).read()
    for (const entry of entries) if (isOfServer(entry, settings)) ids.add(entry.backup_id)
  }
  return [...ids].toSorted()
}

/** `202601`, `202512`, … */
function monthsUpTo(backupId: string): string[] {
  const [year, month] = [Number(backupId.slice(0, 4)), Number(backupId.slice(4, 6))]
  return Array.from({ length: MONTHS_BACK }, (_, back) => {
    const date = new Date(Date.UTC(year, month - 1 - back, 1))
    return date.toISOString().slice(0, 7).replace('-', '')
  })
}
