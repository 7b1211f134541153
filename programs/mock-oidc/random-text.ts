import { randomFillSync } from 'node:crypto'

// 192 bits (RFC 6749, section 10.10: a guess must succeed with a chance of 2^-160 at most).
const BYTES = 24
// One call of the generator for each text costs more than all the rest of a request.
const pool = Buffer.alloc(BYTES * 256)
let next = pool.length

/** 32 characters of `A-Za-z0-9_-` that nobody can guess. */
export function randomText(): string {
  if (next === pool.length) {
    randomFillSync(pool)
    next = 0
  }
  const text = pool.toString('base64url', next, next + BYTES)
  next += BYTES
  return text
}
