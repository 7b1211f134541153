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
