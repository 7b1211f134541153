import { Type } from 'typebox'
import { decoderOf, encoderOf } from '../../wire/codec.ts'
import { PageOf, TimedPageQuery } from '../../wire/page.ts'
import { Fields, Id, Nullable, NullableTimestamp, OneOf, Text, Timestamp } from '../../wire/schemas.ts'
import { BACKUP_STATUSES } from './model.ts'

const Note = Text({ maxLength: 1_000, description: 'For people.', examples: ['before the upgrade'] })

export const BackupSchema = Fields(
  {
    id: Id,
    status: OneOf(BACKUP_STATUSES, 'A requested backup is `running` until it has ended.'),
    size_bytes: Nullable<number>({ type: 'integer', description: 'Of the file.' }),
    sha256: Nullable<string>({ type: 'string', description: 'Of the file, as 64 hexadecimal digits.' }),
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
  },
  { $id: 'DataBackup' },
)

export const BackupPage = PageOf(BackupSchema)

export const BackupQuery = Fields(TimedPageQuery)

export const NewBackupBody = Fields({ note: Type.Optional(Note) })

export const PruneBody = Fields({
  keep: Type.Integer({
    minimum: 1,
    maximum: 1_000,
    description: 'How many completed backups stay.',
    examples: [7],
  }),
})

export const PrunedSchema = Fields({
  removed: Type.Array(Id, { description: 'Ids, newest first.' }),
  kept: Type.Array(Id, { description: 'Ids, newest first.' }),
})

export const FileBytes = Type.Unsafe<never>({ description: 'The bytes of the file.' })

export const decodeNewBackup = decoderOf<{ readonly note?: string }>(NewBackupBody)

/** A backup in responses and events. */
export const encodeBackup = encoderOf(BackupSchema)
