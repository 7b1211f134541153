import { knownRoles } from '../../../kernel/identity.ts'
import { parseIpv4 } from '../../../kernel/addresses.ts'
import type { MirroredUser } from '../../../ports/user-source.ts'
import { FIRST_GENERATION, type User } from '../model.ts'

/** What a standby knows of its primary. */
export interface MirrorState {
  /** Null until the first page of users is stored. */
  readonly source: string | null
  /** Null until the first copy is complete. */
  readonly revision: number | null
  /** When the copy was last known to be current, in epoch milliseconds. */
  readonly confirmedAt: number | null
  readonly pool: string | null
}

/** The copy of a user of the primary, which replaces `known`; the same object when nothing changes. */
export function copyOf(user: MirroredUser, known: User | undefined, at: number): User {
  const { id, name, enabled, tokenGeneration } = user
  const roles = knownRoles(user.roles)
  if (known && isSame(known, { ...user, roles })) return known
  const isRevoked = known ? known.tokenGeneration !== tokenGeneration : tokenGeneration !== FIRST_GENERATION
  return {
    id,
    name,
    roles,
    enabled,
    tokenGeneration,
    // The primary does not say when it revoked the tokens; those without a generation end with the copy at the latest.
    tokensValidFrom: isRevoked ? at : (known?.tokensValidFrom ?? 0),
    createdAt: known?.createdAt ?? at,
    updatedAt: at,
    lastLoginAt: null,
  }
}

function isSame(known: User, { name, roles, enabled, tokenGeneration }: MirroredUser): boolean {
  return (
    known.name === name &&
    known.enabled === enabled &&
    known.tokenGeneration === tokenGeneration &&
    known.roles.join() === roles.join()
  )
}

/** Whether two IPv4 networks such as `100.64.0.0/16` have an address in common. */
export function doNetworksOverlap(one: string, other: string): boolean {
  const [a, b] = [boundsOf(one), boundsOf(other)]
  return a !== undefined && b !== undefined && a.first <= b.last && b.first <= a.last
}

function boundsOf(cidr: string): { readonly first: number; readonly last: number } | undefined {
  const [address = '', prefix = ''] = cidr.split('/')
  const first = parseIpv4(address)
  return first === undefined ? undefined : { first, last: first + 2 ** (32 - Number(prefix)) - 1 }
}
