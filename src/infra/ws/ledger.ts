import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/logger.ts'
import { createOutage } from '../../kernel/outage.ts'
import type { SessionEnd, SessionNews, SessionRegistry } from '../../ports/session-registry.ts'

export interface LedgerDeps {
  readonly registry: Pick<SessionRegistry, 'close' | 'beat' | 'ended' | 'acknowledge'>
  readonly clock: Clock
  readonly logger: Logger
  readonly heartbeatMs: number
  /** What was heard from the sessions since it was asked last. */
  readonly takeNews: () => SessionNews[]
  /** Somebody else has ended this session. */
  readonly onEnded: (end: SessionEnd) => void
  /** Others may have taken this gateway for dead, and its addresses with it. */
  readonly onLost: () => void
}

/** Keeps the registry and the sessions of this process in step. */
export interface Ledger {
  /** Takes the end of a session down. It reaches the registry soon and in a batch, and again until it has. */
  end(end: SessionEnd): void
  /** Does what is due: looks for the ends that others have made, says that this gateway lives, retries. */
  turn(): void
  /** Resolves when everything that was taken down has reached the registry, or could not. */
  settle(): Promise<void>
}

const BATCH = 500
// So that more than a few must fail before others take this gateway for dead, which they do after three intervals.
const BEATS_PER_INTERVAL = 3
const INTERVALS_UNTIL_DEAD = 3

export function createLedger(deps: LedgerDeps): Ledger {
  const { registry, clock, heartbeatMs } = deps
  const outage = createOutage(
    deps.logger,
    {},
    {
      fails: 'the register of sessions cannot be reached; it is tried again',
      worksAgain: 'the register of sessions can be reached again',
    },
  )
  const waiting: SessionEnd[] = []
  let nextBeatAt = clock.monotonic()
  let livedAt = clock.monotonic()

  const flush = alone(async () => {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH)
      await registry.close(batch)
      waiting.splice(0, batch.length)
    }
  }, outage.fails)

  const lookForEnds = alone(async () => {
    const ends = await registry.ended()
    if (ends.length === 0) return
    for (const end of ends) deps.onEnded(end)
    await registry.acknowledge(ends.map(({ id }) => id))
  }, outage.fails)

  const beat = alone(
    async () => {
      const startedAt = clock.monotonic()
      await registry.beat(deps.takeNews())
      livedAt = startedAt
      outage.works()
    },
    (error) => {
      outage.fails(error)
      if (clock.monotonic() - livedAt >= INTERVALS_UNTIL_DEAD * heartbeatMs) deps.onLost()
    },
  )

  return {
    end(end) {
      // Those that end in the same turn of the event loop go together.
      if (waiting.push(end) === 1) setImmediate(() => void flush())
    },
    turn() {
      void flush()
      void lookForEnds()
      const now = clock.monotonic()
      if (now < nextBeatAt) return
      nextBeatAt = now + heartbeatMs / BEATS_PER_INTERVAL
      void beat()
    },
    async settle() {
      await flush()
      await flush()
    },
  }
}

/** Runs work that never overlaps with itself: asked for meanwhile, it is the run under way that is waited for. */
function alone(work: () => Promise<void>, failed: (error: unknown) => void): () => Promise<void> {
  let underWay: Promise<void> | undefined
  return () => {
    underWay ??= work()
      .catch(failed)
      .finally(() => (underWay = undefined))
    return underWay
  }
}
