/** The room in which the picture is drawn: distances in CSS pixels, counted from the middle of a gateway's hub outwards. */
export interface Frame {
  readonly width: number
  /** Two: users to the right and left of their hub. One: the hub above, users below to the right. */
  readonly sides: 1 | 2
  readonly hub: { readonly x: number; readonly width: number; readonly height: number }
  /** Where the users begin. */
  readonly userAt: number
  /** Width of the box of a user whose addresses are drawn beside it. */
  readonly userWidth: number
  /** Where the marks of the addresses are. */
  readonly addressAt: number
  readonly addressWidth: number
  /** Whether the round-trip time finds room on the line to the address. */
  readonly hasRoomOnLine: boolean
  /** How many clusters of users stand beside each other, and how wide each is. */
  readonly lanes: 1 | 2
  readonly laneWidth: number
}

// Width in a wide monospaced font at 12 px.
const CHARACTER_WIDTH = 7.3
// 15 characters: the longest IPv4 address. Longer names of devices are cut.
const ADDRESS_WIDTH = { least: 74, most: 112 }
const USER_WIDTH = { least: 84, most: 160 }
const LANE_WIDTH = { least: 126, most: 210 }
// From a user's box to the mark of an address, with and without the round-trip time on it.
const LINE = { labelled: 84, bare: 34 }
const AROUND_ADDRESS = 16
const WIDEST_SIDE = 520

const BESIDE_HUB = { userAt: 112, hubWidth: 136, hubHeight: 60 }
const BELOW_HUB = { hubX: 20, userAt: 26, hubWidth: 220, hubHeight: 52 }

/** The frame of a picture of this width, whose longest address has so many characters. */
export function frameFor(width: number, longestAddress: number): Frame {
  const addressWidth = clamp(longestAddress * CHARACTER_WIDTH, ADDRESS_WIDTH.least, ADDRESS_WIDTH.most)
  const reach = Math.min(width / 2, WIDEST_SIDE)
  const line = reach - BESIDE_HUB.userAt - USER_WIDTH.least - addressWidth - AROUND_ADDRESS
  return line >= LINE.bare ? twoSides(width, reach, addressWidth) : oneSide(width, addressWidth)
}

function twoSides(width: number, reach: number, addressWidth: number): Frame {
  const { userAt, hubWidth, hubHeight } = BESIDE_HUB
  const hub = { x: width / 2, width: hubWidth, height: hubHeight }
  return { width, sides: 2, hub, ...columns(reach, userAt, addressWidth) }
}

function oneSide(width: number, addressWidth: number): Frame {
  const { hubX, userAt, hubWidth, hubHeight } = BELOW_HUB
  const hub = { x: hubX, width: Math.min(width, hubWidth), height: hubHeight }
  return { width, sides: 1, hub, ...columns(width - hubX, userAt, addressWidth) }
}

function columns(reach: number, userAt: number, addressWidth: number) {
  const room = reach - userAt - addressWidth - AROUND_ADDRESS
  const hasRoomOnLine = room >= USER_WIDTH.least + LINE.labelled
  const line = hasRoomOnLine ? LINE.labelled : LINE.bare
  const userWidth = clamp(room - line, USER_WIDTH.least, USER_WIDTH.most)
  const lanes: 1 | 2 = reach - userAt >= 2 * LANE_WIDTH.least ? 2 : 1
  return {
    userAt,
    userWidth,
    addressAt: userAt + userWidth + line,
    addressWidth,
    hasRoomOnLine,
    lanes,
    laneWidth: Math.min((reach - userAt) / lanes, LANE_WIDTH.most),
  }
}

function clamp(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(most, value))
}
