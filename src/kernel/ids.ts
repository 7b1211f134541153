import { randomUUIDv7 } from 'node:crypto'

/** Creates an id: a UUIDv7 (RFC 9562), so ids sort by the millisecond of their creation. */
export function newId(): string {
  return randomUUIDv7()
}
