import { ADDRESS_ROW, shownAddresses, type Slot } from './column.ts'
import type { Frame } from './frame.ts'
import { sessionKey, type UserNode } from './graph.ts'
import { typicalHealth, type JudgedSession } from './health.ts'
import {
  CLUSTER_RADIUS,
  joinDrawings,
  type Drawing,
  type NodeMeaning,
  type PlacedEdge,
  type Side,
} from './placed.ts'

export interface SlotOrigin extends Origin {
  /** Key of the gateway. */
  readonly parent: string
  /** Top of the column. */
  readonly top: number
}

/** A user, or the node that stands for several, with the line from the hub. */
export function drawSlot({ block, y, lane }: Slot, origin: SlotOrigin): Drawing {
  const placed = { y: origin.top + y, lane }
  switch (block.kind) {
    case 'box':
      return drawBox(block.user, placed.y, origin)
    case 'cluster': {
      const { user } = block
      return drawCluster(
        user.key,
        user.sessions,
        { kind: 'user', form: 'cluster', node: user },
        placed,
        origin,
      )
    }
    case 'more': {
      const { users } = block
      const sessions = users.flatMap((user) => user.sessions)
      return drawCluster(`more ${origin.parent}`, sessions, { kind: 'more', users }, placed, origin)
    }
  }
}

function drawCluster(
  key: string,
  sessions: readonly JudgedSession[],
  meaning: NodeMeaning,
  { y, lane }: Pick<Slot, 'y' | 'lane'>,
  origin: SlotOrigin,
): Drawing {
  const { frame, side, parent } = origin
  const inner = frame.userAt + lane * frame.laneWidth
  const x = frame.hub.x + side * (inner + CLUSTER_RADIUS)
  return {
    nodes: [{ key, x, y, side, parent, ...meaning }],
    edges: [edgeTo(key, parent, sessions, hubPath(origin, y, inner))],
  }
}

function drawBox(user: UserNode, y: number, origin: SlotOrigin): Drawing {
  const { frame, side, parent } = origin
  const x = frame.hub.x + side * frame.userAt
  const addresses = shownAddresses(user)
  const isCut = addresses.length < user.sessions.length
  const first = y - ((addresses.length - 1) * ADDRESS_ROW) / 2
  const rows = addresses.map((session, index) => {
    const ys = { userY: y, y: first + index * ADDRESS_ROW }
    return isCut && index === addresses.length - 1
      ? drawRest(user, user.sessions.slice(index), ys, origin)
      : drawAddress(user, session, ys, origin)
  })
  const trunk: Drawing = {
    nodes: [{ key: user.key, x, y, side, parent, kind: 'user', form: 'box', node: user }],
    edges: [edgeTo(user.key, parent, user.sessions, hubPath(origin, y, frame.userAt))],
  }
  return joinDrawings([trunk, ...rows])
}

interface RowHeights {
  readonly userY: number
  readonly y: number
}

// The label is in the middle of the level part of the line.
const LABEL_BEFORE_MARK = 34

function drawAddress(user: UserNode, session: JudgedSession, ys: RowHeights, origin: SlotOrigin): Drawing {
  const { frame, side } = origin
  const key = sessionKey(session)
  const { x, node } = leafOf(user, key, { kind: 'session', session }, ys, origin)
  const label = frame.hasRoomOnLine
    ? { x: x - side * LABEL_BEFORE_MARK, y: ys.y, rttMs: session.rttMs }
    : null
  const path = addressPath(origin, ys.userY, ys.y)
  return { nodes: [node], edges: [{ ...edgeTo(key, user.key, [session], path), label }] }
}

function drawRest(
  user: UserNode,
  sessions: readonly JudgedSession[],
  ys: RowHeights,
  origin: SlotOrigin,
): Drawing {
  const key = `rest ${user.key}`
  const { node } = leafOf(user, key, { kind: 'rest', sessions }, ys, origin)
  return { nodes: [node], edges: [edgeTo(key, user.key, sessions, addressPath(origin, ys.userY, ys.y))] }
}

function leafOf(
  user: UserNode,
  key: string,
  meaning: NodeMeaning,
  { y }: RowHeights,
  { frame, side }: SlotOrigin,
) {
  const x = frame.hub.x + side * frame.addressAt
  return { x, node: { key, x, y, side, parent: user.key, ...meaning } }
}

function edgeTo(to: string, from: string, sessions: readonly JudgedSession[], path: string): PlacedEdge {
  return {
    key: `${from} → ${to}`,
    from,
    to,
    path,
    health: typicalHealth(sessions),
    sessions: sessions.length,
    label: null,
  }
}

/** From where the lines of one side of a hub begin. */
interface Origin {
  readonly frame: Frame
  readonly hubY: number
  readonly side: Side
}

/** From the hub to a user; the last part is level, so that it passes between the names of the lane before. */
function hubPath(origin: Origin, y: number, end: number): string {
  return origin.frame.sides === 2 ? besideHub(origin, y, end) : belowHub(origin, y, end)
}

function besideHub({ frame, hubY, side }: Origin, y: number, end: number): string {
  const at = distances(frame, side)
  const start = frame.hub.width / 2
  const turn = at((start + frame.userAt) / 2)
  const level = round(y)
  return `M${at(start)} ${round(hubY)}C${turn} ${round(hubY)} ${turn} ${level} ${at(frame.userAt)} ${level}H${at(end)}`
}

const BEND = 12

function belowHub({ frame, hubY, side }: Origin, y: number, end: number): string {
  const at = distances(frame, side)
  const { hub } = frame
  const start = round(hubY + hub.height / 2)
  return `M${hub.x} ${start}V${round(y - BEND)}Q${hub.x} ${round(y)} ${at(BEND)} ${round(y)}H${at(end)}`
}

// The length of the curve; the rest of the line is level and carries the round-trip time.
const CURVE = 28
// The radius of the largest mark.
const MARK = 7

/** From a user's box to an address: a curve, then a level part that has room for the round-trip time. */
function addressPath({ frame, side }: Origin, userY: number, y: number): string {
  const at = distances(frame, side)
  const start = frame.userAt + frame.userWidth
  const end = frame.addressAt - MARK
  const level = frame.hasRoomOnLine ? start + CURVE : end
  const turn = at((start + level) / 2)
  return `M${at(start)} ${round(userY)}C${turn} ${round(userY)} ${turn} ${round(y)} ${at(level)} ${round(y)}H${at(end)}`
}

/** Distances from the middle of the hub outwards, as positions. */
function distances({ hub }: Frame, side: Side): (distance: number) => number {
  return (distance) => round(hub.x + side * distance)
}

function round(length: number): number {
  return Math.round(length * 10) / 10
}
