import { Type } from 'typebox'
import { bodyWriter, encoderOf } from '../../wire/codec.ts'
import { SHARED_ERRORS, type ErrorCodes } from '../../wire/error-codes.ts'
import { FileContent } from '../../wire/file-content.ts'
import { encodePage, PageOf, parsePage, TimedQuery } from '../../wire/page.ts'
import { ok, type Answer, type Route, routeOf } from '../../wire/route.ts'
import {
  IdParams,
  Fields,
  Id,
  Nullable,
  NullableTimestamp,
  OneOf,
  Text,
  Timestamp,
  Version,
} from '../../wire/schemas.ts'
import { BACKUP_STATUSES } from './model.ts'
import { missingFile, type DataBackups } from './service.ts'

const route = routeOf('Data')

export const BACKUP_OPERATORS = ['admin', 'devops'] as const
// A backup contains everything that is in the database.
const ADMIN = ['admin'] as const

export const DATA_BACKUP_ERRORS = {
  backup_not_found: { status: 404, meaning: 'There is no such backup.' },
  backup_file_not_found: { status: 404, meaning: 'The backup has no file; only a completed one has.' },
  backup_running: { status: 409, meaning: 'A backup is running.' },
  backup_directory_unavailable: {
    status: 503,
    meaning: 'The directory of the backups cannot be used.',
  },
  no_space: { status: 503, meaning: 'The free space is less than 1.2 times the size of the database.' },
} as const satisfies ErrorCodes

const { backup_not_found, backup_file_not_found, backup_running, backup_directory_unavailable, no_space } =
  DATA_BACKUP_ERRORS
const { precondition_failed, range_not_satisfiable } = SHARED_ERRORS

const BYTES = 'application/octet-stream'

/** docs/specification.md, Data backups */
export function dataBackupRoutes(backups: DataBackups): Route[] {
  const removeFiles = async (answer: Answer) => {
    await backups.removeFiles()
    return answer
  }
  return [
    route({
      method: 'POST',
      path: '/data/backups',
      operation: 'createDataBackup',
      summary: 'Request a backup of the database',
      description: 'The worker makes it, one at a time; the state of the backup shows its end.',
      access: BACKUP_OPERATORS,
      body: NewBackupBody,
      isBodyOptional: true,
      answers: { 202: { description: 'The backup, running.', schema: BackupSchema } },
      errors: { backup_running, backup_directory_unavailable, no_space },
      prepare: () => backups.requireSpace(),
      audit: { kind: 'data-backup' },
      change: async (tx, { body, identity }) => {
        const backup = await backups.create(tx, body, identity.id)
        return { status: 202, body: backupText(backup) }
      },
    }),
    route({
      method: 'GET',
      path: '/data/backups',
      operation: 'listDataBackups',
      summary: 'List backups, newest first',
      access: BACKUP_OPERATORS,
      query: TimedQuery,
      answers: { 200: { description: 'A page of backups.', schema: PageOf(BackupSchema) } },
      read: async ({ query }) => ok(encodePage(await backups.list(parsePage(query)), encodeBackup)),
    }),
    route({
      method: 'GET',
      path: '/data/backups/:id',
      operation: 'getDataBackup',
      summary: 'Read one backup',
      access: BACKUP_OPERATORS,
      params: IdParams,
      answers: { 200: { description: 'The backup.', schema: BackupSchema } },
      errors: { backup_not_found },
      read: async ({ params }) => ok(backupText(await backups.get(params.id))),
    }),
    route({
      method: 'GET',
      path: '/data/backups/:id/file',
      operation: 'getDataBackupFile',
      summary: 'Download the file of a completed backup',
      description:
        'A SQLite file, or an archive for `pg_restore`. `ETag` is its SHA-256. With `Range` a part of it is sent, so an ' +
        'interrupted download can be continued.',
      access: ADMIN,
      params: IdParams,
      answers: {
        200: { description: 'The file.', schema: FileBytes, contentType: BYTES, hasTag: true },
        206: { description: 'The part of the file.', schema: FileBytes, contentType: BYTES, hasTag: true },
      },
      errors: { backup_not_found, backup_file_not_found, precondition_failed, range_not_satisfiable },
      read: async ({ params }) => {
        const { sha256: tag, ...file } = await backups.file(params.id)
        return ok(new FileContent({ ...file, tag, missing: () => missingFile(file.backup) }))
      },
    }),
    route({
      method: 'DELETE',
      path: '/data/backups/:id',
      operation: 'deleteDataBackup',
      summary: 'Delete a backup and its file',
      access: ADMIN,
      params: IdParams,
      answers: { 204: { description: 'Deleted.' } },
      errors: { backup_not_found, backup_running },
      audit: {
        kind: 'data-backup',
        before: async (tx, { params }) => backupText(await backups.get(params.id, tx)),
      },
      change: async (tx, { params, identity }) => {
        await backups.remove(tx, params.id, identity.id)
        return { status: 204 }
      },
      updateAnswer: removeFiles,
    }),
    route({
      method: 'POST',
      path: '/data/backups/prune',
      operation: 'pruneDataBackups',
      summary: 'Delete all but the newest completed backups',
      description: 'The newest verified backup always stays.',
      access: BACKUP_OPERATORS,
      body: PruneBody,
      answers: { 200: { description: 'Which backups were removed and kept.', schema: PrunedSchema } },
      audit: { kind: 'data-backup', before: async () => ({}) },
      change: async (tx, { body, identity }) => ok(await backups.prune(tx, body.keep, identity.id)),
      updateAnswer: removeFiles,
    }),
  ]
}

const Note = Text({ maxLength: 1_000, description: 'For people.', examples: ['before the upgrade'] })

export const BackupSchema = Fields(
  {
    id: Id,
    status: OneOf(BACKUP_STATUSES, 'A requested backup is `running` until it has ended.'),
    size_bytes: Nullable<number>({ type: 'integer', description: 'The size of the file.' }),
    sha256: Nullable<string>({
      type: 'string',
      description: 'The hash of the file, as 64 hexadecimal digits.',
    }),
    tables: Type.Unsafe<Record<string, number> | null>({
      type: ['object', 'null'],
      additionalProperties: { type: 'integer' },
      description: 'The number of rows of each table.',
    }),
    schema_version: Nullable<string>({ type: 'string', description: 'The last migration of the snapshot.' }),
    created_at: Timestamp,
    finished_at: NullableTimestamp,
    verified_at: NullableTimestamp,
    error: Nullable<string>({
      type: 'string',
      description: 'Why it has failed; `interrupted` if its process has ended before it.',
    }),
    note: Nullable<string>({ ...Note }),
    requested_by: Type.String({
      description: 'Id of the caller; `worker` for those of `data.backup_every`.',
    }),
    version: Version,
  },
  { $id: 'DataBackup' },
)

const NewBackupBody = Fields({ note: Type.Optional(Note) })

const PruneBody = Fields({
  keep: Type.Integer({
    minimum: 1,
    maximum: 1_000,
    description: 'How many completed backups stay.',
    examples: [7],
  }),
})

const PrunedSchema = Fields({
  removed: Type.Array(Id, { description: 'Ids, newest first.' }),
  kept: Type.Array(Id, { description: 'Ids, newest first.' }),
})

const FileBytes = Type.Unsafe<never>({ description: 'The bytes of the file.' })

/** A backup in responses and events. */
export const encodeBackup = encoderOf(BackupSchema)
const backupText = bodyWriter(encodeBackup)
