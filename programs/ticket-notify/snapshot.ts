import type { Ticket } from './tickets.ts'

/** What is remembered of a ticket. Further fields of a file are kept as they are. */
export interface SnapshotEntry {
  readonly status: string
  readonly level: string
  readonly title: string
  readonly updated_at: string
  /** When the entry was last touched, for a ticket whose `updated_at` cannot be read. */
  readonly seen_at?: string
  readonly [further: string]: unknown
}

/** Bytes that are read piece by piece. What `read` answers is good until it is called again. */
export interface ByteSource {
  readonly length: number
  read(start: number, end: number): Buffer
}

/**
 * What has been told, by ticket id. It is made for a memory of 100,000 tickets of which a round touches 500: lines of
 * the file that nobody asks for stay where they are, and are copied when it is written anew.
 */
export interface Snapshot {
  get(id: string): SnapshotEntry | undefined
  set(id: string, entry: SnapshotEntry): void
  /** The lines that nobody has asked for: the same bytes each time. Each piece is good until the next one. */
  beginning(): Iterable<Uint8Array>
  /** All other lines, and the end of the file. */
  ending(): Uint8Array
}

export interface ParsedSnapshot {
  readonly snapshot: Snapshot
  /** How many entries were left out because of their age. */
  readonly pruned: number
}

export interface ParseOptions {
  /** The tickets of this round: their entries are never pruned. */
  readonly wanted: ReadonlySet<string>
  /** Entries without an update since then are left out. */
  readonly pruneBefore: number
}

const OPENING = '{\n'
const SEPARATOR = ',\n'
const CLOSING = '\n}\n'
const LINE_FEED = 10
const BATCH_BYTES = 64 * 1_024
const COPIED_AT_ONCE = 256 * 1_024

// What `toLine` writes: an id without escapes, fields of text, the last of which is the time in a form whose order is
// that of its letters. Every other line is parsed by itself.
const TEXT = String.raw`"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"`
const TIME = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`
const LINE = new RegExp(
  String.raw`"([^"\\\x00-\x1f]+)":\{(?:${TEXT}:${TEXT},)*"updated_at":"${TIME}"\},\n`,
  'y',
)
const TIME_LENGTH = '2026-01-31T02:00:00.000Z'.length
const AFTER_TIME = '"},\n'.length

/** The entry of a ticket; what is not known of it now is kept from before. */
export function toEntry(ticket: Ticket, known: SnapshotEntry | undefined, now: number): SnapshotEntry {
  const { updated_at: _, seen_at: __, ...further } = known ?? {}
  return {
    ...further,
    status: ticket.status || (known?.status ?? ''),
    level: ticket.level || (known?.level ?? ''),
    title: ticket.title || (known?.title ?? ''),
    updated_at: ticket.updatedAtText || (known?.updated_at ?? ''),
    ...(ticket.updatedAt === undefined && { seen_at: new Date(now).toISOString() }),
  }
}

export function emptySnapshot(): Snapshot {
  return snapshotOf(bufferSource(Buffer.alloc(0)), [], new Map())
}

export function bufferSource(bytes: Buffer): ByteSource {
  return { length: bytes.length, read: (start, end) => bytes.subarray(start, end) }
}

/** Reads the content of a state file. Throws when it is no JSON object. */
export function parseSnapshot(source: ByteSource, options: ParseOptions): ParsedSnapshot {
  return parseLines(source, options) ?? parseWhole(source, options)
}

// --- A file as it was written here -----------------------------------------------------------------------------

/** Whole entries, without the separator that follows the last of them. */
type Range = [start: number, end: number]

/** Told of each entry by its place, without the separator. No objects: there are 100,000 of them. */
interface LineReader {
  /** A line in the shape that is written here. */
  own(id: string, time: string, start: number, end: number): void
  /** Any other line. */
  foreign(start: number, end: number): void
}

function parseLines(source: ByteSource, { wanted, pruneBefore }: ParseOptions): ParsedSnapshot | undefined {
  if (!isFramed(source)) return undefined
  const wantedIds = new Set([...wanted].map(asLatin1))
  const oldest = new Date(Math.max(0, pruneBefore)).toISOString()
  const untouched: Range[] = []
  const entries = new Map<string, SnapshotEntry>()
  let pruned = 0

  const keep = (start: number, end: number) => {
    const last = untouched.at(-1)
    if (last && last[1] + SEPARATOR.length === start) last[1] = end
    else untouched.push([start, end])
  }
  const reader: LineReader = {
    own(id, time, start, end) {
      if (wantedIds.has(id)) for (const [key, entry] of entriesIn(source, start, end)) entries.set(key, entry)
      else if (time < oldest) pruned += 1
      else keep(start, end)
    },
    foreign(start, end) {
      for (const [id, entry] of entriesIn(source, start, end)) {
        if (!wanted.has(id) && isOlder(entry, pruneBefore)) pruned += 1
        else entries.set(id, entry)
      }
    },
  }

  try {
    eachLine(source, reader)
  } catch (error) {
    // A line that is no entry by itself: the file is broken, or written by somebody else in another shape.
    if (error instanceof SyntaxError) return undefined
    throw error
  }
  return { snapshot: snapshotOf(source, untouched, entries), pruned }
}

