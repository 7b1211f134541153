import {
  attributesOf,
  eventSource,
  eventThing,
  matchesPattern,
  toCloudEvent,
  traceHeadersOfEvent,
} from '../../kernel/events.ts'
import type { AlertTable } from '../../kernel/alerts.ts'
import type { Secret } from '../../kernel/secret.ts'
import { DAY, HOUR, MINUTE, SECOND, toRfc3339 } from '../../kernel/time.ts'
import { storedTraceHeaders } from '../../kernel/trace.ts'
import type { LoggedMessage } from '../../ports/events.ts'
import { WEBHOOK_FAILURES, type WebhookReply } from '../../ports/webhook-caller.ts'

/** Why an endpoint gets nothing: a person has disabled it, it has answered 410, or it has failed for 5 days. */
export const DISABLED_REASONS = ['by_hand', 'gone', 'failing'] as const
export type DisabledReason = (typeof DISABLED_REASONS)[number]

/** What a client sets. */
export interface WebhookSettings {
  readonly url: string
  /** Each exact, or a prefix that ends in `*`. */
  readonly subjects: readonly string[]
  readonly description: string
  /** Whether the events of one thing arrive in their order. */
  readonly ordered: boolean
  readonly enabled: boolean
}

/** An endpoint that gets events. All times are epoch milliseconds, UTC. */
export interface Webhook extends WebhookSettings {
  readonly id: string
  /** Null while it is enabled. */
  readonly disabledReason: DisabledReason | null
  /** The version of its settings and secrets. */
  readonly version: number
  readonly createdAt: number
  readonly createdBy: string
  readonly updatedAt: number
  readonly updatedBy: string
  /** The first failed call since the last success; null if the last one succeeded. */
  readonly failingSince: number | null
  readonly lastSuccessAt: number | null
  /** Events that it has not got yet. */
  readonly pending: number
  /** Until when the former secret signs beside the new one. */
  readonly formerSecretUntil: number | null
}

/** An endpoint with what only the worker needs. */
export interface StoredWebhook extends Webhook {
  readonly secret: Secret
  readonly formerSecret: Secret | null
  /** Its place in the log: the events up to there are deliveries, or none of its own. */
  readonly place: number
  /** The endpoint has asked for no call before then. */
  readonly pausedUntil: number | null
  /** Deliveries that have failed since then are to be sent again. */
  readonly recoverSince: number | null
}

export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed'] as const
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number]

/** One event for one endpoint. */
export interface WebhookDelivery {
  readonly id: string
  readonly webhookId: string
  /** The place of the event in the log; null for a test. */
  readonly place: number | null
  /** The `webhook-id` of each of its calls. */
  readonly eventId: string
  /** The subject of the event. */
  readonly type: string
  /** What the event is about, as a hash: its deliveries are made one after the other. */
  readonly thing: string
  /** The body of a test; any other one is in the log. */
  readonly payload: string | null
  readonly status: DeliveryStatus
  readonly attempts: number
  readonly createdAt: number
  /** Null once it is finished, and while it waits for an earlier event of the same thing. */
  readonly dueAt: number | null
  readonly firstTriedAt: number | null
  readonly triedAt: number | null
  readonly finishedAt: number | null
  /** The status of the last response. */
  readonly responseStatus: number | null
  /** Their names. */
  readonly responseHeaders: readonly string[] | null
  /** The first 1 KiB. */
  readonly responseBody: string | null
  /** Why there was no answer. */
  readonly error: DeliveryFault | null
}

/** Why a call has no answer; see the description in the document. */
export const DELIVERY_FAULTS = [...WEBHOOK_FAILURES, 'event_removed', 'interrupted'] as const
export type DeliveryFault = (typeof DELIVERY_FAULTS)[number]

/** docs/specification.md, Webhooks: the pauses after the first try, the second one and so on. */
export const RETRY_PAUSES_MS = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
]
/** The longest pause, whatever an endpoint asks for. */
export const LONGEST_PAUSE_MS = DAY
const GIVE_UP_AFTER_MS = RETRY_PAUSES_MS.reduce((sum, pause) => sum + pause, 0)
/** docs/specification.md, Webhooks */
const DISABLE_AFTER_MS = 5 * DAY
export const FORMER_SECRET_MS = DAY

/** The result of one call. */
export type CallResult = WebhookReply | { readonly failure: DeliveryFault }

/** The part of a delivery that a call changes. */
export type DeliveryStep = Pick<
  WebhookDelivery,
  | 'status'
  | 'attempts'
  | 'dueAt'
  | 'firstTriedAt'
  | 'triedAt'
  | 'finishedAt'
  | keyof ReturnType<typeof answerFieldsOf>
