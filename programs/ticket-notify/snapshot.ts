import { notifyRank } from './gates.ts'
import type { Ticket } from './tickets.ts'

/** What is remembered of a ticket. Unknown fields of a state file are kept. */
export interface SnapshotEntry {
  readonly status: string
  readonly level: string
  readonly title: string
  readonly updated_at: string
  /** The level that was notified last, empty if none was; see {@link toldLevel} for an entry without it. */
  readonly told?: string
  /** When the entry last changed, for a ticket whose `updated_at` cannot be parsed. */
  readonly seen_at?: string
  readonly [field: string]: unknown
}

export interface SnapshotOptions {
  /** Ids of the tickets in this round's list: their entries are held in memory and never pruned. */
  readonly listed: ReadonlySet<string>
  /** Entries that were last updated before this time are removed. */
  readonly pruneBefore: number
}

/** Lines of a file as latin1: each character is a byte, so that a line is copied unchanged and takes little memory. */
type ReadLines = () => Iterable<string>

const OPENING = '{\n'
const SEPARATOR = ',\n'
const CLOSING = '\n}\n'
/** The lines around the entries, each with a line feed. */
const FRAME = '{\n}\n\n'

/**
 * The remembered tickets: a JSON object with one entry a line. Entries of listed tickets are held in memory, 500 of
 * perhaps 100,000; the lines of the others are copied as they are when the file is rewritten.
 */
export class Snapshot {
  readonly #readLines: ReadLines
  readonly #entries = new Map<string, SnapshotEntry>()
  /** Numbers of the lines that are not copied. */
  readonly #skipped = new Set<number>()
  #copied = 0
  #pruned = 0

  private constructor(readLines: ReadLines, options: SnapshotOptions) {
    this.#readLines = readLines
    let number = 0
    for (const line of entryLines(readLines())) {
      if (this.#canCopy(line, options)) this.#copied += 1
      else this.#skipped.add(number)
      number += 1
    }
  }

  static empty(): Snapshot {
    return new Snapshot(() => [], { listed: new Set(), pruneBefore: 0 })
  }

  /** Throws when the lines are not those of a JSON object. They are read several times. */
  static parse(readLines: ReadLines, options: SnapshotOptions): Snapshot {
    try {
      return new Snapshot(readLines, options)
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
    }
    // The text is damaged, or JSON in another layout.
    const lines = layOut(decode([...readLines()].join('\n')))
    return new Snapshot(() => lines, options)
  }

  /** How many entries were removed because of their age. */
  get pruned(): number {
    return this.#pruned
  }

  get(id: string): SnapshotEntry | undefined {
    return this.#entries.get(id)
  }

  set(id: string, entry: SnapshotEntry): void {
    this.#entries.set(id, entry)
  }

  /** The first part of the file, as latin1: the copied lines. */
  *beginning(): Iterable<string> {
    yield OPENING
    let number = 0
    let lead = ''
    for (const line of entryLines(this.#readLines())) {
      if (this.#skipped.has(number++)) continue
      yield lead + line
      lead = SEPARATOR
    }
  }

  /** The rest of the file, as latin1: the entries in memory. */
  ending(): string {
    const lines = [...this.#entries].map(entryLine)
    const lead = this.#copied > 0 && lines.length > 0 ? SEPARATOR : ''
    return encode(lead + lines.join(SEPARATOR) + CLOSING)
  }

  #canCopy(line: string, { listed, pruneBefore }: SnapshotOptions): boolean {
    const { id, json } = splitLine(line)
    const isPruned = isOlder(JSON.parse(json), pruneBefore)
    if (listed.has(id)) this.set(id, readEntry(JSON.parse(decode(json))))
    else if (isPruned) this.#pruned += 1
    return !listed.has(id) && !isPruned
  }
}

/** The entries in lines of the layout of {@link Snapshot}, without commas. Throws a SyntaxError for other layouts. */
function* entryLines(lines: Iterable<string>): Iterable<string> {
  let frame = ''
  let isEntry = false
  for (const line of lines) {
    if (isEntry) yield line.endsWith(',') ? line.slice(0, -1) : line
    else frame += `${line}\n`
    if (!FRAME.startsWith(frame)) break
    isEntry = isEntry ? line.endsWith(',') : frame === OPENING
  }
  if (frame !== FRAME && frame !== '') throw new SyntaxError('not one entry a line')
}

/** Parsing a line as an object with one key would take 50 MB more: keys stay in memory. */
function splitLine(line: string): { readonly id: string; readonly json: string } {
  const [head = ''] = /^"(?:[^"\\]|\\.)*":/.exec(line) ?? []
  return { id: JSON.parse(decode(head.slice(0, -1))) as string, json: line.slice(head.length) }
}

/** The lines for a JSON object in any layout. */
function layOut(text: string): string[] {
  const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ''))
  if (!isObject(value)) throw new TypeError('it is no JSON object')
  const lines = Object.entries(value).map(entryLine).join(SEPARATOR)
  return lines === '' ? [] : encode(OPENING + lines + CLOSING).split('\n')
}

const entryLine = ([id, entry]: readonly [string, unknown]) =>
  `${JSON.stringify(id)}:${JSON.stringify(entry)}`
const encode = (text: string) => Buffer.from(text).toString('latin1')
const decode = (text: string) => (/[\x80-\xff]/.test(text) ? Buffer.from(text, 'latin1').toString() : text)

/** The level that was notified last; an entry without one, as of an older program, was notified if its level says so. */
export function toldLevel({ told, level }: SnapshotEntry): string {
  return typeof told === 'string' ? told : notifiedLevel(level)
}

/** The entry once its present level was notified. */
export function toToldEntry(entry: SnapshotEntry): SnapshotEntry {
  return withTold(
    entry,
    notifyRank(entry.level) > notifyRank(toldLevel(entry)) ? entry.level : toldLevel(entry),
  )
}

/** The entry with this notified level; the field is left out where the level of the entry says the same. */
function withTold({ told: _, ...entry }: SnapshotEntry, told: string): SnapshotEntry {
  const rest = entry as SnapshotEntry
  return told === notifiedLevel(rest.level) ? rest : { ...rest, told }
}

const notifiedLevel = (level: string) => (notifyRank(level) > 0 ? level : '')

/** The entry of a ticket; fields that are unknown now keep their earlier values. */
export function toEntry(ticket: Ticket, known: SnapshotEntry | undefined, now: number): SnapshotEntry {
  const { seen_at: _, ...earlier } = known ?? readEntry({})
  const told = known ? toldLevel(known) : ''
  const entry = {
    ...earlier,
    status: ticket.status || earlier.status,
    level: ticket.level || earlier.level,
    title: ticket.title || earlier.title,
    updated_at: ticket.updatedAtText || earlier.updated_at,
    ...(ticket.updatedAt === undefined && { seen_at: new Date(now).toISOString() }),
  }
  return withTold(entry, told)
}

/** Any JSON value as an entry: fields of another type count as unknown. */
function readEntry(value: unknown): SnapshotEntry {
  const fields = isObject(value) ? value : {}
  const text = (name: string) => (typeof fields[name] === 'string' ? fields[name] : '')
  const known = { status: text('status'), level: text('level'), title: text('title') }
  return { ...fields, ...known, updated_at: text('updated_at') }
}

/** An entry without a valid time has no age: a comparison with NaN is false. */
function isOlder(entry: unknown, time: number): boolean {
  const { updated_at, seen_at } = isObject(entry) ? entry : {}
  const updatedAt = Date.parse(String(updated_at))
  return (Number.isNaN(updatedAt) ? Date.parse(String(seen_at)) : updatedAt) < time
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
