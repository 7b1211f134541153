import type { WaitingClock } from '../../kernel/clock.ts'
import { traceHeadersOfEvent } from '../../kernel/events.ts'
import { createOutage, type Outage } from '../../kernel/logger.ts'
import { newId } from '../../kernel/ids.ts'
import { webhookHeaders } from '../../kernel/standard-webhook.ts'
import { DAY, SECOND } from '../../kernel/time.ts'
import { receivedTrace, runInSpan, traceHeaders } from '../../kernel/trace.ts'
import type { LoggedMessage, MessageLogReader } from '../../ports/events.ts'
import type { WebhookCaller } from '../../ports/webhook-caller.ts'
import { Runner, type RunnerOptions } from '../../store/work/runner.ts'
import type { Tx } from '../../store/store.ts'
import type { ModuleRunner } from '../../wire/domain.ts'
import {
  type CallResult,
  LONGEST_PAUSE_MS,
  newDelivery,
  type SentEvent,
  sentEventOf,
  signingSecrets,
  type StoredWebhook,
  wantsSubject,
  type WebhookDelivery,
} from './model.ts'
import type { Pace } from './pace.ts'
import { type CallAttempt, MAX_WEBHOOKS, type Webhooks } from './service.ts'
import {
  type Due,
  findNextDue,
  findWebhook,
  hastenAll,
  insertDeliveries,
  listDueDeliveries,
  listFailed,
  listEnabledWebhooks,
  listPendingThings,
  listPlaces,
  lockAtPlace,
  lockWebhook,
  requeueDelivery,
  setWebhookDue,
  updateWebhook,
  webhookQueue,
  type WebhookRow,
} from './store.ts'

export interface WorkerDeps extends Pick<
  RunnerOptions<WebhookRow, void>,
  'store' | 'clock' | 'logger' | 'metrics'
> {
  readonly log: MessageLogReader
  readonly caller: WebhookCaller
  readonly pace: Pick<Pace, 'turn'>
}

const LOOK_EVERY_MS = SECOND
// A process that dies on another host is replaced after this time.
const LEASE_MS = 15 * SECOND
/** docs/specification.md, Webhooks: calls of one endpoint at once. */
const CALLS_AT_ONCE = 16
const RETRY = { initialMs: SECOND, maximumMs: LONGEST_PAUSE_MS, giveUpAfterMs: 36_500 * DAY }

/** Makes the deliveries of each endpoint that has some: one process for an endpoint, all endpoints side by side. */
export function deliveryRunner(
  webhooks: Pick<Webhooks, 'settle'>,
  endpoints: Endpoints,
  deps: WorkerDeps,
): Runner<WebhookRow, void> {
  return new Runner<WebhookRow, void>({
    ...deps,
    name: 'webhooks',
    everyMs: LOOK_EVERY_MS,
    leaseMs: LEASE_MS,
    concurrency: MAX_WEBHOOKS,
    retry: RETRY,
    async claim(tx, claim) {
      await webhookQueue.expireDead(tx, claim.now)
      return webhookQueue.claim(tx, claim)
    },
    renew: (tx, webhook, lease) => webhookQueue.renew(tx, webhook, lease),
    work: (webhook, signal) => deliverTo(webhook.id, { ...deps, webhooks, endpoints }, signal),
    async settle(tx, webhook, holder, outcome) {
      // A new delivery is written by a transaction that has locked the endpoint.
      const known = await lockWebhook(tx, webhook.id)
      const next = known?.enabled ? await findNextDue(tx, webhook.id) : undefined
      const callAt = next?.dueAt ? Math.max(next.dueAt, known?.pausedUntil ?? 0) : null
      const now = deps.clock.now()
      const at = outcome.status === 'retry' ? Math.max(outcome.at, callAt ?? now) : callAt
      const isReleased = await webhookQueue.release(tx, webhook, { holder, dueAt: at })
      if (isReleased && at !== null) tx.afterCommit(() => endpoints.wakeAt(at - now))
      return isReleased
    },
  })
}

/** Tells the delivery of an endpoint that there is more, and the runner that an endpoint is due. */
export class Endpoints {
  readonly #waiting = new Map<string, () => void>()
  readonly #wakeRunner: () => void
  readonly #clock: WaitingClock

  constructor(clock: WaitingClock, wakeRunner: () => void) {
    this.#clock = clock
    this.#wakeRunner = wakeRunner
  }

