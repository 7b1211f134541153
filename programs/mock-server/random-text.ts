import { randomBytes, randomFillSync } from 'node:crypto'

// 192 bits; RFC 6749, section 10.10, wants a guess to succeed with a probability below 2^-160.
const BYTES = 24
// A call of the generator for each text would cost more than the rest of a request.
const pool = Buffer.alloc(BYTES * 256)
let next = pool.length

/** 32 random characters of `A-Za-z0-9_-`. */
export function randomText(): string {
  if (next === pool.length) {
    randomFillSync(pool)
    next = 0
  }
  const text = pool.toString('base64url', next, next + BYTES)
  next += BYTES
  return text
}

/** 40 hexadecimal digits. */
export const randomId = (): string => randomBytes(20).toString('hex')
