import type { Reason } from './gates.ts'
import { toLine } from './tickets.ts'

/** Why people have not been told: held back by a gate, or sent and heard by nobody. */
export type Untold = Reason | 'unheard'

const MEANINGS: Readonly<Record<Untold, string>> = {
  too_old: 'New, but opened too long ago',
  too_old_transition: 'Changed, but too long ago',
  level: 'New, but of a low level',
  test: 'Marked as a test',
  budget: 'Held back, because too much happened at once',
  unheard: 'No channel has taken it',
}

const UNTOLD = Object.keys(MEANINGS) as Untold[]
// More than a round can hold back, so that one that waits in many rounds counts once.
const MAX_REMEMBERED = 5_000
const MAX_SHOWN = 20

/** One paragraph of the digest. */
export interface LedgerPage {
  readonly meaning: string
  readonly count: number
  readonly titles: readonly string[]
}

interface LedgerBook {
  readonly titles: Readonly<Record<string, string>>
  /** How many there were beyond those that are named. */
  readonly more: number
}

/** As it stands in its file. */
export interface LedgerData {
  readonly since: string
  readonly untold: Readonly<Partial<Record<Untold, LedgerBook>>>
}

/**
 * What was not told since the last digest. Each occasion has a key, so that the same one counts once even when a
 * round dies and is done again.
 */
export interface Ledger {
  /** The day of the last digest, or of the first entry: `2026-01-31`, UTC. */
  readonly since: string
  add(reason: Untold, key: string, title: string): void
  /** It was told after all. */
  strike(reason: Untold, key: string): void
  pages(): LedgerPage[]
  /** Whether it differs from what is on disk. */
  readonly changed: boolean
  /** What it holds now is on disk. */
  markSaved(): void
  data(): LedgerData
}

export function createLedger(today: string, from?: LedgerData): Ledger {
  // An account without an entry begins with its first one.
  const begun = from && isUsed(from) ? from.since : today
  // A clock that was ahead must not put the digest off until then.
  const since = begun < today ? begun : today
  const books = new Map(UNTOLD.map((reason) => [reason, openBook(from?.untold[reason])] as const))
  const bookOf = (reason: Untold) => books.get(reason) ?? openBook(undefined)
  let changed = since !== begun
  return {
    since,
    add(reason, key, title) {
      const book = bookOf(reason)
      if (book.titles.has(key)) return
      changed = true
      if (book.titles.size < MAX_REMEMBERED) book.titles.set(key, title)
      else book.more += 1
    },
    strike(reason, key) {
      if (bookOf(reason).titles.delete(key)) changed = true
    },
    pages: () =>
      UNTOLD.flatMap((reason) => {
        const { titles, more } = bookOf(reason)
        const count = titles.size + more
        const shown = [...titles.values()].slice(0, MAX_SHOWN)
        return count === 0 ? [] : [{ meaning: MEANINGS[reason], count, titles: shown }]
      }),
    get changed() {
      return changed
    },
    markSaved() {
      changed = false
    },
    data: () => ({
      since,
      untold: Object.fromEntries([...books].map(([reason, book]) => [reason, closeBook(book)])),
    }),
  }
}

function isUsed({ untold }: LedgerData): boolean {
  return Object.values(untold).some(({ titles, more }) => more > 0 || Object.keys(titles).length > 0)
}

interface OpenBook {
  readonly titles: Map<string, string>
  more: number
}

function openBook(book: LedgerBook | undefined): OpenBook {
  return { titles: new Map(Object.entries(book?.titles ?? {})), more: book?.more ?? 0 }
}

function closeBook({ titles, more }: OpenBook): LedgerBook {
  return { titles: Object.fromEntries(titles), more }
}

/** What a ledger's file holds, undefined when it holds anything else. */
export function parseLedger(text: string): LedgerData | undefined {
  const value = parseObject(text)
  const since = value?.['since']
  const untold = objectIn(value?.['untold'])
  if (typeof since !== 'string' || !/^\d{4}-\d\d-\d\d$/.test(since) || !untold) return undefined
  const books = UNTOLD.map((reason) => [reason, toBook(untold[reason])] as const)
  return { since, untold: Object.fromEntries(books) }
}

function toBook(value: unknown): LedgerBook {
  const book = objectIn(value) ?? {}
  const titles = Object.entries(objectIn(book['titles']) ?? {}).map(([key, title]) => [
    key,
    toLine(String(title)),
  ])
  const more = Number(book['more'])
  return { titles: Object.fromEntries(titles), more: Number.isSafeInteger(more) && more > 0 ? more : 0 }
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return objectIn(JSON.parse(text))
  } catch {
    return undefined
  }
}

function objectIn(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined
}
