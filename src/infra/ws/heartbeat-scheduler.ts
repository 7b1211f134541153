import type { Clock } from '../../kernel/clock.ts'

export interface HeartbeatSchedulerOptions<T> {
  readonly clock: Clock
  readonly intervalMs: number
  /** Called once per member and interval; `at` is monotonic. */
  readonly beat: (member: T, at: number) => void
}

// Short enough that one slot of many thousand sessions is no burst, long enough that few ticks find their slot empty.
const SLOT_MS = 100
const MAX_SLOTS = 1_000

/**
 * One timer for the heartbeats of all sessions: the interval is divided into slots, and members are assigned to them in
 * rotation. Sessions that connect at the same time, as after the failure of another gateway, do not beat at the same
 * time.
 */
export class HeartbeatScheduler<T> {
  /** How long one slot lasts, in milliseconds: how often {@link HeartbeatScheduler.tick} is to be called. */
  readonly slotMs: number
  readonly #clock: Clock
  readonly #beat: (member: T, at: number) => void
  readonly #slots: readonly Set<T>[]
  readonly #slotOf = new Map<T, Set<T>>()
  readonly #startedAt: number
  #assigned = 0
  #lastSlot = 0

  constructor({ clock, intervalMs, beat }: HeartbeatSchedulerOptions<T>) {
    const count = Math.min(MAX_SLOTS, Math.max(1, Math.round(intervalMs / SLOT_MS)))
    this.slotMs = intervalMs / count
    this.#clock = clock
    this.#beat = beat
    this.#slots = Array.from({ length: count }, () => new Set<T>())
    this.#startedAt = clock.monotonic()
  }

  add(member: T): void {
    const slot = this.#slots[this.#assigned++ % this.#slots.length]
    slot?.add(member)
    if (slot) this.#slotOf.set(member, slot)
  }

  remove(member: T): void {
    this.#slotOf.get(member)?.delete(member)
    this.#slotOf.delete(member)
  }

  /** Beats for the members of every slot that has become due since the last tick. */
  tick(): void {
    const now = this.#clock.monotonic()
    const count = this.#slots.length
    const due = Math.floor((now - this.#startedAt) / this.slotMs)
    // After a pause longer than the interval each member gets one heartbeat, not one for every interval missed.
    for (let slot = Math.max(this.#lastSlot, due - count) + 1; slot <= due; slot++) {
      for (const member of this.#slots[slot % count] ?? []) this.#beat(member, now)
    }
    this.#lastSlot = due
  }
}

// docs/specification.md, Gateway
const MAX_UNANSWERED = 2

/** The heartbeats of one session: their numbers, their answers, and the round-trip time. Times are monotonic. */
export class Heartbeat {
  #seq = 0
  #unanswered = 0
  #sentAt = 0
  #rttMs: number | null = null

  /** Round trip of the last heartbeat that was answered; null before the first. */
  get rttMs(): number | null {
    return this.#rttMs
  }

  /** The number of the next heartbeat, which is to be sent now; undefined when too many have no answer. */
  next(at: number): number | undefined {
    if (this.#unanswered >= MAX_UNANSWERED) return undefined
    this.#unanswered++
    this.#sentAt = at
    return ++this.#seq
  }

  /** A late answer leaves the heartbeats after it unanswered; a number that was not sent yet is ignored. */
  answer(seq: number, at: number): void {
    if (seq < 1 || seq > this.#seq) return
    if (seq === this.#seq && this.#unanswered > 0) this.#rttMs = at - this.#sentAt
    this.#unanswered = Math.min(this.#unanswered, this.#seq - seq)
  }

  /** A pong has no number: it answers the last heartbeat. */
  answerLast(at: number): void {
    this.answer(this.#seq, at)
  }
}
