import { isDeepStrictEqual } from 'node:util'
import type { WaitingClock } from '../../../kernel/clock.ts'
import { newId } from '../../../kernel/ids.ts'
import { HOUR, MINUTE, SECOND, isDueAt } from '../../../kernel/time.ts'
import { TokenBucket } from '../../../kernel/waiting.ts'
import type { NotificationChannel, SendFault, SendOutcome } from '../../../ports/notification-channel.ts'
import { Runner, type WorkClaim, type WorkOutcome } from '../../../store/work/runner.ts'
import type { ServiceDeps, Tx } from '../../../store/store.ts'
import { queuedWork } from '../../../store/work/work-queue.ts'
import { fittingPart, nextBundle } from './bundle.ts'
import {
  afterAttempt,
  allowedBy,
  withoutRefused,
  type AllowedMessages,
  type ReceiverHealth,
} from './health.ts'
import { messageOf, shortenMessage, type MessageContent } from './message.ts'
import { SUPERSEDED, type WaitingNotification } from './model.ts'
import {
  claimMessage,
  createMessage,
  deleteMessage,
  explainFailure,
  listContained,
  listInMessages,
  listUnsent,
  listWaiting,
  lockChannel,
  markFailed,
  recordSent,
  recordAttempt,
  rewriteMessage,
  messageQueue,
  queueNotice,
  saveChannel,
  type ChannelState,
  type ChannelWork,
} from './message-store.ts'
import type { Notifier } from './notifier.ts'
import { wasNotifiedSince } from './store.ts'

export interface SenderOptions extends ServiceDeps {
  readonly clock: WaitingClock
  readonly channel: NotificationChannel
  readonly channelName: string
  readonly notifier: Pick<Notifier, 'judgeAgain' | 'count'>
  /** Where people open the console; undefined if that is not configured. */
  readonly consoleUrl?: string | undefined
  /** Called when the receiver has failed for 15 minutes, and when it then works again. */
  readonly report?: ((tx: Tx, receiver: string, problem: string | undefined) => Promise<void>) | undefined
}

/** The name of the receiver that `alerts.robot` configures. */
const ROBOT = 'robot'
/** How often the sender looks for notifications of other processes. */
export const SEND_EVERY_MS = SECOND / 2
/** The time after which another process sends the message of a dead process. */
const LEASE_MS = 10 * SECOND
// docs/specification.md, Alert notifications
const RETRY = { initialMs: SECOND, maximumMs: MINUTE, giveUpAfterMs: 24 * HOUR }
// docs/specification.md, Alert notifications
const MAX_REFUSALS = 3
const REASON_CHARACTERS = 500
// docs/specification.md, Alert notifications
const FAILING_MS = 15 * MINUTE
/** A notice has this weight, because somebody waits for the answer to it. */
const NOTICE_WEIGHT = 5
// RFC 5321, section 4.5.4.1: soon at first, as greylisting ends within minutes, then every half hour
const LATE_PAUSE = { shortestMs: MINUTE, longestMs: 30 * MINUTE }

type SentOutcome = Extract<SendOutcome, { readonly sent: true }>
type FailedOutcome = Extract<SendOutcome, { readonly sent: false }>

/** A failed attempt at a message. */
class SendFailure extends Error {
  readonly failed: FailedOutcome

  constructor(failed: FailedOutcome) {
    super(failed.reason)
    this.failed = failed
  }
}

/** A candidate for the next attempt: a message that has failed, or notifications that no message contains yet. */
interface Candidate {
  /** The highest weight in it. */
  readonly weight: number
  readonly attempts: number
  claim(): Promise<ChannelWork | undefined>
}

/**
 * Sends pending notifications. One process sends at a time, one message after the other: a claim takes a token of the
 * channel's rate limit, which all processes share, and either repeats a message or bundles notifications into a new one,
 * the most severe first. Both are judged again before: while they waited, the alerts may have changed. A message that the
 * channel may have got, because its process died or there was no answer, is sent again as it is, with the same key.
 */
export class NotificationSender {
  readonly #options: SenderOptions
  readonly #runner: Runner<ChannelWork, SentOutcome>

