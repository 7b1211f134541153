import type { JudgedSession } from './health.ts'
import type { Gateway } from './tunnel-state.ts'

/** Gateways, their users, and the users' sessions, each sorted by name so that nothing moves without a reason. */
export interface GatewayNode {
  readonly key: string
  readonly gateway: Gateway
  readonly users: readonly UserNode[]
  readonly sessions: readonly JudgedSession[]
}

export interface UserNode {
  readonly key: string
  readonly name: string
  readonly sessions: readonly JudgedSession[]
}

/** The sessions as a tree. A gateway that sessions name and the list does not know counts as away. */
export function toGraph(
  gateways: readonly Gateway[],
  sessions: readonly JudgedSession[],
): readonly GatewayNode[] {
  const byGateway = Map.groupBy(sessions, (session) => session.gateway)
  const known = new Set(gateways.map(({ name }) => name))
  const unknown = [...byGateway.keys()].filter((name) => !known.has(name)).map(unknownGateway)
  const homes = gatewaysByUser(sessions)
  return [...gateways, ...unknown]
    .sort((a, b) => compareNames(a.name, b.name))
    .map((gateway) => {
      const ofGateway = byGateway.get(gateway.name) ?? []
      return {
        key: gatewayKey(gateway.name),
        gateway,
        users: toUsers(gateway.name, ofGateway, homes),
        sessions: ofGateway,
      }
    })
}

function unknownGateway(name: string): Gateway {
  return { name, address: '', heartbeatMs: 0, lastSeenAt: 0, isAlive: false }
}

function toUsers(
  gateway: string,
  sessions: readonly JudgedSession[],
  homes: ReadonlyMap<string, readonly string[]>,
): UserNode[] {
  const byUser = Map.groupBy(sessions, (session) => session.user.id)
  return [...byUser]
    .map(([id, ofUser]) => ({
      key: userKey(id, homes.get(id)?.indexOf(gateway) ?? 0),
      name: ofUser[0]?.user.name ?? id,
      sessions: ofUser.toSorted((a, b) => compareNames(a.virtualIp, b.virtualIp)),
    }))
    .sort((a, b) => compareNames(a.name, b.name) || compareNames(a.key, b.key))
}

function gatewaysByUser(sessions: readonly JudgedSession[]): Map<string, readonly string[]> {
  const byUser = Map.groupBy(sessions, (session) => session.user.id)
  return new Map(
    [...byUser].map(([id, ofUser]) => [
      id,
      [...new Set(ofUser.map(({ gateway }) => gateway))].sort(compareNames),
    ]),
  )
}

function gatewayKey(name: string): string {
  return `gateway ${name}`
}

/**
 * A user has a node at each gateway where they have sessions. Counted, not named by the gateway: when all sessions of a
 * user move to another gateway, their node moves along instead of vanishing here and appearing there.
 */
function userKey(id: string, ordinal: number): string {
  return `user ${id} ${ordinal}`
}

/** An address has one live session at a time, and keeps its node when the user comes back with it. */
export function sessionKey({ virtualIp }: Pick<JudgedSession, 'virtualIp'>): string {
  return `address ${virtualIp}`
}

const collator = new Intl.Collator('en', { numeric: true })

/** By number where there are numbers: 10.0.0.9 before 10.0.0.10. */
export function compareNames(a: string, b: string): number {
  return collator.compare(a, b)
}
