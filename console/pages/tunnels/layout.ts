import { placeColumn, shownAddresses, splitBlocks, type Block, type Column } from './column.ts'
import { drawSlot } from './draw-slot.ts'
import { frameFor, type Frame } from './frame.ts'
import type { GatewayNode, UserNode } from './graph.ts'
import { joinDrawings, type Drawing, type Layout, type PlacedNode, type Side } from './placed.ts'

export interface LayoutOptions {
  /** Width of the picture, in CSS pixels. */
  readonly width: number
  /** Keys of users whose addresses are drawn one by one, however many users there are. */
  readonly expanded: ReadonlySet<string>
  /** How many users of a gateway are drawn; the others become one node. */
  readonly mostUsers: number
}

// So many rows of addresses still fit on a screen or two.
const MOST_SESSIONS_ONE_BY_ONE = 40
const GAP_BETWEEN_GATEWAYS = 36
const GAP_BELOW_HUB = 10

/** Places gateways below each other, and around each one its users and their addresses. */
export function layoutGraph(graph: readonly GatewayNode[], options: LayoutOptions): Layout {
  const frame = frameFor(options.width, longestAddress(graph))
  const everyone = isRoomy(graph)
  const drawings: Drawing[] = []
  let top = 0
  for (const gateway of graph) {
    const placed = placeGateway(gateway, toBlocks(gateway, options, everyone), frame, top)
    drawings.push(placed.drawing)
    top += placed.height + GAP_BETWEEN_GATEWAYS
  }
  return { frame, height: Math.max(0, top - GAP_BETWEEN_GATEWAYS), ...joinDrawings(drawings) }
}

/** Whether every address gets a node of its own without being asked for. */
function isRoomy(graph: readonly GatewayNode[]): boolean {
  return graph.reduce((sum, { sessions }) => sum + sessions.length, 0) <= MOST_SESSIONS_ONE_BY_ONE
}

/** The most characters that an address has, or the name of a device below it. */
function longestAddress(graph: readonly GatewayNode[]): number {
  const sessions = graph.flatMap((gateway) => gateway.sessions)
  const lengths = sessions.map(({ virtualIp, device }) => Math.max(virtualIp.length, device?.length ?? 0))
  return Math.max(0, ...lengths)
}

function toBlocks(
  { users }: GatewayNode,
  { expanded, mostUsers }: LayoutOptions,
  everyone: boolean,
): Block[] {
  const toBlock = (user: UserNode): Block => {
    if (everyone) return { kind: 'box', rows: shownAddresses(user).length, user }
    // A user whose addresses are shown counts as one row, as before, so that no user changes sides.
    return { kind: expanded.has(user.key) ? 'box' : 'cluster', rows: 1, user }
  }
  // A node for a single further user would need the same room as that user.
  const most = users.length <= mostUsers + 1 ? users.length : mostUsers
  const others = users.slice(most)
  const blocks = users.slice(0, most).map(toBlock)
  return others.length > 0 ? [...blocks, { kind: 'more', rows: 1, users: others }] : blocks
}

interface PlacedGateway {
  readonly height: number
  readonly drawing: Drawing
}

function placeGateway(
  gateway: GatewayNode,
  blocks: readonly Block[],
  frame: Frame,
  top: number,
): PlacedGateway {
  const halves = frame.sides === 2 ? splitBlocks(blocks) : [blocks]
  const columns = halves.map((half) => placeColumn(half, frame))
  const { height, hubY, columnTop } =
    frame.sides === 2 ? besideHub(columns, frame, top) : belowHub(columns, frame, top)
  const hub: PlacedNode = {
    key: gateway.key,
    x: frame.hub.x,
    y: hubY,
    side: 1,
    parent: null,
    kind: 'gateway',
    node: gateway,
  }
  const sides = columns.map((column, index) => {
    const side: Side = index === 0 ? 1 : -1
    const origin = { frame, hubY, side, parent: gateway.key, top: columnTop(column) }
    return joinDrawings(column.slots.map((slot) => drawSlot(slot, origin)))
  })
  return { height, drawing: joinDrawings([{ nodes: [hub], edges: [] }, ...sides]) }
}

interface Stack {
  readonly height: number
  readonly hubY: number
  readonly columnTop: (column: Column) => number
}

/** Hub and columns with their middles at one height. */
function besideHub(columns: readonly Column[], { hub }: Frame, top: number): Stack {
  const height = Math.max(hub.height, ...columns.map((column) => column.height))
  return { height, hubY: top + height / 2, columnTop: (column) => top + (height - column.height) / 2 }
}

function belowHub(columns: readonly Column[], { hub }: Frame, top: number): Stack {
  const below = Math.max(0, ...columns.map((column) => column.height))
  return {
    height: below === 0 ? hub.height : hub.height + GAP_BELOW_HUB + below,
    hubY: top + hub.height / 2,
    columnTop: () => top + hub.height + GAP_BELOW_HUB,
  }
}
