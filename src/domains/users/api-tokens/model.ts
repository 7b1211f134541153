import type { Role } from '../../../kernel/identity.ts'
import { DAY } from '../../../kernel/time.ts'
import type { User } from '../model.ts'

/** A token that a program uses in the place of a password. Its text is shown once, and only a hash of it is stored. */
export interface ApiToken {
  readonly id: string
  readonly userId: string
  /** What its owner calls it. */
  readonly name: string
  /** The roles that it is limited to; null for all that its user has. */
  readonly roles: readonly Role[] | null
  /** All times are epoch milliseconds, UTC. */
  readonly createdAt: number
  readonly expiresAt: number
  readonly lastUsedAt: number | null
  readonly lastUsedFrom: string | null
}

export interface NewApiToken {
  readonly name: string
  readonly expiresInMs?: number | undefined
  readonly roles?: readonly Role[] | undefined
}

// docs/specification.md, API tokens
export const DEFAULT_LIFETIME_MS = 90 * DAY
export const MAX_LIFETIME_MS = 366 * DAY
export const MAX_TOKENS = 100
/** How long an expired token is still listed. */
export const KEPT_MS = 30 * DAY

/** What the token may do now: those of its roles that its user still has. */
export function rolesOfToken({ roles }: Pick<ApiToken, 'roles'>, user: Pick<User, 'roles'>): readonly Role[] {
  return roles === null ? user.roles : user.roles.filter((role) => roles.includes(role))
}