>

/** The delivery after a call at `now`. */
export function stepAfter(
  delivery: Pick<WebhookDelivery, 'attempts' | 'firstTriedAt'>,
  result: CallResult,
  now: number,
): DeliveryStep {
  const attempts = delivery.attempts + 1
  const firstTriedAt = delivery.firstTriedAt ?? now
  const attempt = { attempts, firstTriedAt, triedAt: now, ...answerFieldsOf(result) }
  const finishAs = (status: DeliveryStatus) => ({ ...attempt, status, dueAt: null, finishedAt: now })
  if (isSuccess(result)) return finishAs('delivered')
  const pauseMs = isFinal(result) ? undefined : retryPauseMs(attempts, now - firstTriedAt, result)
  if (pauseMs === undefined) return finishAs('failed')
  return { ...attempt, status: 'pending', dueAt: now + pauseMs, finishedAt: null }
}

/** Whether another try is useless: the event was removed, or the endpoint is gone. */
function isFinal(result: CallResult): boolean {
  return 'failure' in result ? result.failure === 'event_removed' : isGone(result)
}

/**
 * Undefined after the last try. A pause that the endpoint asks for replaces the one of the table: then the tries end with
 * the time that all pauses of the table take.
 */
function retryPauseMs(attempts: number, passedMs: number, result: CallResult): number | undefined {
  const requestedMs = requestedPauseMs(result)
  if (requestedMs !== undefined) return passedMs < GIVE_UP_AFTER_MS ? requestedMs : undefined
  return passedMs < GIVE_UP_AFTER_MS ? RETRY_PAUSES_MS[attempts - 1] : undefined
}

/** The pause that a 429 or 503 asks for. */
function requestedPauseMs(result: CallResult): number | undefined {
  if ('failure' in result || result.retryAfterMs === undefined) return undefined
  if (result.status !== 429 && result.status !== 503) return undefined
  return Math.min(Math.max(result.retryAfterMs, SECOND), LONGEST_PAUSE_MS)
}

export function isSuccess(result: CallResult): boolean {
  return !('failure' in result) && result.status >= 200 && result.status < 300
}

/** The endpoint says that it is gone for good. */
function isGone(result: CallResult): boolean {
  return !('failure' in result) && result.status === 410
}

function answerFieldsOf(result: CallResult) {
  if ('failure' in result)
    return { responseStatus: null, responseHeaders: null, responseBody: null, error: result.failure }
  return {
    responseStatus: result.status,
    responseHeaders: result.headers,
    responseBody: result.body,
    error: null,
  }
}

/** The health of an endpoint after some calls. */
export type EndpointHealth = Pick<StoredWebhook, 'failingSince' | 'lastSuccessAt' | 'pausedUntil'> & {
  /** Why it is to be disabled now. */
  readonly disable: DisabledReason | undefined
}

/** The health of an endpoint, by the calls that have ended at `now`. */
export function healthAfter(
  webhook: StoredWebhook,
  results: readonly CallResult[],
  now: number,
): EndpointHealth {
  const calls = results.filter((result) => !('failure' in result && result.failure === 'event_removed'))
  const succeeded = calls.some(isSuccess)
  const failed = calls.some((result) => !isSuccess(result))
  // A clock that was set back must not prolong the time.
  const since = Math.min(webhook.failingSince ?? now, now)
  const failingSince = succeeded ? null : failed ? since : webhook.failingSince
  const pauses = calls.map((result) => requestedPauseMs(result) ?? 0)
  const pauseMs = Math.max(0, ...pauses)
  const isFailing = failingSince !== null && now - failingSince >= DISABLE_AFTER_MS
  return {
    failingSince,
    lastSuccessAt: succeeded ? now : webhook.lastSuccessAt,
    pausedUntil: laterPause(webhook.pausedUntil, pauseMs > 0 ? now + pauseMs : null, now),
    disable: calls.some(isGone) ? 'gone' : isFailing ? 'failing' : undefined,
  }
}

/**
 * Calls that were on their way end one after the other: the answer of one does not shorten the pause that another has requested. A
 * clock that was set back must not prolong a pause.
 */
function laterPause(current: number | null, requested: number | null, now: number): number | null {
  const latest = Math.min(Math.max(current ?? 0, requested ?? 0), now + LONGEST_PAUSE_MS)
  return latest > now ? latest : null
}

/** The secrets that sign a call: the current one, and the former one as long as it is valid. */
export function signingSecrets(
  { secret, formerSecret, formerSecretUntil }: StoredWebhook,
  now: number,
): string[] {
  const isFormerValid = formerSecret !== null && formerSecretUntil !== null && now < formerSecretUntil
  return isFormerValid ? [secret.reveal(), formerSecret.reveal()] : [secret.reveal()]
}

