import { hash } from 'node:crypto'

/** The bytes of a file that prove that a client has it: they depend on the access token of the request. */
export function proofRange(
  accessToken: string,
  size: number,
): { readonly start: number; readonly end: number } {
  if (size === 0) return { start: 0, end: 0 }
  const start = Number(BigInt(`0x${hash('md5', accessToken).slice(0, 16)}`) % BigInt(size))
  return { start, end: Math.min(start + PROOF_BYTES, size) }
}

const PROOF_BYTES = 8
