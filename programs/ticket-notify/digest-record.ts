import type { Reason } from './gates.ts'
import { fieldsOf, toLine } from './tickets.ts'

/** Why a notification was not delivered: a gate suppressed it, or no channel took it. */
export type UnsentReason = Reason | 'undelivered'

const DESCRIPTIONS: Readonly<Record<UnsentReason, string>> = {
  too_old: 'New, but opened too long ago',
  too_old_transition: 'Changed, but too long ago',
  level: 'New, but of a low level',
  test: 'Marked as a test',
  budget: 'Suppressed, because too much happened at once',
  undelivered: 'Taken by no channel',
}

const REASONS = Object.keys(DESCRIPTIONS) as UnsentReason[]
// More titles than one round suppresses, so that a ticket that is suppressed in many rounds counts once.
const MAX_TITLES = 5_000
const MAX_SHOWN_TITLES = 20

/** One paragraph of the digest. */
export interface DigestSection {
  readonly description: string
  readonly count: number
  readonly titles: readonly string[]
}

interface Unsent {
  /** Titles by the key of their event. */
  readonly titles: Map<string, string>
  /** Events beyond those with a title. */
  more: number
}

/**
 * What was not sent since the last digest. Each event has a key, so that it counts once even when a round is killed and
 * repeated.
 */
export class DigestRecord {
  /** The day of the last digest, or of the first event: `2026-01-31`, UTC. */
  readonly since: string
  readonly #unsent: ReadonlyMap<UnsentReason, Unsent>
  #isChanged: boolean

  /** `text`: the content of its file; undefined or anything else than a record begins a new one. */
  constructor(today: string, text?: string) {
    const stored = parseRecord(text)
    this.#unsent = stored.unsent
    const since = stored.since === undefined || this.isEmpty ? today : stored.since
    // A clock that was ahead must not delay the digest until that day.
    this.since = since < today ? since : today
    this.#isChanged = this.since !== since
  }

  /** Whether it differs from its file. */
  get isChanged(): boolean {
    return this.#isChanged
  }

  get isEmpty(): boolean {
    return [...this.#unsent.values()].every(({ titles, more }) => titles.size + more === 0)
  }

  add(reason: UnsentReason, key: string, title: string): void {
    const unsent = this.#unsentFor(reason)
    if (unsent.titles.has(key)) return
    this.#isChanged = true
    if (unsent.titles.size < MAX_TITLES) unsent.titles.set(key, title)
    else unsent.more += 1
  }

  /** Removes an event that was sent or suppressed for another reason after all. */
  remove(reason: UnsentReason, key: string): void {
    if (this.#unsentFor(reason).titles.delete(key)) this.#isChanged = true
  }

  sections(): DigestSection[] {
    return REASONS.flatMap((reason) => {
      const { titles, more } = this.#unsentFor(reason)
      const count = titles.size + more
      const shown = [...titles.values()].slice(0, MAX_SHOWN_TITLES)
      return count === 0 ? [] : [{ description: DESCRIPTIONS[reason], count, titles: shown }]
    })
  }

  markSaved(): void {
    this.#isChanged = false
  }

  /** The content of its file. */
  toText(): string {
    const unsent = [...this.#unsent].map(([reason, { titles, more }]) => [
      reason,
      { titles: Object.fromEntries(titles), more },
    ])
    return `${JSON.stringify({ since: this.since, unsent: Object.fromEntries(unsent) })}\n`
  }

  #unsentFor(reason: UnsentReason): Unsent {
    return this.#unsent.get(reason) ?? parseUnsent(undefined)
  }
}

interface StoredRecord {
  readonly since: string | undefined
  readonly unsent: ReadonlyMap<UnsentReason, Unsent>
}

function parseRecord(text: string | undefined): StoredRecord {
  const { since, unsent } = fieldsOf(parseJson(text))
  const isRecord = typeof since === 'string' && /^\d{4}-\d\d-\d\d$/.test(since)
  const stored = isRecord ? fieldsOf(unsent) : {}
  return {
    since: isRecord ? since : undefined,
    unsent: new Map(REASONS.map((reason) => [reason, parseUnsent(stored[reason])])),
  }
}

function parseUnsent(value: unknown): Unsent {
  const { titles, more } = fieldsOf(value)
  const pairs = Object.entries(fieldsOf(titles)).map(([key, title]) => [key, toLine(String(title))] as const)
  return { titles: new Map(pairs), more: Number.isSafeInteger(more) && Number(more) > 0 ? Number(more) : 0 }
}

function parseJson(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '')
  } catch {
    return undefined
  }
}