export function wantsSubject({ subjects }: Pick<Webhook, 'subjects'>, subject: string): boolean {
  return subjects.some((pattern) => matchesPattern(pattern, subject))
}

/** What is sent of a message. */
export interface SentEvent {
  readonly eventId: string
  readonly body: string
  readonly thing: string
  /** The headers of its trace. */
  readonly trace: Readonly<Record<string, string>>
}

/** A message of the log as it is sent. A message of a user becomes an event, unless it is one already. */
export function sentEventOf(message: LoggedMessage): SentEvent {
  const { id, subject, payload, isEvent, createdAt } = message
  if (isEvent) {
    const { source, subject: about } = attributesOf(payload)
    const trace = traceHeadersOfEvent(payload)
    return { eventId: id, body: payload, thing: eventThing(source, about), trace }
  }
  const trace = storedTraceHeaders(message.trace)
  const event = cloudEventOf(payload)
  if (event) {
    const eventId = HEADER_ID.test(event.id) ? event.id : id
    return { eventId, body: payload, thing: eventThing(event.source, event.subject), trace }
  }
  const source = eventSource('messages')
  const attributes = { id, source, type: subject, subject, time: toRfc3339(createdAt) }
  const body = toCloudEvent(attributes, payload, trace)
  return { eventId: id, body, thing: eventThing(source, subject), trace }
}

interface Attributes {
  readonly source: string
  readonly subject?: string
}

// Characters that a header allows, without the full stop, which separates the signed parts.
const HEADER_ID = /^[A-Za-z0-9_:-]{1,128}$/
const PLATFORM = '/platform/'

/** The attributes of a payload that is a CloudEvent; undefined for any other one, and for one that claims to be the platform's. */
function cloudEventOf(payload: string): (Attributes & { readonly id: string }) | undefined {
  if (!payload.includes('"specversion"')) return undefined
  const event = JSON.parse(payload) as Readonly<Record<string, unknown>> | null
  if (event === null || typeof event !== 'object' || event['specversion'] !== '1.0') return undefined
  const { id, source, type, subject } = event
  const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
  if (!isText(id) || !isText(source) || !isText(type) || source.startsWith(PLATFORM)) return undefined
  return isText(subject) ? { id, source, subject } : { id, source }
}

export const TEST_TYPE = 'webhook.test'

/** The event of a test. Each is a thing of its own, so that a test waits for nothing. */
export function testEvent(webhookId: string, eventId: string, now: number): Omit<SentEvent, 'trace'> {
  const source = eventSource('webhooks')
  const attributes = { id: eventId, source, type: TEST_TYPE, subject: webhookId, time: toRfc3339(now) }
  const body = toCloudEvent(attributes, JSON.stringify({ webhook_id: webhookId }))
  return { eventId, body, thing: eventThing(source, eventId) }
}

/** A new delivery; `dueAt` null: it waits for an earlier one of its thing. */
export function newDelivery(
  id: string,
  webhookId: string,
  {
    eventId,
    thing,
    type,
    place,
    payload = null,
  }: Pick<WebhookDelivery, 'eventId' | 'thing' | 'type' | 'place'> & { payload?: string | null },
  { createdAt, dueAt }: Pick<WebhookDelivery, 'createdAt' | 'dueAt'>,
): WebhookDelivery {
  return {
    id,
    webhookId,
    place,
    eventId,
    type,
    thing,
    payload,
    status: 'pending',
    attempts: 0,
    createdAt,
    dueAt,
    ...NOT_TRIED,
  }
}

/** The answer of a delivery that has none, or is to be sent anew. */
export const NOT_TRIED = {
  firstTriedAt: null,
  triedAt: null,
  finishedAt: null,
  responseStatus: null,
  responseHeaders: null,
  responseBody: null,
  error: null,
} as const

/** The alerts of webhooks, for `docs/reference/alerts.md`. */
export const WEBHOOK_ALERTS = {
  'webhook.disabled:*': {
    severities: ['ERROR'],
    raisedBy:
      'An endpoint has answered 410, or its calls have failed for 5 days and none succeeded; `*` is the id of the webhook.',
    endedBy: 'The webhook is enabled again, or deleted.',
    whatToDo:
      'Repair the endpoint. `POST /webhooks/{id}/recover` enables the webhook and sends what it has missed, before what is new; the body ' +
      'of the alert has the time. If it should stay disabled, delete it.',
    repeatEveryMs: DAY,
  },
} as const satisfies AlertTable
