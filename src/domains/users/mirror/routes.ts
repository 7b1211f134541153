import { hasRole } from '../../../kernel/identity.ts'
import { JsonText } from '../../../kernel/json-text.ts'
import type { ErrorCodes } from '../../../wire/error-codes.ts'
import { ok, route, type Route } from '../../../wire/route.ts'
import type { Users } from '../service.ts'
import { DEFAULT_LIMIT, encodeChanges, MirrorQuery, UserChangesSchema } from './schemas.ts'

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
    tag: 'Users',
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