function isFramed(source: ByteSource): boolean {
  const { length } = source
  return (
    length > OPENING.length + CLOSING.length &&
    source.read(0, OPENING.length).toString('latin1') === OPENING &&
    source.read(length - CLOSING.length, length).toString('latin1') === CLOSING
  )
}

function eachLine(source: ByteSource, reader: LineReader): void {
  const contentEnd = source.length - CLOSING.length
  for (let start = OPENING.length; start < contentEnd;) {
    const batch = batchFrom(source, start, contentEnd)
    eachLineOf(batch, start, reader)
    start += batch.length
  }
}

/** Whole lines. Bytes stand for characters: positions in the text are positions in the file. */
function batchFrom(source: ByteSource, start: number, contentEnd: number): string {
  for (let size = BATCH_BYTES; ; size *= 2) {
    const end = Math.min(contentEnd, start + size)
    const bytes = source.read(start, end)
    // The last line ends without its separator.
    if (end === contentEnd) return `${bytes.toString('latin1')}${SEPARATOR}`
    const lineEnd = bytes.lastIndexOf(LINE_FEED) + 1
    if (lineEnd > 0) return bytes.toString('latin1', 0, lineEnd)
  }
}

function eachLineOf(batch: string, offset: number, { own, foreign }: LineReader): void {
  for (let start = 0; start < batch.length;) {
    LINE.lastIndex = start
    const isOwn = LINE.test(batch)
    const end = isOwn ? LINE.lastIndex : batch.indexOf('\n', start) + 1
    if (isOwn) {
      const id = batch.slice(start + 1, batch.indexOf('"', start + 1))
      const timeEnd = end - AFTER_TIME
      own(id, batch.slice(timeEnd - TIME_LENGTH, timeEnd), offset + start, offset + end - SEPARATOR.length)
    } else {
      if (batch[end - SEPARATOR.length] !== ',') throw new SyntaxError('an entry ends without a comma')
      foreign(offset + start, offset + end - SEPARATOR.length)
    }
    start = end
  }
}

function entriesIn(source: ByteSource, start: number, end: number): [id: string, entry: SnapshotEntry][] {
  return toEntries(JSON.parse(`{${source.read(start, end).toString('utf8')}}`))
}

const asLatin1 = (id: string): string => Buffer.from(id).toString('latin1')

// --- A file of another shape -----------------------------------------------------------------------------------

function parseWhole(source: ByteSource, { wanted, pruneBefore }: ParseOptions): ParsedSnapshot {
  const text = source
    .read(0, source.length)
    .toString('utf8')
    .replace(/^\uFEFF/, '')
  const all = toEntries(JSON.parse(text))
  const kept = all.filter(([id, entry]) => wanted.has(id) || !isOlder(entry, pruneBefore))
  return { snapshot: snapshotOf(source, [], new Map(kept)), pruned: all.length - kept.length }
}

function toEntries(value: unknown): [id: string, entry: SnapshotEntry][] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new TypeError('it holds no JSON object')
  }
  return Object.entries(value).map(([id, entry]) => [id, readEntry(entry)])
}

/** An entry with the types that it should have; one that is nothing of the kind counts as unknown in all. */
function readEntry(value: unknown): SnapshotEntry {
  const fields: Readonly<Record<string, unknown>> =
    typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
  const text = (name: string) => (typeof fields[name] === 'string' ? fields[name] : '')
  return {
    ...fields,
    status: text('status'),
    level: text('level'),
    title: text('title'),
    updated_at: text('updated_at'),
  }
}

/** An entry without any time that can be read has no age. */
function isOlder({ updated_at, seen_at }: SnapshotEntry, pruneBefore: number): boolean {
  const at = [updated_at, seen_at ?? ''].map((text) => Date.parse(text)).find((time) => !Number.isNaN(time))
  return at !== undefined && at < pruneBefore
}

// --- Together ---------------------------------------------------------------------------------------------------

function snapshotOf(
  source: ByteSource,
  untouched: readonly Range[],
  entries: Map<string, SnapshotEntry>,
): Snapshot {
  return {
    get: (id) => entries.get(id),
    set: (id, entry) => void entries.set(id, entry),
    *beginning() {
      yield Buffer.from(OPENING)
      for (const [index, range] of untouched.entries()) {
        if (index > 0) yield Buffer.from(SEPARATOR)
        yield* copied(source, range)
      }
    },
    ending() {
      const touched = [...entries].map(([id, entry]) => toLine(id, entry)).join(SEPARATOR)
      const isBetween = untouched.length > 0 && touched !== ''
      const isEmpty = untouched.length === 0 && touched === ''
      return Buffer.from(`${isBetween ? SEPARATOR : ''}${touched}${isEmpty ? '}\n' : CLOSING}`)
    },
  }
}

function* copied(source: ByteSource, [start, end]: Range): Iterable<Uint8Array> {
  for (let at = start; at < end; at += COPIED_AT_ONCE)
    yield source.read(at, Math.min(end, at + COPIED_AT_ONCE))
}

function toLine(id: string, { updated_at, ...others }: SnapshotEntry): string {
  return `${JSON.stringify(id)}:${JSON.stringify({ ...others, updated_at })}`
}