  wake(id: string): void {
    this.#waiting.get(id)?.()
    this.#wakeRunner()
  }

  /** Wakes the runner after a time that is shorter than its own pause. */
  wakeAt(milliseconds: number): void {
    if (milliseconds <= 0) this.#wakeRunner()
    else if (milliseconds < LOOK_EVERY_MS) void this.#clock.wait(milliseconds).then(this.#wakeRunner)
  }

  /** Resolves at the next {@link wake} of the endpoint. */
  next(id: string): { readonly woken: Promise<void>; forget(): void } {
    const { promise: woken, resolve } = Promise.withResolvers<void>()
    this.#waiting.set(id, resolve)
    return { woken, forget: () => void this.#waiting.delete(id) }
  }
}

type DeliveryDeps = Pick<WorkerDeps, 'store' | 'clock' | 'log' | 'caller' | 'pace'> & {
  readonly webhooks: Pick<Webhooks, 'settle'>
  readonly endpoints: Endpoints
}

/** Makes the deliveries of an endpoint that are due, until there are none. The process must hold its lease. */
export function deliverTo(id: string, deps: DeliveryDeps, signal: AbortSignal): Promise<void> {
  return new EndpointDelivery(id, deps).run(signal)
}

class EndpointDelivery {
  readonly #id: string
  readonly #deps: DeliveryDeps
  /** By the id of the delivery. */
  readonly #calls = new Map<string, Promise<void>>()
  #ended: CallAttempt[] = []

  constructor(id: string, deps: DeliveryDeps) {
    this.#id = id
    this.#deps = deps
  }

