import { invalidField } from '../../kernel/errors.ts'
import { knownRoles, isRole, ROLES, type Role } from '../../kernel/identity.ts'
import type { Secret } from '../../kernel/secret.ts'

export interface User {
  readonly id: string
  readonly name: string
  readonly roles: readonly Role[]
  readonly enabled: boolean
  /** All times are epoch milliseconds, UTC. */
  readonly createdAt: number
  readonly updatedAt: number
  readonly lastLoginAt: number | null
  /** Tokens carry the generation they were issued in; raising it ends them. */
  readonly tokenGeneration: number
  /** Tokens without a generation must have been issued at or after this time. */
  readonly tokensValidFrom: number
}

/** A user with what proves them. Apart from {@link User}, so that a hash cannot slip into an answer. */
export interface Account {
  readonly user: User
  readonly passwordHash: Secret
}

/** What somebody gives to make a user. Names are unique without regard to case. */
export interface NewUser {
  readonly name: string
  readonly password: string
  readonly roles: readonly string[]
}

export interface UserChange {
  readonly roles?: readonly string[]
  readonly enabled?: boolean
}

/** When, and in which generation, a token was issued. */
export interface TokenIssue {
  readonly generation: number | undefined
  readonly issuedAt: number
}

// docs/specification.md, Identity
const NAME = /^[A-Za-z0-9._-]{1,64}$/

/** Rejects with `validation_failed`. */
export function parseName(name: string): string {
  if (!NAME.test(name)) throw invalidField('name', 'must be 1 to 64 of A-Z a-z 0-9 . _ -')
  return name
}

/** The roles, each once, in the order of the whitelist. Rejects with `validation_failed` for none or an unknown one. */
export function parseRoles(values: readonly string[]): Role[] {
  const unknown = values.find((value) => !isRole(value))
  if (unknown !== undefined || values.length === 0) {
    throw invalidField('roles', `must be one or more of ${ROLES.join(', ')}`)
  }
  return knownRoles(values)
}

/** What two names that are the same have in common. */
export function nameKey(name: string): string {
  return name.toLowerCase()
}

/** The user after a change; the very same object when nothing would change. */
export function changed(user: User, change: UserChange, at: number): User {
  const roles = change.roles ? parseRoles(change.roles) : user.roles
  const enabled = change.enabled ?? user.enabled
  const otherRoles = roles.join() !== user.roles.join()
  if (!otherRoles && enabled === user.enabled) return user
  const next = { ...user, roles, enabled, updatedAt: at }
  return otherRoles || !enabled ? withoutTokens(next, at) : next
}

/** The user with every token that was issued so far ended (docs/specification.md, Identity). */
export function withoutTokens(user: User, at: number): User {
  return { ...user, tokenGeneration: user.tokenGeneration + 1, tokensValidFrom: at, updatedAt: at }
}

/** Whether a token that was issued so may still be used. */
export function acceptsToken(user: User, { generation, issuedAt }: TokenIssue): boolean {
  if (!user.enabled) return false
  if (generation !== undefined) return generation === user.tokenGeneration
  // A token counts in whole seconds.
  return issuedAt >= Math.floor(user.tokensValidFrom / 1_000) * 1_000
}

/** Whether the user can administer the platform now. */
export function isActiveAdmin({ enabled, roles }: User): boolean {
  return enabled && roles.includes('admin')
}
