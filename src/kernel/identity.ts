/** The known roles (docs/specification.md, Identity). Other names are ignored. */
export const ROLES = ['admin', 'devops', 'service', 'auditor'] as const
export type Role = (typeof ROLES)[number]

/**
 * The caller of a request. `id` is a user's id, or the name that a local tool or the gateway sent in `X-User-ID`.
 * `via` is the source: a verified token, or the headers of a trusted peer (docs/specification.md, Identity).
 */
export interface Identity {
  readonly id: string
  readonly name: string
  readonly roles: readonly Role[]
  readonly via: 'token' | 'headers'
  /** Set for a token that is good for nothing else. */
  readonly purpose?: TokenPurpose
  /** The token that it comes with, where that can be ended alone. */
  readonly token?: IdentityToken
}

/** A token of a login (`session`, by its `jti`) or an API token. */
export interface IdentityToken {
  readonly kind: 'session' | 'api'
  readonly id: string
  /** Epoch milliseconds. */
  readonly expiresAt: number
}

/** What a token can be limited to. `mirror`: the copy of the users for a standby. */
export const TOKEN_PURPOSES = ['mirror'] as const
export type TokenPurpose = (typeof TOKEN_PURPOSES)[number]

/** What a name of a user consists of: 1 to 254 of these, so that an e-mail address can be one. */
export const USER_NAME_CHARACTERS = 'A-Za-z0-9._@+-'
const USER_NAME = new RegExp(`^(?!\\.{1,2}$)[${USER_NAME_CHARACTERS}]{1,254}$`)

/** Whether a user of the platform can have the name. Other letters may have one of these as their lower case. */
export function isUserName(name: string): boolean {
  return USER_NAME.test(name)
}

export function isRole(value: string): value is Role {
  return (ROLES as readonly string[]).includes(value)
}

/** The known roles of a list, each once, in the order of {@link ROLES}. */
export function knownRoles(values: Iterable<string>): Role[] {
  const names = new Set(values)
  return ROLES.filter((role) => names.has(role))
}

/** Whether the caller has one of these roles. */
export function hasRole(identity: Identity, roles: readonly Role[]): boolean {
  return roles.some((role) => identity.roles.includes(role))
}
