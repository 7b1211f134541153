/** One element of DER (ITU-T X.690, section 8.1). */
export interface DerElement {
  readonly tag: number
  /** Shorter than its length says when the bytes are cut. */
  readonly content: Buffer
  /** The position behind it. */
  readonly end: number
}

export const TAG = { integer: 0x02, octets: 0x04, oid: 0x06, sequence: 0x30, first: 0xa0 } as const

const INDEFINITE = 0x80

/** The element at a position; undefined when there is none. */
export function readElement(bytes: Buffer, at = 0): DerElement | undefined {
  const [tag, length] = bytes.subarray(at)
  if (tag === undefined || length === undefined) return undefined
  const begin = at + 2
  if (length < INDEFINITE) return elementAt(bytes, tag, begin, length)
  // BER, which some files with keys have; the content lasts to the end.
  if (length === INDEFINITE) return elementAt(bytes, tag, begin, bytes.length - begin)
  const count = length - INDEFINITE
  if (count > 4 || begin + count > bytes.length) return undefined
  return elementAt(bytes, tag, begin + count, bytes.readUIntBE(begin, count))
}

/** The elements that follow one another in the content of a sequence. */
export function readElements(content: Buffer): DerElement[] {
  const elements: DerElement[] = []
  let element = readElement(content)
  while (element) {
    elements.push(element)
    element = readElement(content, element.end)
  }
  return elements
}

function elementAt(bytes: Buffer, tag: number, begin: number, length: number): DerElement {
  return { tag, content: bytes.subarray(begin, begin + length), end: begin + length }
}
