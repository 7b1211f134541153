/** The role whitelist (docs/specification.md, Identity). Other names do not count as roles. */
export const ROLES = ['admin', 'devops', 'service', 'auditor'] as const
export type Role = (typeof ROLES)[number]

/**
 * Who is calling. `id` is a user's id, or the name that a local tool or the gateway gave in `X-User-ID`.
 * `via` says how it became known: a token that was verified, or headers from a trusted peer (docs/specification.md, Identity).
 */
export interface Identity {
  readonly id: string
  readonly name: string
  readonly roles: readonly Role[]
  readonly via: 'token' | 'headers'
}

export function isRole(value: string): value is Role {
  return (ROLES as readonly string[]).includes(value)
}

/** The known roles of a list, each once, in the order of {@link ROLES}. */
export function knownRoles(values: Iterable<string>): Role[] {
  const given = new Set(values)
  return ROLES.filter((role) => given.has(role))
}

/** Whether the caller has one of these roles. */
export function hasRole(identity: Identity, roles: readonly Role[]): boolean {
  return roles.some((role) => identity.roles.includes(role))
}
