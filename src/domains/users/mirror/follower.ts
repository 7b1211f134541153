import type { WaitingClock } from '../../../kernel/clock.ts'
import { AppError, errorMessage, invalidField } from '../../../kernel/errors.ts'
import { type Logger, OUTAGES, OutageLength } from '../../../kernel/logger.ts'
import type { Counter, Gauge, Metrics } from '../../../kernel/metrics.ts'
import { backoffMs } from '../../../kernel/waiting.ts'
import { HOUR, SECOND } from '../../../kernel/time.ts'
import type {
  UserChanges,
  UserSource,
  UserSourceFailure,
  Mirror,
  MirrorHealth,
} from '../../../ports/user-source.ts'
import { doNetworksOverlap } from './model.ts'
import type { UserCopy } from './user-copy.ts'

export interface MirrorFollowerDeps {
  readonly source: UserSource
  readonly copy: Pick<UserCopy, 'state' | 'store' | 'confirm'>
  readonly clock: WaitingClock
  readonly logger: Logger
  readonly metrics: Metrics
  /** The address pool of this standby. */
  readonly pool: string
  /** How old the copy may be for new sessions. */
  readonly maxAgeMs: number
}

/** An exchange that ended without a complete answer. */
class FailedExchange extends Error {
  readonly outcome: UserSourceFailure['outcome']

  constructor({ outcome, reason }: UserSourceFailure) {
    super(reason)
    this.outcome = outcome
  }
}

const OUTCOMES = ['succeeded', 'failed'] as const
// docs/specification.md, Gateway
const ASK_EVERY_MS = 2 * SECOND
// The primary takes requests again as soon as it is noticed to be back.
const BACKOFF = { initialMs: 2 * SECOND, maximumMs: 8 * SECOND }
// Between 0.95 and 1.05 of the pause, so that several standbys do not ask at the same moment.
const JITTER = 0.1
// A restart knows the age of the copy to that time; each record is a write to the disk.
const CONFIRM_EVERY_MS = 10 * SECOND
// Repairs a copy that another program has changed.
const FULL_COPY_EVERY_MS = HOUR

/** Keeps the copy of the users current, and knows how current it is. */
export class MirrorFollower implements Mirror {
  readonly #deps: MirrorFollowerDeps
  readonly #telemetry: { readonly exchanges: Counter; readonly age: Gauge }
  readonly #stopping = new AbortController()
  #running: Promise<void> | undefined
  /** When the copy was last current; monotonic, like all times here but that of the record. */
  #currentAt: number | undefined
  #confirmedAt = Number.NEGATIVE_INFINITY
  #fullCopyAt: number | undefined
  #pool: string | null = null
  readonly #outage: OutageLength
  #failures = 0
  #failure: { readonly outcome: UserSourceFailure['outcome']; readonly reason: string } | undefined

