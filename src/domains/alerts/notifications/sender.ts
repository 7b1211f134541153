import type { WaitingClock } from '../../../kernel/clock.ts'
import { newId } from '../../../kernel/ids.ts'
import type { Logger } from '../../../kernel/logger.ts'
import type { Metrics } from '../../../kernel/metrics.ts'
import { HOUR, MINUTE, SECOND } from '../../../kernel/time.ts'
import { TokenBucket } from '../../../kernel/token-bucket.ts'
import type { NotificationChannel } from '../../../ports/notification-channel.ts'
import { Runner, type WorkClaim, type WorkOutcome } from '../../../store/runner.ts'
import type { Store, Tx } from '../../../store/store.ts'
import { nextBundle } from './bundle.ts'
import { fittingMessage, type MessageContent } from './message.ts'
import type { Outcome, Waiting } from './model.ts'
import {
  createMessage,
  dropMessage,
  explainFailure,
  listContained,
  listUnsent,
  listWaiting,
  lockChannel,
  markFailed,
  recordSent,
  rewriteMessage,
  messageQueue,
  saveChannel,
  type ChannelWork,
} from './store.ts'

export interface SenderOptions {
  readonly store: Store
  readonly clock: WaitingClock
  readonly logger: Logger
  readonly metrics: Metrics
  readonly channel: NotificationChannel
  readonly channelName: string
  /** Repeats the decision on each pending notification, and returns the ones that are still pending, in the same order. */
  readonly judgeAgain: (tx: Tx, pending: readonly Waiting[]) => Promise<Waiting[]>
  /** Counts notifications by outcome. */
  readonly count: (outcome: Outcome, by: number) => void
}

/** How often the sender looks for notifications of other processes. */
export const SEND_EVERY_MS = SECOND / 2
/** The time after which another process sends the message of a dead process. */
const LEASE_MS = 10 * SECOND
// docs/specification.md, Alert notifications
const RETRY = { initialMs: SECOND, maximumMs: MINUTE, giveUpAfterMs: 24 * HOUR }
// A message that the channel refuses must not hold up the others; when it refuses several, it refuses all.
const MAX_REFUSED = 5
const REASON_CHARACTERS = 500

/** A failed attempt at a message. */
class SendFailure extends Error {
  readonly isRefused: boolean
  readonly pauseMs: number | undefined

  constructor(reason: string, { isRefused, pauseMs }: { isRefused: boolean; pauseMs: number | undefined }) {
    super(reason)
    this.isRefused = isRefused
    this.pauseMs = pauseMs
  }
}

/**
 * Sends pending notifications. One process sends at a time, one message after the other: a claim takes a token of the
 * channel's rate limit, which all processes share, and either repeats a message or bundles notifications into a new one.
 * Both are judged again before: while they waited, the alerts may have been silenced. If a process dies between sending a
 * message and recording it, the message is sent again as it is, with the same key.
 */
export class NotificationSender {
  readonly #options: SenderOptions
  readonly #runner: Runner<ChannelWork, void>

