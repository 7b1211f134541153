import type { Clock } from '../../kernel/clock.ts'

/** Visits each of its members once in every round. */
export interface BeatWheel<T> {
  /** Answers the slot, which the member keeps. */
  add(member: T): number
  remove(member: T, slot: number): void
  /** Visits the slots whose time has come since the last turn. */
  turn(): void
  /** How long one slot lasts, in milliseconds. */
  readonly slotMs: number
}

// Short enough that a slot of many thousand sessions is no burst, and long enough that few turns find nothing.
const SLOT_MS = 100
const MOST_SLOTS = 1_000

/**
 * One wheel instead of a timer for each member. Members are dealt to its slots in turn, so that those that came
 * together, as after the death of another gateway, do not beat together.
 */
export function createBeatWheel<T>(
  clock: Clock,
  roundMs: number,
  visit: (member: T, at: number) => void,
): BeatWheel<T> {
  const count = Math.min(MOST_SLOTS, Math.max(1, Math.round(roundMs / SLOT_MS)))
  const slotMs = roundMs / count
  const slots = Array.from({ length: count }, () => new Set<T>())
  const startedAt = clock.monotonic()
  let dealt = 0
  let passed = 0
  return {
    slotMs,
    add(member) {
      const slot = dealt++ % count
      slots[slot]?.add(member)
      return slot
    },
    remove(member, slot) {
      slots[slot]?.delete(member)
    },
    turn() {
      const now = clock.monotonic()
      const due = Math.floor((now - startedAt) / slotMs)
      // After a pause that was longer than a round, each is visited once and not for every round that was missed.
      for (let at = Math.max(passed, due - count) + 1; at <= due; at++) {
        for (const member of slots[at % count] ?? []) visit(member, now)
      }
      passed = due
    },
  }
}
