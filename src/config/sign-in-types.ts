import { isRole, knownRoles, ROLES, type Role } from '../kernel/identity.ts'
import { valueType } from './value-types.ts'
import { jsonMembersOf } from '../kernel/text.ts'

/** An address that is compared as text, so it is kept as it is written. */
export const exactHttpUrl = valueType({
  name: 'URL',
  expected: 'an http:// or https:// address without credentials, query or fragment',
  parse(text) {
    const url = URL.parse(text)
    const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:'
    return isWeb && !/[?#@\s\\]/.test(text) ? text : undefined
  },
})

export const clientId = valueType({
  name: 'text',
  expected: '1 to 1024 visible ASCII characters',
  // RFC 6749, appendix A.1
  parse: (text) => (/^[\x21-\x7e]{1,1024}$/.test(text) ? text : undefined),
})

export const claimName = valueType({
  name: 'claim',
  expected: 'the name of a claim, or a path in nested claims such as realm_access.roles',
  parse: (text) => (/^[\x21-\x7e]{1,256}$/.test(text) ? text : undefined),
})

// RFC 6749, section 3.3
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]{1,256}$/

export const scopeList = valueType<readonly string[]>({
  name: 'list of scopes',
  expected: 'scopes with spaces between them, such as openid profile email',
  toml: 'list',
  parse(text) {
    const scopes = text.split(/[\s,]+/).filter((scope) => scope !== '')
    return scopes.length > 0 && scopes.every((scope) => SCOPE.test(scope)) ? scopes : undefined
  },
  format: (scopes) => scopes.join(' '),
})

export const roleList = valueType<readonly Role[]>({
  name: 'list of roles',
  expected: `a list of roles (${ROLES.join(', ')}), or none`,
  toml: 'list',
  parse: (text) =>
    text === 'none' || text === '' ? [] : parseRoleNames(text.split(',').map((role) => role.trim())),
  format: (roles) => roles.join(',') || 'none',
})

/** The roles that each value of a claim stands for. */
export type RoleMap = Readonly<Record<string, readonly Role[]>>

export const roleMap = valueType<RoleMap>({
  name: 'table, in the environment JSON',
  expected: `a table { "value" = "role" } or { "value" = ["role", "role"] } with the roles ${ROLES.join(', ')}`,
  toml: 'table',
  parse(text) {
    const table = Object.entries(jsonMembersOf(text))
    const entries = table.map(([value, roles]) => [value, mappedRoles(roles)] as const)
    if (entries.length === 0 || entries.some(([, roles]) => roles === undefined)) return undefined
    return Object.fromEntries(entries) as RoleMap
  },
  format: (map) => JSON.stringify(map),
})

function mappedRoles(value: unknown): Role[] | undefined {
  const names: unknown[] = Array.isArray(value) ? value : [value]
  const texts = names.filter((name) => typeof name === 'string')
  return texts.length === names.length && texts.length > 0 ? parseRoleNames(texts) : undefined
}

function parseRoleNames(names: readonly string[]): Role[] | undefined {
  return names.every(isRole) ? knownRoles(names) : undefined
}
