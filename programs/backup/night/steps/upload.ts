import { join } from 'node:path'
import { backupIdOf } from '../../drive/index-entries.ts'
import type { DriveFile } from '../../drive/port.ts'
import { fileSource } from '../../drive/sources.ts'
import { BackupError } from '../../errors.ts'
import { newBackupId } from '../local-time.ts'
import { ownershipOf } from '../ownership.ts'
import { removeRemote } from '../remote-retention.ts'
import type { RunContext } from '../run-context.ts'
import { withGivenId } from '../state.ts'
import { packageStep } from './package.ts'
import type { NightStep } from './step.ts'

// Each further id means that another server has used the next second, too.
const IDS = 10

/**
 * Uploads the archive. An upload that was interrupted, also in another process, goes on. Where another server has used the
 * same folder and the same id, this run takes another one and packs again, because the id is in the package.
 */
export const uploadStep: NightStep = {
  name: 'upload',
  reaches: 'uploaded',
  errorCode: 'upload_failed',
  async run(context) {
    await removeAbandoned(context)
    for (let attempt = 0; attempt < IDS; attempt++) {
      const folderId = await context.drive().drive.ensureFolder(context.monthFolder())
      const isTaken = (await rivalsOf(context, folderId)).length > 0
      const rivals = isTaken ? [] : await upload(context, folderId)
      if (!isTaken && rivals.length === 0) return
      await takeAnotherId(context, folderId, rivals)
      await packageStep.run(context)
    }
    throw new BackupError('upload_failed', 'Other servers have used each id that this run could take.')
  },
}

/** The archives of other servers with the id of this run. What this run has uploaded earlier under its id is removed. */
async function rivalsOf(context: RunContext, folderId: string, uploaded?: DriveFile): Promise<DriveFile[]> {
  const { drive } = context.drive()
  const { backupId } = context.run
  const { isOwnFile } = ownershipOf(context, backupId, [])
  const named = (await drive.list(folderId)).filter(({ name }) => name.startsWith(`backup-${backupId}.`))
  if (uploaded)
    for (const file of named)
      if (isOwnFile(file) && file.fileId !== uploaded.fileId) await drive.delete(file.fileId)
  return named.filter((file) => !isOwnFile(file) && file.fileId !== uploaded?.fileId)
}

/**
 * Uploads the archive, and resolves with the archives of other servers that have the same id. If there are any, it removes
 * its own again: of two servers, the last one to upload sees the archive of the other, so that they never keep the same id.
 */
async function upload(context: RunContext, folderId: string): Promise<DriveFile[]> {
  const { deps, run } = context
  const archive = requireArchive(context)
  const { drive } = context.drive()
  deps.progress('uploading')
  const file = await drive.upload(
    { folderId, name: archive.name },
    fileSource(join(deps.settings.staging, archive.name), archive),
    {
      resume: run.upload,
      onState: (state) => context.updateRun({ upload: state }),
      onProgress: (bytes) => deps.progress(`uploaded ${Math.floor((100 * bytes) / archive.size)} %`),
      signal: deps.signal,
    },
  )
  // The unfinished upload in the state names a file that an earlier attempt has left.
  const rivals = await rivalsOf(context, folderId, file)
  const { upload: _upload, ...others } = context.run
  const path = `${context.monthFolder()}/${archive.name}`
  context.update({ run: { ...others, remote: { fileId: file.fileId, folderId, path } } })
  if (rivals.length > 0) await drive.delete(file.fileId)
  return rivals
}

/**
 * The next id that no server has used. Servers that have seen each other take different ids, in the order of their hashes.
 */
async function takeAnotherId(
  context: RunContext,
  folderId: string,
  rivals: readonly DriveFile[],
): Promise<void> {
  const { deps, state } = context
  const { archive, upload: _upload, remote: _remote, ...run } = context.run
  const onDrive = (await context.drive().drive.list(folderId)).flatMap(({ name }) => backupIdOf(name) ?? [])
  const taken = [...state.givenIds, ...onDrive, run.backupId]
  const nextId = () => newBackupId(run.startedAt, deps.settings.timeZone, taken)
  for (const { sha1 } of rivals) if (sha1 < (archive?.sha1 ?? '')) taken.push(nextId())
  const backupId = nextId()
  deps.logger.warn(
    { backup_id: backupId, taken: run.backupId },
    'another server has a backup with the id of this run in the same folder of the drive; the run takes another id',
  )
  context.update({
    givenIds: withGivenId(state, backupId),
    archives: (state.archives ?? []).filter((each) => each.backupId !== run.backupId),
    run: { ...run, backupId },
  })
}

export function requireArchive({ run }: RunContext) {
  if (run.archive) return run.archive
  throw new BackupError('internal', 'The state names no archive.')
}

/** Removes the archives of runs that were given up: a night leaves one archive on the drive. */
async function removeAbandoned(context: RunContext): Promise<void> {
  for (const backupId of context.state.abandonedIds) {
    if (!(await removeRemote(context, backupId))) continue
    context.update({ abandonedIds: context.state.abandonedIds.filter((each) => each !== backupId) })
  }
}
