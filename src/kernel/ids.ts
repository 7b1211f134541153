import { randomUUIDv7 } from 'node:crypto'

/** A new id of the platform's own making: UUIDv7 (RFC 9562), so ids sort by the millisecond they were made in. */
export function newId(): string {
  return randomUUIDv7()
}
