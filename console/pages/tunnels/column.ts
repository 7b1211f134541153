import type { Frame } from './frame.ts'
import type { UserNode } from './graph.ts'
import type { JudgedSession } from './health.ts'

/** What takes a place beside a hub. `rows` is its weight when the two sides are balanced. */
export type Block =
  | { readonly kind: 'box'; readonly rows: number; readonly user: UserNode }
  | { readonly kind: 'cluster'; readonly rows: 1; readonly user: UserNode }
  | { readonly kind: 'more'; readonly rows: 1; readonly users: readonly UserNode[] }

/** A block's place in its column: `y` of its middle, counted from the column's top. */
export interface Slot {
  readonly block: Block
  readonly y: number
  readonly lane: number
}

export interface Column {
  readonly height: number
  readonly slots: readonly Slot[]
}

export const ADDRESS_ROW = 36
const CLUSTER_ROW = 32
const GAP_AROUND_BOX = 10
const MOST_ADDRESSES_OF_ONE_USER = 24

/** The first half of the rows, and the second. */
export function splitBlocks(blocks: readonly Block[]): [Block[], Block[]] {
  const total = blocks.reduce((sum, block) => sum + block.rows, 0)
  let before = 0
  const halves: [Block[], Block[]] = [[], []]
  for (const block of blocks) {
    halves[before * 2 < total ? 0 : 1].push(block)
    before += block.rows
  }
  return halves
}

/** Boxes below each other; clusters in lanes, each lane half a row lower so that lines pass between the names. */
export function placeColumn(blocks: readonly Block[], { lanes }: Frame): Column {
  const slots: Slot[] = []
  let row = 0
  let lane = 0
  let bottom = 0
  for (const block of blocks) {
    if (block.kind === 'box') {
      const height = boxHeight(block.user)
      slots.push({ block, y: bottom + height / 2, lane: 0 })
      bottom += height
      row = bottom
      lane = 0
    } else {
      const y = row + CLUSTER_ROW / 2 + (lane * CLUSTER_ROW) / lanes
      slots.push({ block, y, lane })
      bottom = y + CLUSTER_ROW / 2
      lane = (lane + 1) % lanes
      if (lane === 0) row += CLUSTER_ROW
    }
  }
  return { height: bottom, slots }
}

function boxHeight(user: UserNode): number {
  return shownAddresses(user).length * ADDRESS_ROW + GAP_AROUND_BOX
}

/** The addresses of a user that are drawn; where there are more, the last place is for all that have none. */
export function shownAddresses({ sessions }: UserNode): readonly JudgedSession[] {
  return sessions.slice(0, MOST_ADDRESSES_OF_ONE_USER)
}
