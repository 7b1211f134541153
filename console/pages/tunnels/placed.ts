import type { Frame } from './frame.ts'
import type { GatewayNode, UserNode } from './graph.ts'
import type { Health, JudgedSession } from './health.ts'

interface Place {
  readonly key: string
  /** Middle of a hub, a cluster or a mark; of a user's box the middle of its inner edge. */
  readonly x: number
  readonly y: number
  readonly side: Side
  readonly parent: string | null
}

/** To the right of the hub, or to its left. */
export type Side = 1 | -1

/** What a node stands for. */
export type NodeMeaning =
  | { readonly kind: 'gateway'; readonly node: GatewayNode }
  | { readonly kind: 'user'; readonly form: 'box' | 'cluster'; readonly node: UserNode }
  | { readonly kind: 'session'; readonly session: JudgedSession }
  | { readonly kind: 'more'; readonly users: readonly UserNode[] }
  | { readonly kind: 'rest'; readonly sessions: readonly JudgedSession[] }

export type PlacedNode = Place & NodeMeaning

export interface PlacedEdge {
  readonly key: string
  readonly from: string
  readonly to: string
  /** A path; of one shape for one frame, so that a browser can animate from one to the next. */
  readonly path: string
  readonly health: Health
  readonly sessions: number
  /** Where the round-trip time of an address is written; null where it isn't. */
  readonly label: { readonly x: number; readonly y: number; readonly rttMs: number | null } | null
}

export interface Drawing {
  readonly nodes: readonly PlacedNode[]
  readonly edges: readonly PlacedEdge[]
}

export interface Layout extends Drawing {
  readonly frame: Frame
  readonly height: number
  /** In reading order: each gateway, then its users, each followed by its addresses. */
  readonly nodes: readonly PlacedNode[]
}

/** How far the petals of a cluster reach from its middle. */
export const CLUSTER_RADIUS = 14

export function joinDrawings(drawings: readonly Drawing[]): Drawing {
  return {
    nodes: drawings.flatMap(({ nodes }) => nodes),
    edges: drawings.flatMap(({ edges }) => edges),
  }
}
