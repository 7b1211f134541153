import { defineDomain, type DomainParts } from '../../wire/domain.ts'
import type { WaitingClock } from '../../kernel/clock.ts'
import type { UserSource } from '../../ports/user-source.ts'
import { TOKEN_ERRORS, tokenRoutes } from './api-tokens/routes.ts'
import { ApiTokens, type ApiTokenDeps } from './api-tokens/service.ts'
import { Auth, type AuthDeps } from './auth.ts'
import {
  createAuthenticator,
  requireTokenHolder,
  tokenHolderRows,
  type AuthenticatorDeps,
} from './authenticator.ts'
import { EndedTokens } from './ended-tokens.ts'
import { MirrorFollower, mirrorTelemetry } from './mirror/follower.ts'
import { MIRROR_ERRORS, mirrorRoute } from './mirror/routes.ts'
import { mirrorChangesCounter, UserCopy } from './mirror/user-copy.ts'
import { USER_ERRORS, userRoutes } from './routes.ts'
import { encodeLogin, LoginSchema } from './schemas.ts'
import { Users, type UserDeps } from './service.ts'
import { names } from './tables.ts'

export { ApiTokens, type TokenView } from './api-tokens/service.ts'
export { Auth, type IssuedToken } from './auth.ts'
export { requireTokenHolder, tokenHolderRows } from './authenticator.ts'
export { doNetworksOverlap, type MirrorState } from './mirror/model.ts'
export { readState as readMirrorState } from './mirror/store.ts'
export type { NewUser, User, UserChange } from './model.ts'
export { Users, usersMirrored, type UserDeps } from './service.ts'

/** What a standby needs to copy the users of its primary. */
export interface MirrorOptions {
  /** The api of the primary. */
  readonly from: string
  readonly source: UserSource
  /** How old the copy may be for new sessions, in milliseconds. */
  readonly maxAgeMs: number
  readonly clock: WaitingClock
}

/** What the users of a process need. */
export type UsersDomainDeps = UserDeps &
  Omit<AuthDeps, 'users' | 'ended'> &
  Omit<ApiTokenDeps, 'users'> &
  Omit<AuthenticatorDeps, 'users' | 'apiTokens' | 'ended'> & {
    /** The network of the virtual addresses: `100.64.0.0/16`. */
    readonly vpnPool: string
    /** A standby copies the users from here; undefined on every other platform. */
    readonly mirror?: MirrorOptions | undefined
  }

/** Users, their passwords and their tokens (docs/specification.md, Identity). */
export const usersDomain = defineDomain({
  name: 'users',
  tables: names,
  events: {},
  errors: { ...USER_ERRORS, ...TOKEN_ERRORS, ...MIRROR_ERRORS },
  create: (deps: UsersDomainDeps) => {
    const users = new Users(deps)
    const ended = new EndedTokens(deps.store.read, deps.clock)
    const auth = new Auth({ ...deps, users, ended })
    const apiTokens = new ApiTokens({ ...deps, users })
    const authenticator = createAuthenticator({ ...deps, users, apiTokens, ended })
    mirrorTelemetry(deps.metrics)
    mirrorChangesCounter(deps.metrics)
    return {
      service: users,
      auth,
      apiTokens,
      authenticator,
      requireTokenHolder,
      tokenHolderRows,
      /** Undefined unless this is a standby that copies the users; the module that starts it stops it. */
      follower: deps.mirror && createFollower(deps, deps.mirror, users),
      /** How a login answers, for other ways to sign in. */
      login: { schema: LoginSchema, encode: encodeLogin },
      routes: [...userRoutes(users, auth), ...tokenRoutes(apiTokens), mirrorRoute(users, deps.vpnPool)],
      jobs: {},
    } satisfies DomainParts & Record<string, unknown>
  },
})

function createFollower(deps: UsersDomainDeps, mirror: MirrorOptions, users: Users): MirrorFollower {
  const { vpnPool: pool } = deps
  return new MirrorFollower({ ...deps, ...mirror, pool, copy: new UserCopy({ ...deps, users }, mirror.from) })
}
