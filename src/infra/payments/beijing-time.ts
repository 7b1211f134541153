import { HOUR } from '../../kernel/time.ts'

// China has had no summer time since 1991.
const OFFSET_MS = 8 * HOUR

/** The local time of Beijing: `2026-01-31 10:00:00`. */
export function formatBeijingTime(epochMilliseconds: number): string {
  return new Date(epochMilliseconds + OFFSET_MS).toISOString().slice(0, 19).replace('T', ' ')
}

const LOCAL = /^(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2})(?:\.\d+)?$/

/** Epoch milliseconds of a local time of Beijing; undefined for another text. */
export function parseBeijingTime(text: unknown): number | undefined {
  const [, date, time] = (typeof text === 'string' && LOCAL.exec(text)) || []
  const at = Date.parse(`${date}T${time}+08:00`)
  return Number.isNaN(at) ? undefined : at
}