  constructor(options: SenderOptions) {
    const { store, clock, logger, metrics } = options
    this.#options = options
    this.#runner = new Runner<ChannelWork, void>({
      name: 'alert-notifications',
      store,
      clock,
      logger,
      metrics,
      everyMs: SEND_EVERY_MS,
      leaseMs: LEASE_MS,
      concurrency: 1,
      retry: RETRY,
      claim: (tx, claim) => this.#claim(tx, claim),
      renew: (tx, message, lease) => messageQueue.renew(tx, message, lease),
      work: (message, signal) => this.#send(message, signal),
      settle: (tx, message, holder, outcome) => this.#settle(tx, message, holder, outcome),
    })
  }

  start(): void {
    this.#runner.start()
  }

  /** Looks for notifications at once. */
  wake(): void {
    this.#runner.wake()
  }

  /** Aborts the current attempt, which is repeated later, and waits for its end; may be called twice. */
  stop(): Promise<void> {
    return this.#runner.stop()
  }

  async #claim(tx: Tx, claim: WorkClaim): Promise<ChannelWork[]> {
    const { channel, channelName } = this.#options
    const bucket = new TokenBucket(channel.rate, () => claim.now, await lockChannel(tx, channelName))
    const tokens = bucket.available()
    const unsent = await listUnsent(tx)
    if (tokens === 0 || unsent.some(isLeasedAt(claim.now))) return []
    const [due] = await messageQueue.claim(tx, { ...claim, limit: 1 })
    if (!due && !mayCreate(unsent)) return []
    const message = due ? await this.#repeat(tx, due, unsent) : await this.#create(tx, claim, tokens)
    if (!message) return []
    bucket.take()
    await saveChannel(tx, channelName, bucket.state)
    return [message]
  }

  /** The message without what is not to be sent any more; undefined if nothing is left of it. */
  async #repeat(
    tx: Tx,
    message: ChannelWork,
    unsent: readonly ChannelWork[],
  ): Promise<ChannelWork | undefined> {
    // Its process has died, and may have sent it. People who have got it must be told of the end of its alerts, too.
    if (unsent.some(({ id, leaseHolder }) => id === message.id && leaseHolder !== null)) return message
    const contained = await listContained(tx, message.id)
    const due = await this.#stillDue(tx, contained, contained)
    if (due.length === 0) {
      await dropMessage(tx, message.id)
      return undefined
    }
    if (due.length === contained.length) return message
    const rewritten = { ...message, ...fittingMessage(due, this.#fits(message.id)) }
    await rewriteMessage(tx, rewritten)
    return rewritten
  }

  /** Bundles notifications into a message, which the holder of the claim has claimed already. */
  async #create(tx: Tx, { now, holder, until }: WorkClaim, tokens: number): Promise<ChannelWork | undefined> {
    const id = newId()
    const fits = this.#fits(id)
    const waiting = await listWaiting(tx)
    const notifications = await this.#stillDue(tx, nextBundle(waiting, { now, tokens, fits }), waiting)
    if (notifications.length === 0) return undefined
    const queuedAt = Math.min(...notifications.map(({ at }) => at))
    const work = { dueAt: until, leaseHolder: holder, attempts: 1, queuedAt }
    const created = { id, ...fittingMessage(notifications, fits), isRefused: false, ...work }
    await createMessage(tx, created, notifications)
    return created
  }

  /**
   * Those of the notifications that are still to be sent. All that wait of their alerts are judged, because an end is sent
   * only if something before it is.
   */
  async #stillDue(
    tx: Tx,
    notifications: readonly Waiting[],
    waiting: readonly Waiting[],
  ): Promise<readonly Waiting[]> {
    if (notifications.length === 0) return []
    const alerts = new Set(notifications.map(({ alertId }) => alertId))
    const judged = waiting.filter(({ alertId }) => alerts.has(alertId))
    const due = new Set(await this.#options.judgeAgain(tx, judged))
    const kept = notifications.filter((notification) => due.has(notification))
    // The next message need not wait for the next look.
    if (kept.length === 0) tx.afterCommit(() => this.wake())
    return kept
  }

  #fits(key: string): (message: MessageContent) => boolean {
    return (message) => this.#options.channel.fits({ ...message, key })
  }

  async #send({ id, title, text, level }: ChannelWork, signal: AbortSignal): Promise<void> {
    const outcome = await this.#options.channel.send({ title, text, level, key: id }, signal)
    if (outcome.sent) return
    const { reason, retryable, pauseMs } = outcome
    throw new SendFailure(reason, { isRefused: !retryable, pauseMs })
  }

  async #settle(tx: Tx, message: ChannelWork, holder: string, outcome: WorkOutcome<void>): Promise<boolean> {
    const dueAt = 'at' in outcome ? outcome.at : null
    if (!(await messageQueue.release(tx, message, { holder, dueAt }))) return false
    if (outcome.status === 'done') await this.#markSent(tx, message)
    else await this.#markFailure(tx, message, outcome)
    return true
  }

  async #markSent(tx: Tx, { id }: ChannelWork): Promise<void> {
    const { outcome, count } = await recordSent(tx, id)
    tx.afterCommit(() => this.#options.count(outcome, count))
  }

  async #markFailure(
    tx: Tx,
    { id, attempts }: ChannelWork,
    { status, error }: Exclude<WorkOutcome<void>, { status: 'done' }>,
  ): Promise<void> {
    if (error instanceof SendFailure) {
      const reason = `Attempt ${attempts} has failed: ${error.message}`.slice(0, REASON_CHARACTERS)
      await explainFailure(tx, id, { isRefused: error.isRefused, reason })
      if (error.pauseMs !== undefined) await this.#pause(tx, error.pauseMs)
    }
    if (status !== 'failed') return
    // The next attempt would come after the end of the 24 hours.
    const before = this.#options.clock.now() - RETRY.giveUpAfterMs + RETRY.maximumMs
    const count = await markFailed(tx, id, before)
    tx.afterCommit(() => this.#options.count('failed', count))
  }

  /** The channel has asked for a pause, which holds for all messages and all processes. */
  async #pause(tx: Tx, milliseconds: number): Promise<void> {
    const { channel, channelName, clock } = this.#options
    const bucket = new TokenBucket(channel.rate, clock.now, await lockChannel(tx, channelName))
    bucket.pause(milliseconds)
    await saveChannel(tx, channelName, bucket.state)
  }
}

const isLeasedAt =
  (now: number) =>
  ({ leaseHolder, dueAt }: ChannelWork) =>
    leaseHolder !== null && dueAt !== null && dueAt > now

/** While the channel fails, notifications are gathered, so that fewer messages are sent when it works again. */
function mayCreate(unsent: readonly ChannelWork[]): boolean {
  return unsent.length < MAX_REFUSED && unsent.every(({ isRefused }) => isRefused)
}