  constructor(options: SenderOptions) {
    const { channelName } = options
    this.#options = options
    this.#runner = new Runner<ChannelWork, SentOutcome>({
      ...options,
      name: channelName === ROBOT ? 'alert-notifications' : `alert-notifications-${channelName}`,
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
    const state = await lockChannel(tx, channelName)
    const bucket = new TokenBucket(channel.rate, () => claim.now, state.rate ?? undefined)
    const allowed = allowedBy(state.health, claim.now, RETRY)
    const tokens = bucket.available()
    const { rate } = state
    // A pause that began before the clock was set back is counted from now on.
    if (rate && rate.at > claim.now) await saveChannel(tx, channelName, { ...state, rate: bucket.state })
    if (tokens === 0 || allowed === 'none') return []
    const unsent = await listUnsent(tx, channelName)
    if (unsent.some(isLeasedAt(claim.now))) return []
    const chances = { claim, unsent, tokens, allowed, health: state.health }
    for (const candidate of await this.#candidates(tx, chances)) {
      const message = await candidate.claim()
      if (!message) continue
      bucket.take()
      await saveChannel(tx, channelName, { ...state, rate: bucket.state })
      return [message]
    }
    return []
  }

  /** The messages and notifications that can be sent, in the order in which they are tried. */
  async #candidates(
    tx: Tx,
    { claim, unsent, tokens, allowed, health }: AttemptInput,
  ): Promise<readonly Candidate[]> {
    const { channelName } = this.#options
    const waiting = await listWaiting(tx, channelName, claim.now)
    const contained = unsent.length > 0 ? await listInMessages(tx, channelName) : []
    // The later state of an alert waits for its message, which is as urgent as that state.
    const messageOf = new Map(contained.map(({ alertId, messageId }) => [alertId, messageId]))
    const weights = new Map<string | undefined, number>()
    for (const { alertId, weight } of [...contained, ...waiting]) {
      const id = messageOf.get(alertId)
      weights.set(id, Math.max(weight, weights.get(id) ?? 0))
    }
    const isDue = ({ dueAt }: ChannelWork, longestMs: number) =>
      dueAt !== null && isDueAt(dueAt, claim.now, longestMs)
    const isAllowed = (message: ChannelWork) =>
      isLate(message)
        ? allowed === 'any' && isDue(message, LATE_PAUSE.longestMs)
        : (allowed === 'any' || message.id !== health?.lastFailed) &&
          (health?.isDown === true || isDue(message, RETRY.maximumMs))
    const weightOf = (message: ChannelWork) => {
      if (isLate(message)) return 0
      return message.isNotice ? NOTICE_WEIGHT : (weights.get(message.id) ?? 0)
    }
    const repeated = unsent.filter(isAllowed).map((message) => ({
      weight: weightOf(message),
      attempts: message.attempts,
      claim: () => this.#repeat(tx, message, claim),
    }))
    const free = waiting.filter(({ alertId }) => !messageOf.has(alertId))
    // While the channel is down, a new message has all that fits.
    const room = { now: claim.now, tokens: health?.isDown ? 0 : tokens, ...this.#form(newId()) }
    const bundle = nextBundle(free, room)
    const weight = Math.max(...bundle.map((each) => each.weight))
    const created = { weight, attempts: 0, claim: () => this.#create(tx, claim, bundle, free) }
    const candidates: Candidate[] = bundle.length > 0 ? [...repeated, created] : repeated
    return candidates.sort(allowed === 'any' ? mostSevereFirst : leastTriedFirst)
  }

  /** The message without what is not to be sent any more; undefined if nothing is left of it. */
  async #repeat(tx: Tx, message: ChannelWork, claim: WorkClaim): Promise<ChannelWork | undefined> {
    if (isLate(message) && (await this.#isReplaced(tx, message))) {
      await deleteMessage(tx, message.id)
      return undefined
    }
    // The channel may have got it. People who have got it must be notified of the end of its alerts, too.
    if (message.isNotice || message.leaseHolder !== null || message.isUncertain)
      return claimMessage(tx, message, claim)
    const contained = await listContained(tx, message.id)
    const due = await this.#stillDue(tx, contained, contained)
    if (due.length === 0) {
      await deleteMessage(tx, message.id)
      return undefined
    }
    const rewritten = { ...message, ...this.#contentOf(message.id, due) }
    if (!isDeepStrictEqual(rewritten, message)) await rewriteMessage(tx, rewritten)
    return claimMessage(tx, rewritten, claim)
  }

  /** Whether the receiver was notified anew of all alerts of a message since most of its recipients have got it. */
  async #isReplaced(tx: Tx, { details, queuedAt }: ChannelWork): Promise<boolean> {
    const alertIds = details?.about?.alertIds ?? []
    return alertIds.length > 0 && wasNotifiedSince(tx, this.#options.channelName, alertIds, queuedAt)
  }

  /** Bundles notifications into a message, which the holder of the claim has claimed already. */
  async #create(
    tx: Tx,
    { now, holder, until }: WorkClaim,
    bundle: readonly WaitingNotification[],
    waiting: readonly WaitingNotification[],
  ): Promise<ChannelWork | undefined> {
    const due = await this.#stillDue(tx, bundle, waiting)
    if (due.length === 0) return undefined
    const id = newId()
    const notifications = fittingPart(due, this.#form(id))
    const queuedAt = Math.min(now, ...notifications.map(({ at }) => at))
    const trace = notifications[0]?.trace ?? null
    const work = { dueAt: until, leaseHolder: holder, attempts: 1, queuedAt, trace }
    const created = this.#newMessage(id, notifications, work)
    await createMessage(tx, created, notifications)
    return created
  }

  /**
   * The notifications that are still to be sent, with the present state of their alerts. All waiting notifications of these
   * alerts are judged: the newest one replaces the others.
   */
  async #stillDue(
    tx: Tx,
    notifications: readonly WaitingNotification[],
    waiting: readonly WaitingNotification[],
  ): Promise<readonly WaitingNotification[]> {
    if (notifications.length === 0) return []
    const alerts = new Set(notifications.map(({ alertId }) => alertId))
    const judged = waiting.filter(({ alertId }) => alerts.has(alertId))
    const { channel, channelName, notifier } = this.#options
    const stillDue = await notifier.judgeAgain(tx, channelName, judged, channel.needs === 'alerts')
    const due = new Map(stillDue.map((each) => [each.id, each]))
    const kept = notifications.map(({ id }) => due.get(id)).filter((each) => each !== undefined)
    // The next message need not wait for the next look.
    if (kept.length === 0) tx.afterCommit(() => this.wake())
    return kept
  }

  /** How notifications become a message of this channel, and whether it fits. */
  #form(key: string) {
    const { channel, consoleUrl } = this.#options
    const hasAbout = channel.needs !== undefined
    return {
      render: (notifications: readonly WaitingNotification[]) =>
        messageOf(notifications, { consoleUrl, hasAbout }),
      fits: (message: MessageContent) => channel.fits({ ...message, key }),
    }
  }

  #contentOf(key: string, notifications: readonly WaitingNotification[]) {
    const { render, fits } = this.#form(key)
    const { title, text, level, ...others } = shortenMessage(render(notifications), fits)
    return { title, text, level, details: Object.keys(others).length > 0 ? others : null }
  }

  #newMessage(
    id: string,
    notifications: readonly WaitingNotification[],
    work: Pick<ChannelWork, 'dueAt' | 'leaseHolder' | 'attempts' | 'queuedAt' | 'trace'>,
  ): ChannelWork {
    const { channelName: channel } = this.#options
    return { id, channel, ...this.#contentOf(id, notifications), ...NO_FAILURES, ...work }
  }

  async #send(message: ChannelWork, signal: AbortSignal): Promise<SentOutcome> {
    const { id: key, title, text, level, details } = message
    const { channel, channelName, logger } = this.#options
    const outcome = await channel.send({ title, text, level, key, ...details }, signal)
    if (!outcome.sent) throw new SendFailure(outcome)
    const { warning } = outcome
    if (warning !== undefined)
      logger.warn({ receiver: channelName, message_id: key, warning }, 'a message has not reached everybody')
    return outcome
  }

  async #settle(
    tx: Tx,
    message: ChannelWork,
    holder: string,
    outcome: WorkOutcome<SentOutcome>,
  ): Promise<boolean> {
    const at = 'at' in outcome ? outcome.at : null
    const dueAt = at !== null && isLate(message) ? at + latePause(at - message.queuedAt) : at
    if (!(await messageQueue.release(tx, message, { holder, dueAt }))) return false
    if (outcome.status === 'done') await this.#markSent(tx, message, outcome.result)
    else await this.#markFailure(tx, message, outcome)
    return true
  }

  async #markSent(tx: Tx, message: ChannelWork, { warning, missed }: SentOutcome): Promise<void> {
    const { channelName, clock, notifier, report } = this.#options
    const at = clock.now()
    const sent = await recordSent(tx, message.id, channelName, at, warning)
    await recordSuccess(tx, channelName, { at, report })
    if (warning !== undefined)
      await recordAttempt(tx, channelName, { lastError: warning.slice(0, REASON_CHARACTERS) })
    if (missed) await queueNotice(tx, lateMessage(message, missed, at))
    tx.afterCommit(() => notifier.count(channelName, sent.outcome, sent.count))
  }

  async #markFailure(
    tx: Tx,
    message: ChannelWork,
    { status, error }: Exclude<WorkOutcome<unknown>, { status: 'done' }>,
  ): Promise<void> {
    const failed = error instanceof SendFailure ? error.failed : undefined
    if (failed?.fault === 'recipients' && status !== 'interrupted')
      return this.#markLate(tx, message, failed, status === 'failed' || !failed.retryable)
    const fault = failed && status !== 'interrupted' ? await this.#judge(tx, message, failed) : undefined
    if (failed) await this.#explain(tx, message, failed, fault)
    if (status === 'failed') {
      // The next attempt would come after the end of the 24 hours.
      const before = this.#options.clock.now() - RETRY.giveUpAfterMs + RETRY.maximumMs
      await this.#fail(tx, message, before, 'Given up after 24 hours.')
    } else if (fault === 'message') await this.#refuse(tx, message)
  }

  /** Records that some recipients were refused again. The others have the message, so that nothing else waits. */
  async #markLate(
    tx: Tx,
    { id, details }: ChannelWork,
    failed: FailedOutcome,
    isOver: boolean,
  ): Promise<void> {
    const { channelName, logger } = this.#options
    const recipients = (details?.recipients ?? []).join(', ')
    const problem = `${isOver ? 'Given up' : 'Put off'} for ${recipients}: ${failed.reason}`
    await lockChannel(tx, channelName)
    await recordAttempt(tx, channelName, { lastError: problem.slice(0, REASON_CHARACTERS) })
    if (!isOver) return
    await deleteMessage(tx, id)
    const fields = { receiver: channelName, message_id: id, problem }
    tx.afterCommit(() => logger.warn(fields, 'a message has not reached everybody'))
  }

  async #explain(
    tx: Tx,
    { id, attempts, refusals }: ChannelWork,
    failed: FailedOutcome,
    fault: SendFault | undefined,
  ): Promise<void> {
    const reason = `Attempt ${attempts} has failed: ${failed.reason}`.slice(0, REASON_CHARACTERS)
    const isUncertain = failed.isUncertain === true
    const refused = fault === 'message' ? refusals + 1 : refusals
    await explainFailure(tx, { id, refusals: refused }, { reason, isUncertain, replacement: SUPERSEDED })
  }

  /** Finds out whose fault a failure is. A pause that the channel asks for holds for all messages and all processes. */
  async #judge(
    tx: Tx,
    { id: messageId }: ChannelWork,
    { fault, pauseMs, reason }: FailedOutcome,
  ): Promise<SendFault> {
    const { channel, channelName, clock } = this.#options
    const now = clock.now()
    const state = await lockChannel(tx, channelName)
    const bucket = new TokenBucket(channel.rate, () => now, state.rate ?? undefined)
    if (pauseMs !== undefined) bucket.pause(pauseMs)
    const judged = afterAttempt(state.health, { messageId, fault }, { now, pauses: RETRY })
    await saveChannel(tx, channelName, { rate: bucket.state, health: judged.health })
    await this.#recordFailure(tx, state, now, judged.fault === 'receiver', reason)
    return judged.fault
  }

  /** A receiver that has failed for a while is reported once. */
  async #recordFailure(
    tx: Tx,
    { failingSince, isReported }: ChannelState,
    now: number,
    isFailing: boolean,
    reason: string,
  ): Promise<void> {
    const { channelName, report } = this.#options
    const lastError = reason.slice(0, REASON_CHARACTERS)
    if (!isFailing) return recordAttempt(tx, channelName, { lastError })
    const since = failingSince === null ? now : Math.min(failingSince, now)
    const isDue = report !== undefined && !isReported && now - since >= FAILING_MS
    await recordAttempt(tx, channelName, { lastError, failingSince: since, isReported: isReported || isDue })
    if (isDue) await report(tx, channelName, lastError)
  }

  /** A refused bundle is sent in two parts, so that only what is refused is set aside. */
  async #refuse(tx: Tx, message: ChannelWork): Promise<void> {
    const contained = await listContained(tx, message.id)
    if (contained.length > 1) return this.#split(tx, message, contained)
    if (message.refusals + 1 < MAX_REFUSALS) return
    const why = `Set aside after ${MAX_REFUSALS} refusals.`
    await this.#fail(tx, message, Number.MAX_SAFE_INTEGER, why)
    const { channelName } = this.#options
    const state = await lockChannel(tx, channelName)
    await saveChannel(tx, channelName, { ...state, health: withoutRefused(state.health, message.id) })
  }

  async #split(tx: Tx, message: ChannelWork, contained: readonly WaitingNotification[]): Promise<void> {
    const middle = Math.ceil(contained.length / 2)
    const work = {
      ...queuedWork(this.#options.clock.now()),
      queuedAt: message.queuedAt,
      trace: message.trace,
    }
    for (const part of [contained.slice(0, middle), contained.slice(middle)]) {
      const id = newId()
      await createMessage(tx, this.#newMessage(id, part, work), part)
    }
    await deleteMessage(tx, message.id)
  }

  async #fail(tx: Tx, { id }: ChannelWork, before: number, why: string): Promise<void> {
    const { channelName, notifier } = this.#options
    const failed = await markFailed(tx, id, before, why)
    tx.afterCommit(() => notifier.count(channelName, 'failed', failed))
  }
}

