import type { Frame } from './frame.ts'
import type { Side } from './placed.ts'

/** From where the lines of one side of a hub begin. */
export interface Origin {
  readonly frame: Frame
  readonly hubY: number
  readonly side: Side
}

/** From the hub to a user; the last part is level, so that it passes between the names of the lane before. */
export function hubPath(origin: Origin, y: number, end: number): string {
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

// What is left of the line beyond it carries the round-trip time.
const CURVE = 28
// As far as the largest mark reaches.
const MARK = 7

/** From a user's box to an address: a curve, then a level part that has room for the round-trip time. */
export function addressPath({ frame, side }: Origin, userY: number, y: number): string {
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
