import type { IndexEntry } from '../drive/index-entries.ts'
import type { DriveFile } from '../drive/port.ts'
import type { NightSettings } from './deps.ts'
import type { RunContext } from './run-context.ts'

/** Which files and entries of a backup on the drive this server has made: another server may use the same folder and id. */
export interface Ownership {
  isOwnEntry(entry: IndexEntry): boolean
  isOwnFile(file: DriveFile): boolean
}

/** Finds out whose an archive is; `entries` are those of the index of the month. */
export function ownershipOf(
  { state, deps: { settings } }: Pick<RunContext, 'state' | 'deps'>,
  backupId: string,
  entries: readonly IndexEntry[],
): Ownership {
  const made = (state.archives ?? []).filter((each) => each.backupId === backupId)
  const isNamed = ({ backup_id: id }: IndexEntry) => id === backupId
  const isOwnName = ({ name }: DriveFile) => name.startsWith(`backup-${backupId}.`)
  // The drive may name another hash than that of the archive that was sent, and may have completed an upload whose end
  // this server has not seen.
  const run = state.run?.backupId === backupId ? state.run : undefined
  const sent = [run?.remote?.fileId, run?.upload?.fileId]
  if (made.length > 0)
    return {
      isOwnEntry: (entry) => isNamed(entry) && made.some(({ sha256 }) => sha256 === entry.sha256),
      isOwnFile: (file) =>
        isOwnName(file) && (sent.includes(file.fileId) || made.some(({ sha1 }) => sha1 === file.sha1)),
    }
  // Without a named archive, as in the state of an older release, this server owns everything that no other server names as
  // its own.
  const others = entries.filter((entry) => !isOfServer(entry, settings))
  return {
    isOwnEntry: (entry) => isNamed(entry) && isOfServer(entry, settings),
    isOwnFile: (file) =>
      isOwnName(file) && !others.some((other) => other.file === file.name && other.size === file.size),
  }
}

/** Whether an entry is one of this server. Older entries name its role only. */
export function isOfServer(
  { made_by: madeBy, servers }: IndexEntry,
  settings: Pick<NightSettings, 'madeBy' | 'server'>,
): boolean {
  return madeBy === undefined ? [servers].flat().includes(settings.server) : madeBy === settings.madeBy
}
