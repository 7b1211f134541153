import { timingSafeEqual } from 'node:crypto'

/** Whether two texts are equal, in a time that does not depend on where they differ. */
export function isSameSecret(text: string, expected: string): boolean {
  const [a, b] = [Buffer.from(text), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}
