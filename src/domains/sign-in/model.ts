import { USER_NAME_CHARACTERS, knownRoles, type Role } from '../../kernel/identity.ts'
import type { Claims } from '../../ports/authentication.ts'

/** How the claims of the provider become a user of the platform. */
export interface ClaimRules {
  readonly userClaim: string
  readonly rolesClaim?: string | undefined
  /** Left out: a value of the claim stands for the role of that name. */
  readonly roleMap?: Readonly<Record<string, readonly Role[]>> | undefined
  readonly defaultRoles: readonly Role[]
  readonly createUsers: boolean
  readonly syncRoles: boolean
}

/** A user of the platform, as far as a sign-in depends on it. */
export interface KnownUser {
  readonly id: string
  readonly name: string
  readonly enabled: boolean
  readonly roles: readonly Role[]
}

/** What a sign-in does. A refusal is one of the failures of a sign-in. */
export type SignInVerdict =
  | { readonly action: 'sign_in' }
  | { readonly action: 'create'; readonly roles: readonly Role[] }
  /** If there is no role, the user loses every role and is refused. */
  | { readonly action: 'set_roles'; readonly roles: readonly Role[] }
  | { readonly action: 'refuse'; readonly reason: 'unknown_user' | 'user_disabled' | 'no_role' }

/** The text of the user claim; undefined when the provider has sent none. */
export function userNameOf(claims: Claims, { userClaim }: ClaimRules): string | undefined {
  const value = claimAt(claims, userClaim)
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Whether the name is an address that the provider says it has not verified (OpenID Connect Core 1.0, section 5.1). */
export function isUnverified(claims: Claims, { userClaim }: ClaimRules): boolean {
  // Some providers send the member as text.
  return userClaim === 'email' && [false, 'false'].includes(claims['email_verified'] as boolean | string)
}

/** What a person has to know of a text that is no name of a user: its length, and the characters that a name has not. */
export function shapeOf(text: string): string {
  const foreign = [...new Set(text.replaceAll(new RegExp(`[${USER_NAME_CHARACTERS}]`, 'g'), ''))]
  const quoted = foreign.slice(0, 10).map((character) => JSON.stringify(character))
  return `${text.length} characters${quoted.length > 0 ? `, with ${quoted.join(' ')}` : ''}`
}

/** The roles that the claims give, each once, in the order of the roles. */
export function rolesOf(claims: Claims, { rolesClaim, roleMap }: ClaimRules): Role[] {
  const value = rolesClaim === undefined ? undefined : claimAt(claims, rolesClaim)
  const texts = [value].flat().filter((text) => typeof text === 'string')
  return knownRoles(texts.flatMap((text) => rolesOfValue(text, roleMap)))
}

/** Decides on a sign-in by a user name that {@link isUserName} accepts; `user` is the user of that name. */
export function judge(user: KnownUser | undefined, claims: Claims, rules: ClaimRules): SignInVerdict {
  if (user) return judgeKnown(user, claims, rules)
  if (!rules.createUsers) return { action: 'refuse', reason: 'unknown_user' }
  const roles = grantedRoles(claims, rules)
  return roles.length > 0 ? { action: 'create', roles } : { action: 'refuse', reason: 'no_role' }
}

function judgeKnown(user: KnownUser, claims: Claims, rules: ClaimRules): SignInVerdict {
  if (!user.enabled) return { action: 'refuse', reason: 'user_disabled' }
  const roles = rules.syncRoles && rules.rolesClaim !== undefined ? grantedRoles(claims, rules) : user.roles
  if (roles.join() !== user.roles.join()) return { action: 'set_roles', roles }
  return roles.length > 0 ? { action: 'sign_in' } : { action: 'refuse', reason: 'no_role' }
}

function grantedRoles(claims: Claims, rules: ClaimRules): readonly Role[] {
  const roles = rolesOf(claims, rules)
  return roles.length > 0 ? roles : rules.defaultRoles
}

function rolesOfValue(value: string, map: ClaimRules['roleMap']): readonly string[] {
  if (!map) return [value]
  return Object.hasOwn(map, value) ? (map[value] ?? []) : []
}

/** A claim by its name; for a name with dots that no claim has, the member of nested claims. */
function claimAt(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name]
  return name.split('.').reduce<unknown>((outer, step) => memberOf(outer, step), claims)
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
  return (value as Claims)[name]
}
