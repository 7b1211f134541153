import type { AlertTable } from '../../kernel/alerts.ts'
import { SECOND, isDueAt, DAY } from '../../kernel/time.ts'

/** What an agent has measured. */
export interface TelemetryItem {
  /** Epoch milliseconds, by the clock of the agent; the time of the request when the agent gives none. */
  readonly at: number
  readonly data: Readonly<Record<string, unknown>>
}

/** The items of one request, encoded. */
export interface Upload {
  readonly agentId: string
  readonly items: number
  readonly bytes: number
  readonly content: string
  /** As JSON on the wire. */
  readonly lastItem: string
}

/** An agent as the API shows it. */
export interface Agent {
  readonly agentId: string
  readonly firstAt: number
  readonly lastAt: number
  readonly items: number
}

/** docs/specification.md, Telemetry */
export const MAX_ITEMS = 500
export const MAX_AGENTS = 100_000
/** The limit for the data of one event: NATS accepts 1 MiB with headers and envelope. */
export const MAX_EVENT_BYTES = 1_000_000
/** The limit for all items that wait: with the default of `telemetry.max_pending` about 5 kB for each. */
export const MAX_PENDING_BYTES = 512 * 1024 * 1024

const BUCKET_SECONDS = 5
const MICROSECONDS = 1_000_000
const BUCKET_MICROSECONDS = BUCKET_SECONDS * MICROSECONDS

/** The result of taking tokens: the new state of the bucket, or the time until it has enough tokens. */
export type TakenTokens =
  | { readonly outcome: 'taken'; readonly fullAt: number }
  | { readonly outcome: 'refused'; readonly retryAfterSeconds: number }

/**
 * Takes tokens from a bucket that holds the tokens of five seconds. Its state is the time at which it is full again, in
 * epoch microseconds (the generic cell rate algorithm, ITU-T I.371). A time that is further away was written before the clock was set
 * back: the bucket is full.
 */
export function takeTokens(fullAt: number, tokens: number, now: number, perSecond: number): TakenTokens {
  const at = now * (MICROSECONDS / SECOND)
  const start = isDueAt(fullAt, at, BUCKET_MICROSECONDS) ? at : fullAt
  const next = start + Math.ceil((tokens * MICROSECONDS) / perSecond)
  const excess = next - at - BUCKET_MICROSECONDS
  if (excess <= 0) return { outcome: 'taken', fullAt: next }
  // A request for more tokens than a full bucket has is always refused; its wait is the time until the bucket is full.
  return { outcome: 'refused', retryAfterSeconds: Math.min(excess, start - at) / MICROSECONDS }
}

/** The most items that a bucket holds. */
export function bucketSize(perSecond: number): number {
  return perSecond * BUCKET_SECONDS
}

// More than an upload has items, so that each item has its own place. A power of two makes division exact.
const PLACES = 512

/** The place of an item in the order of all events of telemetry. */
export function placeOf(uploadSeq: number, index: number): number {
  return uploadSeq * PLACES + index
}

export function uploadOf(place: number): { readonly seq: number; readonly index: number } {
  return { seq: Math.floor(place / PLACES), index: place % PLACES }
}

/** The id of an item's event: the UUIDv7 of the upload, with the index in place of its last twelve random bits. */
export function eventIdOf(uploadId: string, index: number): string {
  return uploadId.slice(0, -3) + index.toString(16).padStart(3, '0')
}

/** The alerts of telemetry, for `docs/reference/alerts.md`. */
export const TELEMETRY_ALERTS = {
  'telemetry.refused': {
    severities: ['ERROR'],
    raisedBy: 'The bus refuses telemetry for good.',
    endedBy:
      'The bus takes telemetry of each agent again whose telemetry it has refused, or has refused none for 24 hours.',
    whatToDo: 'Remove the cause that the alert names, then redrive the dead messages.',
    repeatEveryMs: DAY,
  },
} as const satisfies AlertTable

/** Each item is one event (docs/specification.md, Telemetry). */
export const TELEMETRY_EVENTS = { item: 'telemetry.agent.*' } as const

const PREFIX = 'telemetry.agent.'

export function subjectOf(agentId: string): string {
  return PREFIX + agentId
}

/** The agent of a subject; undefined for a subject that is not telemetry. */
export function agentOf(subject: string): string | undefined {
  return subject.startsWith(PREFIX) ? subject.slice(PREFIX.length) : undefined
}

/** Whether a pattern as `telemetry.>` takes the subjects of all agents. */
export function coversAllAgents(pattern: string): boolean {
  return pattern.endsWith('.>') && PREFIX.startsWith(pattern.slice(0, -1))
}
