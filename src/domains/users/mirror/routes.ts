import { Type } from 'typebox'
import { hasRole, ROLES } from '../../../kernel/identity.ts'
import { JsonText } from '../../../kernel/text.ts'
import { encoderOf } from '../../../wire/codec.ts'
import type { ErrorCodes } from '../../../wire/error-codes.ts'
import { ok, type Route, routeOf } from '../../../wire/route.ts'
import { Fields, OneOf } from '../../../wire/schemas.ts'
import type { Users } from '../service.ts'

const route = routeOf('Users')

export const MIRROR_ERRORS = {
  mirror_outdated: {
    status: 503,
    meaning: 'The standby has not reached the primary for too long to know its users; use another gateway.',
  },
  pool_overlap: {
    status: 503,
    meaning: 'The address pool of the standby overlaps the pool of the primary; use another gateway.',
  },
  users_mirrored: {
    status: 409,
    meaning: 'The users of a standby are a copy; change them on the primary.',
  },
} as const satisfies ErrorCodes

/** `pool` is the network of the virtual addresses. */
export function mirrorRoute(users: Users, pool: string): Route {
  return route({
    method: 'GET',
    path: '/users/mirror',
    operation: 'mirrorUsers',
    summary: 'Read the users that have changed, for a standby gateway',
    description:
      'The users that were created, changed or deleted after the revision `since`, each as it is now, in the order of ' +
      'their last changes. No change is left out, whichever transactions run at once. Contains no password and no hash.',
    access: {
      description: 'For tokens that were issued with `--purpose mirror`, and for the role admin.',
      allows: ({ identity }) => identity.purpose === 'mirror' || hasRole(identity, ['admin']),
    },
    purpose: 'mirror',
    query: MirrorQuery,
    answers: { 200: { description: 'A page of changed users.', schema: UserChangesSchema } },
    read: async ({ query }) => {
      const changes = await users.changesSince(query.since, query.limit ?? DEFAULT_LIMIT)
      return ok(new JsonText(encodeChanges({ ...changes, pool })))
    },
  })
}

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
  deleted: Type.Boolean({ description: 'If true, `roles` is empty and `enabled` is false.' }),
})

const UserChangesSchema = Fields(
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

const MirrorQuery = Fields({
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

const DEFAULT_LIMIT = MAXIMUM_LIMIT

const encodeChanges = encoderOf(UserChangesSchema)
