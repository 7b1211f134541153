import { Type } from 'typebox'
import { ROLES } from '../../../kernel/identity.ts'
import { encoderOf } from '../../../wire/codec.ts'
import { Fields, OneOf } from '../../../wire/schemas.ts'

// More in one answer would delay other requests.
const MAXIMUM_LIMIT = 1_000

const Revision = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'Grows with every change of a user, by any number.',
})

const MirroredUserSchema = Fields({
  id: Type.String(),
  name: Type.String(),
  roles: Type.Array(OneOf(ROLES)),
  enabled: Type.Boolean(),
  token_generation: Type.Integer({ description: 'A token of another generation is revoked.' }),
  deleted: Type.Boolean({ description: 'With it `roles` is empty and `enabled` is false.' }),
})

export const UserChangesSchema = Fields(
  {
    revision: Revision,
    full: Type.Boolean({
      description:
        'This is the first page of all users: those in none of its pages do not exist. Without `since`, and when ' +
        '`since` is unknown, because the database was restored or is another one.',
    }),
    more: Type.Boolean({ description: 'Ask again at once with `since` = `revision`.' }),
    pool: Type.String({
      description: '`vpn.ip_pool` of this process; the pool of a standby must not overlap it.',
      examples: ['100.64.0.0/16'],
    }),
    items: Type.Array(MirroredUserSchema),
  },
  { $id: 'UserChanges' },
)

export const MirrorQuery = Fields({
  since: Type.Optional(
    Type.Unsafe<number>({ ...Revision, description: '`revision` of the last answer; all users without it.' }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAXIMUM_LIMIT,
      default: MAXIMUM_LIMIT,
      description: 'Users in one answer.',
    }),
  ),
})

export const DEFAULT_LIMIT = MAXIMUM_LIMIT

export const encodeChanges = encoderOf(UserChangesSchema)
