import { invalidField } from '../../kernel/errors.ts'
import { hasRole, type Identity } from '../../kernel/identity.ts'
import { matchesPattern, requireReaders, type DeclaredSubject } from '../../kernel/events.ts'

/** The events that a reader gets. */
export class Subscription {
  /** Subscriptions to the same events have the same key. */
  readonly key: string
  readonly #patterns: readonly string[]
  readonly #readable: readonly string[]

  /** The subjects that both lists have: each exact or a prefix that ends in `*`. */
  readonly subjects: readonly string[]

  constructor(patterns: readonly string[], readable: readonly string[]) {
    this.#patterns = patterns
    this.#readable = readable
    this.key = JSON.stringify([patterns, readable])
    const both = patterns.flatMap((pattern) =>
      readable.filter((subject) => overlap(pattern, subject)).map((subject) => narrowerOf(pattern, subject)),
    )
    this.subjects = [...new Set(both)]
  }

  matches(subject: string): boolean {
    const matchesSubject = (pattern: string) => matchesPattern(pattern, subject)
    return this.#patterns.some(matchesSubject) && this.#readable.some(matchesSubject)
  }

  /** Whether it may have events on one of these subjects. */
  overlaps(declared: readonly DeclaredSubject[]): boolean {
    return declared.some(
      ({ subject }) =>
        this.#readable.includes(subject) && this.#patterns.some((pattern) => overlap(pattern, subject)),
    )
  }
}

/**
 * The subscription to subjects, each exact or a prefix that ends in `*`; without them to all that the caller may read.
 * Throws `validation_failed` for a subject of no domain, `forbidden` for one that the caller may not read.
 */
export function subscribe(
  declared: readonly DeclaredSubject[],
  patterns: readonly string[] | undefined,
  identity: Identity,
): Subscription {
  const readable = declared.filter(({ readers }) => hasRole(identity, readers))
  const readableSubjects = readable.map(({ subject }) => subject)
  if (!patterns) return new Subscription(readableSubjects, readableSubjects)
  for (const pattern of patterns) requireDeclared(pattern, declared)
  for (const pattern of patterns) requireReaders(declared, (subject) => overlap(pattern, subject), identity)
  return new Subscription([...new Set(patterns)].sort(), readableSubjects)
}

function requireDeclared(pattern: string, declared: readonly DeclaredSubject[]): void {
  if (declared.some(({ subject }) => overlap(pattern, subject))) return
  throw invalidField('subjects', 'unknown_event', { subject: pattern })
}

/** Whether there can be a subject that both patterns match. */
function overlap(one: string, other: string): boolean {
  if (!one.endsWith('*')) return matchesPattern(other, one)
  if (!other.endsWith('*')) return matchesPattern(one, other)
  const [prefix, otherPrefix] = [one.slice(0, -1), other.slice(0, -1)]
  return prefix.startsWith(otherPrefix) || otherPrefix.startsWith(prefix)
}

/** What matches both of two patterns that overlap: the exact one, or the longer prefix. */
function narrowerOf(one: string, other: string): string {
  if (!one.endsWith('*')) return one
  return other.endsWith('*') && one.length > other.length ? one : other
}

export const LOGS = ['messages', 'telemetry'] as const
/** A log of events. Each has places of its own. */
export type LogName = (typeof LOGS)[number]

/** A position in the stream: the events up to these places come before it. */
export type Places = Readonly<Record<LogName, number>>

/**
 * The `id` of a position: the places of the logs that the subscription has events of. `17`, with telemetry `17-4`, with
 * telemetry alone `-4`.
 */
export function formatPlaces({ messages, telemetry }: Places, logs: readonly LogName[]): string {
  return `${logs.includes('messages') ? messages : ''}${logs.includes('telemetry') ? `-${telemetry}` : ''}`
}

/** Undefined for a text that is no `id` of a subscription to these logs. */
export function parsePlaces(text: string, logs: readonly LogName[]): Partial<Places> | undefined {
  const groups = /^(?<messages>\d{1,16})?(?:-(?<telemetry>\d{1,16}))?$/.exec(text)?.groups
  const places = logs.map((log) => [log, Number(groups?.[log])] as const)
  return places.every(([, place]) => Number.isSafeInteger(place)) ? Object.fromEntries(places) : undefined
}

/** The earlier one of two positions. One position is never before the other in one log and after it in the other. */
export function earlierOf(one: Places, other: Places): Places {
  return {
    messages: Math.min(one.messages, other.messages),
    telemetry: Math.min(one.telemetry, other.telemetry),
  }
}