  constructor(deps: MirrorFollowerDeps) {
    this.#deps = deps
    this.#outage = new OutageLength(deps.logger, 'primary', deps.clock)
    this.#telemetry = mirrorTelemetry(deps.metrics)
    deps.metrics.onScrape(() => this.#exposeAge(), [this.#telemetry.age])
  }

  /**
   * Asks the primary for the first time, and then again and again until {@link stop}. An unreachable primary is no reason to
   * fail. Rejects with `validation_failed` when the pools of both overlap, and with `not_a_standby`.
   */
  async start(): Promise<void> {
    const { clock, copy } = this.#deps
    const { confirmedAt, revision, pool } = await copy.state()
    if (confirmedAt !== null && revision !== null)
      this.#currentAt = clock.monotonic() - Math.max(0, clock.now() - confirmedAt)
    this.#pool = pool
    const problem = await this.#ask()
    if (problem) throw problem
    if (this.#overlaps()) throw invalidField('vpn.ip_pool', 'invalid', { reason: this.#overlapText() })
    this.#running = this.#run(this.#stopping.signal)
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
    this.#deps.source.close()
  }

  isPrimaryAway(): boolean {
    return this.#failure?.outcome === 'unreachable'
  }

  requireCurrent(): void {
    if (this.#overlaps())
      throw new AppError('unavailable', 'pool_overlap', `vpn.ip_pool ${this.#overlapText()}.`)
    if (!this.#isExpired()) return
    const message = `This gateway ${this.#ageText()}; use another one.`
    throw new AppError('unavailable', 'mirror_outdated', message)
  }

  health(): MirrorHealth {
    const ageMs = this.#ageMs()
    const ageSeconds = ageMs === undefined ? null : Math.round(ageMs) / SECOND
    if (this.#isExpired()) return { status: 'expired', ageSeconds, reason: `the gateway ${this.#ageText()}` }
    const reason = this.#overlaps() ? `vpn.ip_pool ${this.#overlapText()}` : (this.#failure?.reason ?? null)
    return { status: reason === null ? 'ok' : 'degraded', ageSeconds, reason }
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#deps
    while (!signal.aborted) {
      await clock.wait(this.#pauseMs(), signal)
      if (signal.aborted) return
      const problem = await this.#ask()
      if (problem) logger.error({ reason: problem.message }, 'the users of the primary cannot be copied')
    }
  }

  #pauseMs(): number {
    if (this.#failures > 0) return Math.round(backoffMs(BACKOFF, this.#failures - 1))
    return Math.round(ASK_EVERY_MS * (1 + JITTER * (Math.random() - 0.5)))
  }

  /** One exchange; resolves with an error that the operator has to correct. */
  async #ask(): Promise<AppError | undefined> {
    const startedAt = this.#deps.clock.monotonic()
    try {
      await this.#exchange(startedAt)
      this.#succeed(startedAt)
      await this.#confirm(startedAt)
      return undefined
    } catch (error) {
      if (this.#stopping.signal.aborted) return undefined
      this.#fail(error)
      return error instanceof AppError && error.kind === 'invalid' ? error : undefined
    }
  }

  async #exchange(startedAt: number): Promise<void> {
    const { copy } = this.#deps
    const isFull = this.#fullCopyAt === undefined || startedAt - this.#fullCopyAt >= FULL_COPY_EVERY_MS
    const { revision } = await copy.state()
    await copy.store(this.#pages(isFull || revision === null ? undefined : revision))
    if (isFull) this.#fullCopyAt = startedAt
  }

  async *#pages(since: number | undefined): AsyncGenerator<UserChanges> {
    const { source } = this.#deps
    for (let after = since, more = true; more;) {
      const answer = await source.changesSince(after, this.#stopping.signal)
      if (answer.outcome !== 'changes') throw new FailedExchange(answer)
      const { changes } = answer
      this.#setPool(changes.pool)
      yield changes
      if (changes.more && changes.revision === after)
        throw new FailedExchange({ outcome: 'unusable', reason: 'the answer of the primary has no end' })
      after = changes.revision
      more = changes.more
    }
  }

  #succeed(startedAt: number): void {
    if (this.#failure) this.#deps.logger.info(this.#outage.end(), OUTAGES.primary.worksAgain)
    this.#failure = undefined
    this.#failures = 0
    this.#currentAt = startedAt
    this.#telemetry.exchanges.increment({ outcome: 'succeeded' })
  }

  #fail(error: unknown): void {
    const failure =
      error instanceof FailedExchange
        ? { outcome: error.outcome, reason: error.message }
        : { outcome: 'unusable' as const, reason: 'the users of the primary could not be stored' }
    if (failure.reason !== this.#failure?.reason)
      this.#deps.logger.warn(
        {
          reason: failure.reason,
          ...(error instanceof FailedExchange ? {} : { error: errorMessage(error) }),
        },
        OUTAGES.primary.fails,
      )
    this.#failure = failure
    this.#outage.fails({ reason: failure.reason, error })
    this.#failures += 1
    this.#telemetry.exchanges.increment({ outcome: 'failed' })
  }

  async #confirm(startedAt: number): Promise<void> {
    const { clock, copy } = this.#deps
    if (startedAt - this.#confirmedAt < CONFIRM_EVERY_MS) return
    await copy.confirm(Math.floor(clock.now() - (clock.monotonic() - startedAt)))
    this.#confirmedAt = startedAt
  }

  #ageMs(): number | undefined {
    return this.#currentAt === undefined ? undefined : this.#deps.clock.monotonic() - this.#currentAt
  }

  #isExpired(): boolean {
    const ageMs = this.#ageMs()
    return ageMs === undefined || ageMs > this.#deps.maxAgeMs
  }

  #setPool(pool: string): void {
    const didOverlap = this.#overlaps()
    this.#pool = pool
    if (this.#overlaps() && !didOverlap)
      this.#deps.logger.error({ setting: 'vpn.ip_pool' }, `vpn.ip_pool ${this.#overlapText()}`)
  }

  #overlaps(): boolean {
    return this.#pool !== null && doNetworksOverlap(this.#pool, this.#deps.pool)
  }

  #overlapText(): string {
    const { pool } = this.#deps
    return `is ${pool}, which overlaps ${this.#pool}, the pool of the primary; a standby needs a pool of its own`
  }

  #ageText(): string {
    if (this.#currentAt === undefined) return 'has not reached the primary yet, and knows no users'
    return 'has not reached the primary for longer than gateway.mirror_max_age'
  }

  #exposeAge(): void {
    const ageMs = this.#ageMs()
    if (ageMs === undefined) this.#telemetry.age.clear()
    else this.#telemetry.age.set(ageMs / SECOND)
  }
}

/** Registered on every platform, so that the names are known before there is a standby. */
export function mirrorTelemetry(metrics: Metrics) {
  const exchanges = metrics.counter({
    name: 'mirror_requests_total',
    help: 'Requests of a standby for the users of its primary, by outcome.',
    labels: { outcome: OUTCOMES },
  })
  const age = metrics.gauge({
    name: 'mirror_age_seconds',
    help: 'How long ago the users of a standby were those of its primary; absent before the first copy.',
  })
  return { exchanges, age }
}
