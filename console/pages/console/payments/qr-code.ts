// ISO/IEC 18004, level M: 15 % of the code may be lost. By version: error correction bytes of a block, and blocks.
const VERSIONS: readonly (readonly [eccBytes: number, blocks: number])[] = [
  [10, 1],
  [16, 1],
  [26, 1],
  [18, 2],
  [24, 2],
  [16, 4],
  [18, 4],
  [22, 4],
  [22, 5],
  [26, 5],
  [30, 5],
  [22, 8],
  [22, 9],
  [24, 9],
  [24, 10],
]

/** The dark modules of a QR code, row by row; undefined for a text of more than 412 bytes. */
export function qrCode(text: string): readonly (readonly boolean[])[] | undefined {
  const bytes = [...new TextEncoder().encode(text)]
  const version = VERSIONS.findIndex((_, index) => bytes.length <= capacityOf(index + 1)) + 1
  if (version === 0) return undefined
  const codewords = interleaved(version, dataCodewords(version, bytes))
  const candidates = MASKS.map((_, mask) => drawn(version, codewords, mask))
  const penalties = candidates.map(penaltyOf)
  return candidates[penalties.indexOf(Math.min(...penalties))]
}

const sizeOf = (version: number) => version * 4 + 17

/** The modules of a version that are no pattern, as whole bytes. */
function rawBytes(version: number): number {
  const lines = version < 2 ? 0 : Math.floor(version / 7) + 2
  const alignment = lines === 0 ? 0 : (25 * lines - 10) * lines - 55
  const modules = (16 * version + 128) * version + 64 - alignment - (version < 7 ? 0 : 36)
  return Math.floor(modules / 8)
}

function shapeOf(version: number): readonly [eccBytes: number, blocks: number] {
  return VERSIONS[version - 1] as readonly [number, number]
}

function dataBytes(version: number): number {
  const [eccBytes, blocks] = shapeOf(version)
  return rawBytes(version) - eccBytes * blocks
}

const lengthBits = (version: number) => (version < 10 ? 8 : 16)

/** The mode takes 4 bits. */
function capacityOf(version: number): number {
  return Math.floor((dataBytes(version) * 8 - 4 - lengthBits(version)) / 8)
}

const BYTE_MODE = 0b0100
const PADDING = [0xec, 0x11]

function dataCodewords(version: number, bytes: readonly number[]): number[] {
  const bits = [
    ...bitsOf(BYTE_MODE, 4),
    ...bitsOf(bytes.length, lengthBits(version)),
    ...bytes.flatMap((byte) => bitsOf(byte, 8)),
  ]
  const room = dataBytes(version) * 8
  bits.push(...bitsOf(0, Math.min(4, room - bits.length)))
  bits.push(...bitsOf(0, (8 - (bits.length % 8)) % 8))
  const codewords: number[] = []
  for (let at = 0; at < bits.length; at += 8)
    codewords.push(bits.slice(at, at + 8).reduce((byte, bit) => byte * 2 + bit, 0))
  for (let at = 0; codewords.length < room / 8; at++) codewords.push(PADDING[at % 2] ?? 0)
  return codewords
}

function bitsOf(value: number, length: number): number[] {
  return Array.from({ length }, (_, index) => (value >>> (length - 1 - index)) & 1)
}

/** The blocks with their error correction, byte by byte in turn. The first ones may be a byte shorter. */
function interleaved(version: number, data: readonly number[]): number[] {
  const [eccBytes, blocks] = shapeOf(version)
  const shortLength = Math.floor(data.length / blocks)
  const longBlocks = data.length % blocks
  const divisor = generatorOf(eccBytes)
  const parts: number[][] = []
  const corrections: number[][] = []
  for (let block = 0, at = 0; block < blocks; block++) {
    const length = shortLength + (block >= blocks - longBlocks ? 1 : 0)
    const part = data.slice(at, at + length)
    parts.push(part)
    corrections.push(remainderOf(part, divisor))
    at += length
  }
  return [...inTurn(parts), ...inTurn(corrections)]
}

