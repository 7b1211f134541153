/** The bytes from `first` to `last`, both included. */
export interface ByteRange {
  readonly first: number
  readonly last: number
}

const SINGLE_RANGE = /^bytes=[ \t]*(?:(\d+)-(\d*)|-(\d+))[ \t]*$/i

/**
 * The part of a file that a `Range` header asks for (RFC 9110, section 14.1.2). `whole`: the header is malformed, of another
 * unit, or names several ranges, so it is ignored, as RFC 9110 allows.
 */
export function parseByteRange(
  header: string | undefined,
  sizeBytes: number,
): ByteRange | 'whole' | 'unsatisfiable' {
  const [, first, last, suffix] = SINGLE_RANGE.exec(header ?? '') ?? []
  if (suffix !== undefined) return suffixRange(Number(suffix), sizeBytes)
  if (first === undefined || last === undefined) return 'whole'
  if (last !== '' && BigInt(last) < BigInt(first)) return 'whole'
  if (Number(first) >= sizeBytes) return 'unsatisfiable'
  return { first: Number(first), last: last === '' ? sizeBytes - 1 : Math.min(Number(last), sizeBytes - 1) }
}

function suffixRange(length: number, sizeBytes: number): ByteRange | 'unsatisfiable' {
  if (length === 0 || sizeBytes === 0) return 'unsatisfiable'
  return { first: Math.max(0, sizeBytes - length), last: sizeBytes - 1 }
}
