import { invalidField } from '../../kernel/errors.ts'
import {
  isUserName,
  knownRoles,
  isRole,
  ROLES,
  type IdentityToken,
  type Role,
} from '../../kernel/identity.ts'
import type { Secret } from '../../kernel/secret.ts'

/** Generation of a user whose tokens were never revoked. */
export const FIRST_GENERATION = 1

export interface User {
  readonly id: string
  readonly name: string
  readonly roles: readonly Role[]
  readonly enabled: boolean
  /** All times are epoch milliseconds, UTC. */
  readonly createdAt: number
  readonly updatedAt: number
  readonly lastLoginAt: number | null
  /** A token contains the generation of its issue; incrementing the generation revokes the user's tokens. */
  readonly tokenGeneration: number
  /** Tokens without a generation must have been issued after this time. */
  readonly tokensValidFrom: number
}

/** A user with the password hash. Separate from {@link User}, so that a hash cannot get into a response. */
export interface Account {
  readonly user: User
  readonly passwordHash: Secret
}

/** The input for a new user. Names are unique, ignoring case. */
export interface NewUser {
  readonly name: string
  readonly password: string
  readonly roles: readonly string[]
}

export interface UserChange {
  readonly roles?: readonly string[]
  readonly enabled?: boolean
}

/** Time and generation of a token's issue. */
export interface TokenIssue {
  readonly generation: number | undefined
  readonly issuedAt: number
  /** The token of the caller, if it can be ended alone. */
  readonly token?: Pick<IdentityToken, 'kind' | 'id'> | undefined
}

/** Throws `validation_failed`. */
export function parseName(name: string): string {
  if (!isUserName(name)) throw invalidField('name', 'not_a_name')
  return name
}

/** The roles, each once, in the order of {@link ROLES}. Throws `validation_failed` for none or an unknown one. */
export function parseRoles(values: readonly string[]): Role[] {
  const unknown = values.find((value) => !isRole(value))
  if (unknown !== undefined || values.length === 0)
    throw invalidField('roles', 'none_of_list', { allowed: ROLES })
  return knownRoles(values)
}

/** The form in which names are compared. */
export function nameKey(name: string): string {
  return name.toLowerCase()
}

/** The user after a change; the same object when nothing changes. */
export function applyChange(user: User, change: UserChange, at: number): User {
  const roles = change.roles ? parseRoles(change.roles) : user.roles
  const enabled = change.enabled ?? user.enabled
  const otherRoles = roles.join() !== user.roles.join()
  if (!otherRoles && enabled === user.enabled) return user
  const next = { ...user, roles, enabled, updatedAt: at }
  return otherRoles || !enabled ? revokeTokens(next, at) : next
}

/** The user without any role; the same object when there is none. */
export function withoutRoles(user: User, at: number): User {
  return user.roles.length === 0 ? user : revokeTokens({ ...user, roles: [] }, at)
}

/** The user with all earlier tokens revoked (docs/specification.md, Identity). */
export function revokeTokens(user: User, at: number): User {
  return { ...user, tokenGeneration: user.tokenGeneration + 1, tokensValidFrom: at, updatedAt: at }
}

/** Whether a token with this issue is still valid. */
export function acceptsToken(user: User, { generation, issuedAt }: TokenIssue): boolean {
  if (!user.enabled) return false
  if (generation !== undefined) return generation === user.tokenGeneration
  // The times in a token are whole seconds: one from the second of a revocation may be older than the revocation.
  const second = Math.floor(user.tokensValidFrom / 1_000) * 1_000
  return user.tokenGeneration === FIRST_GENERATION ? issuedAt >= second : issuedAt > second
}

/** Whether the user can administer the platform now. */
export function isActiveAdmin({ enabled, roles }: User): boolean {
  return enabled && roles.includes('admin')
}