function inTurn(parts: readonly (readonly number[])[]): number[] {
  const longest = Math.max(...parts.map(({ length }) => length))
  return Array.from({ length: longest }, (_, index) =>
    parts.flatMap((part) => part.slice(index, index + 1)),
  ).flat()
}

/** Multiplies in GF(2^8) modulo x^8 + x^4 + x^3 + x^2 + 1. */
function multiply(one: number, other: number): number {
  let product = 0
  for (let bit = 7; bit >= 0; bit--) {
    product = (product << 1) ^ ((product >>> 7) * 0x11d)
    product ^= ((other >>> bit) & 1) * one
  }
  return product
}

/** The generator of Reed and Solomon without its first coefficient, which is 1. */
function generatorOf(degree: number): number[] {
  const result: number[] = Array.from({ length: degree }, (_, index) => (index === degree - 1 ? 1 : 0))
  let root = 1
  for (let round = 0; round < degree; round++) {
    for (let at = 0; at < degree; at++) result[at] = multiply(result[at] ?? 0, root) ^ (result[at + 1] ?? 0)
    root = multiply(root, 2)
  }
  return result
}

function remainderOf(data: readonly number[], divisor: readonly number[]): number[] {
  const result = divisor.map(() => 0)
  for (const byte of data) {
    const factor = byte ^ (result.shift() ?? 0)
    result.push(0)
    for (const [at, coefficient] of divisor.entries())
      result[at] = (result[at] ?? 0) ^ multiply(coefficient, factor)
  }
  return result
}