  /** Resolves when nothing is due. */
  async run(signal: AbortSignal): Promise<void> {
    const { endpoints, store, webhooks } = this.#deps
    for (;;) {
      // Called before the look, so that deliveries that arrive during it are not missed.
      const { woken, forget } = endpoints.next(this.#id)
      await this.#begin(signal)
      if (this.#calls.size > 0) await Promise.race([...this.#calls.values(), woken])
      forget()
      // An interrupted call says nothing about the endpoint; another process makes it again.
      if (signal.aborted) return void (await Promise.all(this.#calls.values()))
      const ended = this.#ended.splice(0)
      if (ended.length > 0) await store.write((tx) => webhooks.settle(tx, this.#id, ended))
      for (const { delivery } of ended) this.#calls.delete(delivery.id)
      if (ended.length === 0 && this.#calls.size === 0) return
    }
  }

  /** Begins as many calls as the endpoint may have. */
  async #begin(signal: AbortSignal): Promise<void> {
    const { store, clock, pace } = this.#deps
    const room = CALLS_AT_ONCE - this.#calls.size
    if (room <= 0 || signal.aborted) return
    const webhook = await findWebhook(store.read, this.#id)
    const now = clock.now()
    if (!webhook?.enabled || (webhook.pausedUntil ?? 0) > now) return
    const due = await listDueDeliveries(store.read, this.#id, now, CALLS_AT_ONCE + this.#calls.size)
    const waiting = due.filter(({ id }) => !this.#calls.has(id))
    if (waiting.length === 0) return
    const next = waiting.slice(0, await pace.turn(Math.min(room, waiting.length)))
    for (const [delivery, sent] of await this.#bodiesOf(next)) this.#call(webhook, delivery, sent, signal)
  }

  /**
   * The due deliveries with their bodies; undefined where the log no longer has the event. Further deliveries are read
   * after these were sent.
   */
  async #bodiesOf(due: readonly Due[]): Promise<[Due, Sent | undefined][]> {
    const places = due.flatMap(({ place }) => (place === null ? [] : [place]))
    const messages = await this.#deps.log.readMessagesAt(places)
    return due.flatMap((delivery): [Due, Sent | undefined][] => {
      const { place, payload } = delivery
      if (place === null) return [[delivery, payload === null ? undefined : testOf(payload)]]
      if (!messages.has(place)) return []
      const message = messages.get(place)
      return [[delivery, message && sentEventOf(message)]]
    })
  }

  #call(webhook: StoredWebhook, delivery: Due, sent: Sent | undefined, signal: AbortSignal): void {
    const call = this.#resultOf(webhook, delivery, sent, signal).then((result) => {
      this.#ended.push({ delivery, result })
    })
    this.#calls.set(delivery.id, call)
  }

  async #resultOf(
    webhook: StoredWebhook,
    { eventId }: Due,
    sent: Sent | undefined,
    signal: AbortSignal,
  ): Promise<CallResult> {
    if (!sent) return { failure: 'event_removed' }
    const { body, trace } = sent
    const { clock, caller } = this.#deps
    const now = clock.now()
    const headers = {
      'content-type': 'application/cloudevents+json',
      'user-agent': 'platform-webhooks',
      ...webhookHeaders(signingSecrets(webhook, now), now, { id: eventId, body }),
    }
    const span = { name: 'webhook', kind: 'client', attributes: { 'webhook.id': webhook.id } } as const
    return runInSpan(receivedTrace(trace), span, () =>
      caller.call({ url: webhook.url, headers: { ...headers, ...traceHeaders() }, body }, signal),
    )
  }
}

type Sent = Pick<SentEvent, 'body' | 'trace'>

function testOf(body: string): Sent {
  return { body, trace: traceHeadersOfEvent(body) }
}

// The events that are read from the log at a time.
const BATCH = 100
const MAX_DUE = 500
// An endpoint that refuses some events for days must not stop the others.
const MAX_PENDING = 100_000
const RECOVER_BATCH = 500
const UNION_SUBJECTS = 50
// A smaller difference between the clocks of a process is a correction.
const CLOCK_STEP_MS = 10 * SECOND

type FeedOptions = Pick<WorkerDeps, 'store' | 'clock' | 'logger' | 'log' | 'pace'> & {
  readonly endpoints: Endpoints
}

/**
 * Turns the log of the events into deliveries. Each endpoint has a place in the log, which moves in the transaction that
 * writes its deliveries; so an event costs the transaction that writes it nothing. Endpoints at one place share what is
 * read. Every worker may do it at a time: the place is compared.
 */
export class WebhookFeed implements ModuleRunner {
  readonly #options: FeedOptions
  readonly #outage: Outage
  readonly #stopping = new AbortController()
  #pause = new AbortController()
  #loop: Promise<void> | undefined
  /** Whether there are endpoints that an event may be for. */
  #isFollowing = false
  #clockOffset: number | undefined

  constructor(options: FeedOptions) {
    this.#options = options
    this.#outage = createOutage(options.logger, 'webhooks', { clock: options.clock })
  }

  start(): void {
    this.#loop ??= this.#run()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    this.wake()
    await this.#loop
  }

  /** A message was written. Costs nothing while there are no webhooks. */
  wakeForMessage(): void {
    if (this.#isFollowing) this.wake()
  }

  wake(): void {
    this.#pause.abort()
  }

  async #run(): Promise<void> {
    const { clock } = this.#options
    while (!this.#stopping.signal.aborted) {
      this.#pause = new AbortController()
      const isMore = await this.#tryRound()
      if (!isMore) await clock.wait(LOOK_EVERY_MS, this.#pause.signal)
    }
  }

  async #tryRound(): Promise<boolean> {
    try {
      await this.watchClock()
      const isMore = await this.runRound()
      this.#outage.works()
      return isMore
    } catch (error) {
      this.#outage.fails(error)
      return false
    }
  }

  /** A clock that was set back must not keep tries waiting. */
  async watchClock(): Promise<void> {
    const { clock, store } = this.#options
    const offset = clock.now() - clock.monotonic()
    const isStart = this.#clockOffset === undefined
    const isSet = isStart || offset < (this.#clockOffset ?? 0) - CLOCK_STEP_MS
    const longest = isStart ? LONGEST_PAUSE_MS : 0
    if (isSet) await store.write((tx) => hastenAll(tx, clock.now(), clock.now() + longest))
    this.#clockOffset = offset
  }

  /** Takes each endpoint that is behind one step on; returns whether there may be more. */
  async runRound(): Promise<boolean> {
    const { store, pace } = this.#options
    const enabled = await listEnabledWebhooks(store.read)
    this.#isFollowing = enabled.length > 0
    const recovering = new Set<string>()
    for (const { id, recoverSince } of enabled)
      if (recoverSince !== null && (await this.#requeueFailed(id))) recovering.add(id)
    let isMore = recovering.size > 0
    const open: StoredWebhook[] = []
    // Failed deliveries come before the events that follow them in the log.
    for (const webhook of enabled)
      if (!recovering.has(webhook.id) && (await this.#hasRoom(webhook))) open.push(webhook)
    for (const [place, group] of Map.groupBy(open, (webhook) => webhook.place)) {
      if (this.#stopping.signal.aborted) return false
      isMore = (await this.#advance(place, group, await pace.turn(BATCH))) || isMore
    }
    return isMore
  }

  async #hasRoom({ id, pending }: StoredWebhook): Promise<boolean> {
    const { store, clock } = this.#options
    if (pending < MAX_DUE) return true
    return (
      pending < MAX_PENDING &&
      (await listDueDeliveries(store.read, id, clock.now(), MAX_DUE)).length < MAX_DUE
    )
  }

  async #advance(place: number, group: readonly StoredWebhook[], limit: number): Promise<boolean> {
    const { store, log, endpoints } = this.#options
    const { messages, through } = await log.readMessagesAfter(place, limit, unionOf(group))
    if (through <= place) return false
    const events = messages.map((message) => ({ message, ...sentEventOf(message) }))
    const ids = group.map(({ id }) => id)
    await store.write(async (tx) => {
      for (const webhook of await lockAtPlace(tx, ids, place)) {
        const added = await this.#addDeliveries(tx, webhook, events, through)
        if (added > 0) tx.afterCommit(() => endpoints.wake(webhook.id))
      }
    })
    return true
  }

  async #addDeliveries(
    tx: Tx,
    webhook: StoredWebhook,
    events: readonly LoggedEvent[],
    through: number,
  ): Promise<number> {
    const now = this.#options.clock.now()
    const matching = events.filter(({ message }) => wantsSubject(webhook, message.subject))
    const rows = matching.length > 0 ? await listPlaces(tx, webhook.id, webhook.place, through) : []
    const knownPlaces = new Set(rows.map(({ place }) => place))
    const fresh = matching.filter(({ message }) => !knownPlaces.has(message.place))
    const things = webhook.ordered ? [...new Set(fresh.map(({ thing }) => thing))] : []
    const busy = await listPendingThings(tx, webhook.id, things)
    const deliveries: WebhookDelivery[] = fresh.map(({ message: { place, subject }, eventId, thing }) => {
      const dueAt = busy.has(thing) ? null : now
      if (webhook.ordered) busy.add(thing)
      const event = { eventId, thing, type: subject, place }
      return newDelivery(newId(), webhook.id, event, { createdAt: now, dueAt })
    })
    await insertDeliveries(tx, deliveries)
    const pending = webhook.pending + deliveries.length
    await updateWebhook(tx, { ...webhook, place: through, pending })
    if (deliveries.length > 0) await setWebhookDue(tx, webhook.id, Math.max(now, webhook.pausedUntil ?? 0))
    return deliveries.length
  }

  /** Makes a batch of failed deliveries pending again, for a recovery; returns whether there may be more. */
  async #requeueFailed(id: string): Promise<boolean> {
    const { store, clock, endpoints } = this.#options
    return store.write(async (tx) => {
      const webhook = await lockWebhook(tx, id)
      if (!webhook?.enabled || webhook.recoverSince === null) return false
      const now = clock.now()
      const failed = await listFailed(tx, id, webhook.recoverSince, RECOVER_BATCH)
      const things = webhook.ordered ? failed.map(({ thing }) => thing) : []
      const busy = await listPendingThings(tx, id, things)
      for (const delivery of failed) {
        await requeueDelivery(tx, delivery.id, busy.has(delivery.thing) ? null : now)
        if (webhook.ordered) busy.add(delivery.thing)
      }
      const isMore = failed.length === RECOVER_BATCH
      const recoverSince = isMore ? webhook.recoverSince : null
      await updateWebhook(tx, { ...webhook, recoverSince, pending: webhook.pending + failed.length })
      if (failed.length > 0) await setWebhookDue(tx, id, now)
      tx.afterCommit(() => endpoints.wake(id))
      return isMore
    })
  }
}

interface LoggedEvent {
  readonly message: LoggedMessage
  readonly eventId: string
  readonly thing: string
}

/** The subjects of all endpoints together; undefined if there are so many that a condition would cost more than it saves. */
function unionOf(group: readonly StoredWebhook[]): string[] | undefined {
  const subjects = [...new Set(group.flatMap((webhook) => webhook.subjects))]
  return subjects.length > UNION_SUBJECTS || subjects.includes('*') ? undefined : subjects
}
