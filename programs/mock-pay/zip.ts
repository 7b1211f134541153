import { crc32, deflateRawSync } from 'node:zlib'

export interface ZipFile {
  /** The name, in the encoding that the reader expects. */
  readonly name: Buffer
  readonly content: Buffer
}

const DEFLATED = 8
// The sizes follow the content, as the libraries of Java write it.
const SIZES_FOLLOW = 0x8
const VERSION = 20

/** A zip as Alipay sends it. APPNOTE.TXT of PKWARE, section 4.3 */
export function zip(files: readonly ZipFile[]): Buffer {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let at = 0
  for (const { name, content } of files) {
    const packed = deflateRawSync(content)
    const sizes = words([crc32(content), packed.length, content.length])
    const common = [uint16(VERSION), uint16(SIZES_FOLLOW), uint16(DEFLATED), words([0])]
    const local = Buffer.concat([
      word(0x04034b50),
      ...common,
      words([0, 0, 0]),
      uint16(name.length),
      uint16(0),
      name,
    ])
    const entry = [word(0x02014b50), uint16(VERSION), ...common, sizes, uint16(name.length)]
    directory.push(
      Buffer.concat([...entry, uint16(0), uint16(0), uint16(0), uint16(0), word(0), word(at), name]),
    )
    const pieces = [local, packed, word(0x08074b50), sizes]
    parts.push(...pieces)
    at += pieces.reduce((all, { length }) => all + length, 0)
  }
  const list = Buffer.concat(directory)
  const count = uint16(files.length)
  const end = Buffer.concat([
    word(0x06054b50),
    uint16(0),
    uint16(0),
    count,
    count,
    word(list.length),
    word(at),
    uint16(0),
  ])
  return Buffer.concat([...parts, list, end])
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16LE(value)
  return bytes
}

function word(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

const words = (values: readonly number[]) => Buffer.concat(values.map(word))
