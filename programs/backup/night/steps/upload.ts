import { join } from 'node:path'
import { fileSource } from '../../drive/sources.ts'
import { BackupError } from '../../errors.ts'
import { removeRemote } from '../remote-retention.ts'
import type { RunContext } from '../run-context.ts'
import type { NightStep } from './step.ts'

/** Uploads the archive. An upload that was interrupted, also in another process, goes on. */
export const uploadStep: NightStep = {
  name: 'upload',
  reaches: 'uploaded',
  errorCode: 'upload_failed',
  async run(context) {
    const { deps, run } = context
    const archive = requireArchive(context)
    const { drive } = context.drive()
    await removeAbandoned(context)
    deps.progress('uploading')
    const folderId = await drive.ensureFolder(context.monthFolder())
    const file = await drive.upload(
      { folderId, name: archive.name },
      fileSource(join(deps.settings.staging, archive.name), archive),
      {
        resume: run.upload,
        onState: (upload) => context.updateRun({ upload }),
        onProgress: (bytes) => deps.progress(`uploaded ${Math.floor((100 * bytes) / archive.size)} %`),
        signal: deps.signal,
      },
    )
    const { upload: _upload, ...others } = context.run
    const path = `${context.monthFolder()}/${archive.name}`
    context.update({ run: { ...others, remote: { fileId: file.fileId, folderId, path } } })
  },
}

export function requireArchive({ run }: RunContext) {
  if (run.archive) return run.archive
  throw new BackupError('internal', 'The state names no archive.')
}

/** Removes the archives of runs that were given up: a night leaves one archive on the drive. */
async function removeAbandoned(context: RunContext): Promise<void> {
  for (const backupId of context.state.abandonedIds) {
    await removeRemote(context, backupId)
    context.update({ abandonedIds: context.state.abandonedIds.filter((each) => each !== backupId) })
  }
}
