import { rm, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { readAuditSeal } from '../../../../src/config/secrets.ts'
import { AppError, errorMessage } from '../../../../src/kernel/errors.ts'
import { toRfc3339 } from '../../../../src/kernel/time.ts'
import { takeSnapshot, type DatabaseSnapshot } from '../../package/take-snapshot.ts'
import { BackupError } from '../../errors.ts'
import type { SkippedLog } from '../../package/left-out.ts'
import { logBytes } from '../../package/log-copies.ts'
import { writePackage, type WrittenPackage } from '../../package/write-package.ts'
import type { RunContext } from '../run-context.ts'
import { emptyStaging, isIntact } from '../staging.ts'
import type { StagedArchive } from '../state.ts'
import type { NightStep } from './step.ts'

/** Copies the database, exports the journal, and packs both with certificates and logs. An archive of an earlier try is used again. */
export const packageStep: NightStep = {
  name: 'package',
  reaches: 'packaged',
  errorCode: 'archive_failed',
  async run(context) {
    const { archive } = context.run
    const { staging } = context.deps.settings
    if (archive && (await isIntact(staging, archive))) {
      context.deps.logger.info({ file: archive.name }, 'going on with the archive of the last try')
      return
    }
    await emptyStaging(staging)
    await requireSpace(context)
    const written = await writeArchive(context)
    const { archive: _old, upload: _upload, remote: _remote, ...run } = context.run
    const made = stagedArchive(written, context)
    const { backupId } = run
    const { sha256, sha1 } = made
    context.update({
      run: { ...run, archive: made },
      archives: [...(context.state.archives ?? []), { backupId, sha256, sha1 }],
    })
  },
}

// docs/specification.md, Backup package
const DATABASE_FACTOR = 1.2

/** Throws `no_space` when the staging directory has too little space for a package. */
async function requireSpace({ deps }: RunContext): Promise<void> {
  const { databases, settings } = deps
  const databaseBytes = await databases.databaseBytes().catch((error: unknown) => {
    throw new BackupError('snapshot_failed', `The database cannot be read: ${errorMessage(causeOf(error))}`, {
      cause: error,
    })
  })
  const { certificates, logs, staging } = settings
  const needed = Math.ceil(databaseBytes * DATABASE_FACTOR + (await logBytes([certificates, ...logs])))
  const { bavail, bsize } = await statfs(staging)
  const free = bavail * bsize
  if (free >= needed) return
  throw new BackupError('no_space', `${staging} has ${free} bytes of free space; a package needs ${needed}.`)
}

/** The store wraps what SQLite reports in an error for clients. */
function causeOf(error: unknown): unknown {
  return error instanceof AppError && error.cause instanceof Error ? error.cause : error
}

async function writeArchive(context: RunContext): Promise<WrittenPackage> {
  const { deps, run } = context
  const { staging, certificates, logs, optionalLogs, compression, recipients } = deps.settings
  // Read before the copy, which then contains what the seal stands for. It lies beside the certificates.
  const seal = readAuditSeal(dirname(certificates))
  deps.progress('copying the database')
  const snapshot = await takeSnapshot(deps.databases, join(staging, 'database.snapshot'), {
    signal: deps.signal,
  })
  const { journal, skipped } = await exportJournal(context)
  deps.progress('packing')
  const written = await writePackage({
    manifest: { ...describeBackup(context, snapshot), ...(seal !== undefined && { audit_seal: seal }) },
    database: { path: deps.databases.packagedAs, file: snapshot.file, sha256: snapshot.sha256 },
    certificates,
    logs,
    optionalLogs,
    skipped,
    journal: journal === undefined ? undefined : { file: journal },
    directory: staging,
    name: `backup-${run.backupId}`,
    compression,
    recipients,
    signal: deps.signal,
  })
  await rm(snapshot.file, { force: true })
  if (journal !== undefined) await rm(journal, { force: true })
  for (const { path, reason } of written.skippedLogs)
    deps.logger.warn({ path, reason }, 'a log was not packed')
  return written
}

/** Exports the journal. If there is none, returns why, as a skipped log if it was lost. */
async function exportJournal({ deps }: RunContext): Promise<{ journal?: string; skipped?: SkippedLog[] }> {
  const target = join(deps.settings.staging, 'journal.export')
  const missing = await deps.host.exportJournal(target, deps.signal)
  if (!missing) return { journal: target }
  const { reason, isLost } = missing
  deps.logger.info({ reason }, 'the journal is not in the package')
  await rm(target, { force: true })
  return { skipped: isLost ? [{ path: 'journal.export', reason }] : [] }
}

function describeBackup({ deps, run }: RunContext, snapshot: DatabaseSnapshot) {
  const { sourcePath, server } = deps.settings
  return {
    backup_id: run.backupId,
    created_at: toRfc3339(run.startedAt),
    source_path: sourcePath,
    servers: [server],
    schema_version: snapshot.schemaVersion,
    tables: snapshot.tables,
  }
}

function stagedArchive(written: WrittenPackage, { deps, run }: RunContext): StagedArchive {
  const { size, sha256, sha1, manifest } = written
  const places = manifest.files.map(({ path }) => /^(?:logs|certs)(?=\/)/.exec(path)?.[0] ?? path)
  return {
    name: written.file.slice(deps.settings.staging.length + 1),
    size,
    sha256,
    sha1,
    createdAt: run.startedAt,
    contents: [...new Set(places)],
    ...(manifest.left_out && { leftOut: manifest.left_out }),
  }
}
