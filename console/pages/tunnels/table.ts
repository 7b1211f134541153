import { HEALTHS, type Health, type JudgedSession } from './health.ts'
import { compareNames, sessionKey, type GatewayNode } from './graph.ts'

export const COLUMNS = ['user', 'address', 'gateway', 'rtt', 'connected'] as const

export type ColumnName = (typeof COLUMNS)[number]

export interface Sorting {
  readonly column: ColumnName
  readonly descending: boolean
}

type Compare = (a: JudgedSession, b: JudgedSession) => number

const COMPARE: Readonly<Record<ColumnName, Compare>> = {
  user: (a, b) => compareNames(a.user.name, b.user.name),
  address: (a, b) => compareNames(a.virtualIp, b.virtualIp),
  gateway: (a, b) => compareNames(a.gateway, b.gateway),
  // An unknown time is sorted behind all others.
  rtt: (a, b) => order(a.rttMs ?? Infinity, b.rttMs ?? Infinity),
  connected: (a, b) => order(b.connectedAt, a.connectedAt),
}

/** Sorted; rows that are equal by the column are in the order of their addresses. */
export function sortSessions(
  sessions: readonly JudgedSession[],
  { column, descending }: Sorting,
): JudgedSession[] {
  const direction = descending ? -1 : 1
  return sessions.toSorted((a, b) => direction * COMPARE[column](a, b) || COMPARE.address(a, b))
}

function order(a: number, b: number): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

/** Sorting by a column again turns its direction. */
export function nextSorting(sorting: Sorting, column: ColumnName): Sorting {
  return { column, descending: sorting.column === column && !sorting.descending }
}

export interface Filter {
  /** Words that all have to occur somewhere in a session. */
  readonly words: string
  /** Empty: every health passes. */
  readonly healths: ReadonlySet<Health>
}

export function filterSessions(
  sessions: readonly JudgedSession[],
  { words, healths }: Filter,
): JudgedSession[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean)
  return sessions.filter(
    (session) => (healths.size === 0 || healths.has(session.health)) && hasWords(session, wanted),
  )
}

function hasWords(session: JudgedSession, wanted: readonly string[]): boolean {
  if (wanted.length === 0) return true
  const { user, device, virtualIp, remoteAddress, gateway } = session
  const text = [user.name, device ?? '', virtualIp, remoteAddress, gateway].join('\n').toLowerCase()
  return wanted.every((word) => text.includes(word))
}

/** Takes a health in or out of the filter; all of them are the same as none. */
export function toggleHealth(healths: ReadonlySet<Health>, health: Health): ReadonlySet<Health> {
  const next = healths.has(health) ? healths.difference(new Set([health])) : healths.union(new Set([health]))
  return next.size === HEALTHS.length ? new Set() : next
}

/** What a selected node of the picture stands for: its words for the page, and its sessions. */
export interface Selection {
  readonly label: string
  readonly sessions: readonly JudgedSession[]
}

/** Undefined when no node has this key, for instance because it has gone meanwhile. */
export function findSelection(graph: readonly GatewayNode[], key: string): Selection | undefined {
  for (const gateway of graph) {
    if (gateway.key === key) return { label: gateway.gateway.name, sessions: gateway.sessions }
    for (const user of gateway.users) {
      if (user.key === key) return { label: user.name, sessions: user.sessions }
      const session = user.sessions.find((candidate) => sessionKey(candidate) === key)
      if (session) return { label: session.virtualIp, sessions: [session] }
    }
  }
  return undefined
}
