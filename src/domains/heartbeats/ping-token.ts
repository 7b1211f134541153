import { createHash, randomBytes } from 'node:crypto'

/** The secret part of the address of a heartbeat: 128 random bits as hex digits. */
export function newPingToken(): string {
  return randomBytes(16).toString('hex')
}

/** What is stored of it. It is random enough for a hash without salt and repetition. */
export function hashPingToken(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}