const MASKS: readonly ((x: number, y: number) => boolean)[] = [
  (x, y) => (x + y) % 2 === 0,
  (_, y) => y % 2 === 0,
  (x) => x % 3 === 0,
  (x, y) => (x + y) % 3 === 0,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2 === 0,
  (x, y) => ((x * y) % 2) + ((x * y) % 3) === 0,
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2 === 0,
  (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2 === 0,
]

/** Undefined where data goes. */
type Modules = (boolean | undefined)[][]

function drawn(version: number, codewords: readonly number[], mask: number): boolean[][] {
  const size = sizeOf(version)
  const modules: Modules = Array.from({ length: size }, () => Array.from({ length: size }))
  drawPatterns(modules, version)
  drawFormat(modules, mask)
  drawVersion(modules, version)
  drawData(modules, codewords, mask)
  return modules as boolean[][]
}

function put(modules: Modules, x: number, y: number, isDark: boolean): void {
  const row = modules[y]
  if (row && x >= 0 && x < row.length) row[x] = isDark
}

function drawPatterns(modules: Modules, version: number): void {
  const size = modules.length
  for (let at = 0; at < size; at++) {
    put(modules, 6, at, at % 2 === 0)
    put(modules, at, 6, at % 2 === 0)
  }
  for (const [x, y] of [
    [3, 3],
    [size - 4, 3],
    [3, size - 4],
  ] as const)
    drawSquare(modules, x, y, 4, [0, 1, 3])
  const lines = alignmentLines(version)
  const last = lines.at(-1) ?? 0
  for (const x of lines)
    for (const y of lines)
      if (!(x === 6 && y === 6) && !(x === 6 && y === last) && !(x === last && y === 6))
        drawSquare(modules, x, y, 2, [0, 2])
}

/** Rings around a centre; those at these distances are dark. */
function drawSquare(modules: Modules, x: number, y: number, radius: number, dark: readonly number[]): void {
  for (let dy = -radius; dy <= radius; dy++)
    for (let dx = -radius; dx <= radius; dx++)
      put(modules, x + dx, y + dy, dark.includes(Math.max(Math.abs(dx), Math.abs(dy))))
}

function alignmentLines(version: number): number[] {
  if (version === 1) return []
  const count = Math.floor(version / 7) + 2
  const step = Math.ceil((version * 4 + 4) / (count * 2 - 2)) * 2
  const others = Array.from({ length: count - 1 }, (_, index) => sizeOf(version) - 7 - index * step)
  return [6, ...others.toReversed()]
}

// Level M is 0.
function drawFormat(modules: Modules, mask: number): void {
  let remainder = mask
  for (let round = 0; round < 10; round++) remainder = (remainder << 1) ^ ((remainder >>> 9) * 0x537)
  const bits = ((mask << 10) | remainder) ^ 0x5412
  const size = modules.length
  const bit = (index: number) => ((bits >>> index) & 1) === 1
  for (let index = 0; index < 15; index++) {
    const near = index < 6 ? index : index < 8 ? index + 1 : 14 - index + (index === 8 ? 1 : 0)
    if (index < 8) put(modules, 8, near, bit(index))
    else put(modules, near, 8, bit(index))
    if (index < 8) put(modules, size - 1 - index, 8, bit(index))
    else put(modules, 8, size - 15 + index, bit(index))
  }
  put(modules, 8, size - 8, true)
}

function drawVersion(modules: Modules, version: number): void {
  if (version < 7) return
  let remainder = version
  for (let round = 0; round < 12; round++) remainder = (remainder << 1) ^ ((remainder >>> 11) * 0x1f25)
  const bits = (version << 12) | remainder
  for (let index = 0; index < 18; index++) {
    const [long, short] = [modules.length - 11 + (index % 3), Math.floor(index / 3)]
    const isDark = ((bits >>> index) & 1) === 1
    put(modules, long, short, isDark)
    put(modules, short, long, isDark)
  }
}

/** In columns of two from the right, up and down in turn; the column of the timing pattern is left out. */
function drawData(modules: Modules, codewords: readonly number[], mask: number): void {
  const bits = codewords.flatMap((byte) => bitsOf(byte, 8))
  const size = modules.length
  const isMasked = MASKS[mask] ?? (() => false)
  let next = 0
  for (let right = size - 1, isUp = true; right > 0; right -= right === 8 ? 3 : 2, isUp = !isUp)
    for (let step = 0; step < size; step++)
      for (const x of [right, right - 1]) {
        const y = isUp ? size - 1 - step : step
        if (modules[y]?.[x] !== undefined) continue
        put(modules, x, y, (bits[next++] === 1) !== isMasked(x, y))
      }
}

const FINDER = [true, false, true, true, true, false, true]
const QUIET = [false, false, false, false]
const FINDERS = [
  [...FINDER, ...QUIET],
  [...QUIET, ...FINDER],
]

/** How hard it is to read; a scanner takes every mask. */
function penaltyOf(modules: readonly (readonly boolean[])[]): number {
  const columns = modules.map((_, x) => modules.map((row) => row[x] ?? false))
  const lines = [...modules, ...columns].reduce((sum, line) => sum + linePenalty(line), 0)
  const dark = modules.flat().filter(Boolean).length
  const share = dark / modules.length ** 2
  return lines + squares(modules) * 3 + Math.floor(Math.abs(share - 0.5) * 20) * 10
}

function linePenalty(line: readonly boolean[]): number {
  let penalty = 0
  for (let at = 0, run = 0; at < line.length; at++) {
    run = at > 0 && line[at] === line[at - 1] ? run + 1 : 1
    if (run === 5) penalty += 3
    else if (run > 5) penalty++
    penalty +=
      FINDERS.filter((finder) => finder.every((isDark, index) => line[at + index] === isDark)).length * 40
  }
  return penalty
}

function squares(modules: readonly (readonly boolean[])[]): number {
  let count = 0
  for (const [y, row] of modules.entries())
    for (const [x, isDark] of row.entries()) {
      const below = modules[y + 1]
      if (
        below &&
        x + 1 < row.length &&
        row[x + 1] === isDark &&
        below[x] === isDark &&
        below[x + 1] === isDark
      )
        count++
    }
  return count
}