/** The success of a receiver: its failure ends, and so does the alert about it. */
export async function recordSuccess(
  tx: Tx,
  receiver: string,
  { at, report }: { readonly at: number; readonly report: SenderOptions['report'] },
): Promise<void> {
  const state = await lockChannel(tx, receiver)
  if (state.health) await saveChannel(tx, receiver, { ...state, health: null })
  await recordAttempt(tx, receiver, { lastSuccessAt: at, failingSince: null, isReported: false })
  if (state.isReported) await report?.(tx, receiver, undefined)
}

/** Whether the others have got the message already. */
function isLate({ details }: ChannelWork): boolean {
  return details?.recipients !== undefined
}

/** The message for those who have not got it with the others. */
function lateMessage({ details, ...message }: ChannelWork, recipients: readonly string[], at: number) {
  return {
    ...message,
    details: { ...details, recipients },
    ...NO_FAILURES,
    // A notice is not judged again: its notifications are sent already.
    isNotice: true,
    ...queuedWork(at),
    dueAt: at + LATE_PAUSE.shortestMs,
  }
}

/** The pause is as long as the message has waited, so that pauses double. */
function latePause(waitedMs: number): number {
  return Math.min(LATE_PAUSE.longestMs, Math.max(LATE_PAUSE.shortestMs, waitedMs))
}

/** A message that was not tried yet. */
export const NO_FAILURES = { isNotice: false, isRefused: false, refusals: 0, isUncertain: false } as const

/** The input for the choice of the next attempt. */
interface AttemptInput {
  readonly claim: WorkClaim
  readonly unsent: readonly ChannelWork[]
  readonly tokens: number
  readonly allowed: AllowedMessages
  readonly health: ReceiverHealth | null
}

const mostSevereFirst = (one: Candidate, other: Candidate) =>
  other.weight - one.weight || one.attempts - other.attempts

const leastTriedFirst = (one: Candidate, other: Candidate) =>
  one.attempts - other.attempts || other.weight - one.weight

const isLeasedAt =
  (now: number) =>
  ({ leaseHolder, dueAt }: ChannelWork) =>
    leaseHolder !== null && dueAt !== null && !isDueAt(dueAt, now, RETRY.maximumMs)
