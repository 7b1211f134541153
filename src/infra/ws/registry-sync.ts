import type { Clock } from '../../kernel/clock.ts'
import { AppError } from '../../kernel/errors.ts'
import {
  INTERVALS_UNTIL_DEAD,
  type SessionEnd,
  type SessionNews,
  type SessionRegistry,
} from '../../ports/session-registry.ts'
import { type Logger, createOutage, type Outage } from '../../kernel/logger.ts'
import { SECOND } from '../../kernel/time.ts'

export interface RegistrySyncDeps {
  readonly registry: Pick<SessionRegistry, 'close' | 'beat' | 'listEnds' | 'acknowledge'>
  readonly clock: Clock
  readonly logger: Logger
  readonly heartbeatMs: number
  /** The last sign of life and round trip of each session that has answered since the last call. */
  readonly takeNews: () => SessionNews[]
  /** A session was ended elsewhere. */
  readonly onEnded: (end: SessionEnd) => void
  /** Other gateways may consider this one dead by now, and lease its addresses again. */
  readonly onPresumedDead: () => void
}

// docs/specification.md, Gateway: a disabled user's requests are refused within 10 s
const MAX_ENDINGS_AGE_MS = 10 * SECOND
// Several beats have to fail before another gateway considers this one dead.
const BEATS_PER_INTERVAL = 3

/** Keeps the registry and the sessions of this process consistent with each other. */
export class RegistrySync {
  readonly #deps: RegistrySyncDeps
  readonly #outage: Outage
  readonly #closes: PendingCloses
  readonly #readEndings: () => Promise<void>
  readonly #beat: () => Promise<void>
  #nextBeatAt: number
  #lastBeatAt: number
  #endingsReadAt: number

  constructor(deps: RegistrySyncDeps) {
    this.#deps = deps
    this.#outage = createOutage(deps.logger, 'sessions', { clock: deps.clock })
    this.#closes = new PendingCloses(deps.registry, this.#outage.fails)
    this.#readEndings = singleFlight(() => this.#applyEndings(), this.#outage.fails)
    this.#beat = singleFlight(
      () => this.#sendBeat(),
      (error) => this.#missBeat(error),
    )
    this.#nextBeatAt = this.#lastBeatAt = this.#endingsReadAt = deps.clock.monotonic()
  }

  /**
   * Throws `store_unavailable` when endings could not be read for a while: any session may belong to a user who was
   * disabled meanwhile.
   */
  requireCurrentEndings(): void {
    if (this.#deps.clock.monotonic() - this.#endingsReadAt <= MAX_ENDINGS_AGE_MS) return
    throw new AppError(
      'unavailable',
      'store_unavailable',
      'The gateway cannot reach its database to confirm the session; try again later.',
    )
  }

  /** Reports the end of a session. It reaches the registry soon, in a batch, and is retried until then. */
  close(end: SessionEnd): void {
    this.#closes.add(end)
  }

  /** Reads endings, writes pending closes, and beats when that is due. To be called twice a second. */
  tick(): void {
    void this.#closes.flush()
    void this.#readEndings()
    const now = this.#deps.clock.monotonic()
    if (now < this.#nextBeatAt) return
    this.#nextBeatAt = now + this.#deps.heartbeatMs / BEATS_PER_INTERVAL
    void this.#beat()
  }

  /** Resolves when the registry has taken every close, or has failed to. */
  async settle(): Promise<void> {
    // The first may be a run that began before the last close was added.
    await this.#closes.flush()
    await this.#closes.flush()
  }

  async #applyEndings(): Promise<void> {
    const { registry, clock, onEnded } = this.#deps
    const startedAt = clock.monotonic()
    const ends = await registry.listEnds()
    this.#endingsReadAt = startedAt
    if (ends.length === 0) return
    for (const end of ends) onEnded(end)
    await registry.acknowledge(ends.map(({ id }) => id))
  }

  async #sendBeat(): Promise<void> {
    const { registry, clock, takeNews } = this.#deps
    const startedAt = clock.monotonic()
    await registry.beat(takeNews())
    this.#lastBeatAt = startedAt
    this.#outage.works()
  }

  #missBeat(error: unknown): void {
    const { clock, heartbeatMs, onPresumedDead } = this.#deps
    this.#outage.fails(error)
    if (clock.monotonic() - this.#lastBeatAt >= INTERVALS_UNTIL_DEAD * heartbeatMs) onPresumedDead()
  }
}

/** Work that never overlaps with itself: a call during a run waits for that run. A failure goes to `onFailure` alone. */
function singleFlight(work: () => Promise<void>, onFailure: (error: unknown) => void): () => Promise<void> {
  let running: Promise<void> | undefined
  return () => {
    running ??= work()
      .catch(onFailure)
      .finally(() => (running = undefined))
    return running
  }
}

const BATCH_SIZE = 500

/** Ends of sessions on their way to the registry: written in batches, and retried until the registry has taken them. */
class PendingCloses {
  readonly #registry: Pick<SessionRegistry, 'close'>
  readonly #closes: SessionEnd[] = []
  /** Writes what is pending; resolves, without an error, when it is written or has failed. */
  readonly flush: () => Promise<void>

  constructor(registry: Pick<SessionRegistry, 'close'>, onFailure: (error: unknown) => void) {
    this.#registry = registry
    this.flush = singleFlight(() => this.#write(), onFailure)
  }

  add(end: SessionEnd): void {
    // Sessions that end in the same turn of the event loop are written together.
    if (this.#closes.push(end) === 1) setImmediate(() => void this.flush())
  }

  async #write(): Promise<void> {
    while (this.#closes.length > 0) {
      const batch = this.#closes.slice(0, BATCH_SIZE)
      await this.#registry.close(batch)
      this.#closes.splice(0, batch.length)
    }
  }
}
