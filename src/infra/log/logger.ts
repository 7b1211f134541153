import { write, writeSync } from 'node:fs'
import { isatty } from 'node:tty'
import { pino } from 'pino'
import { systemClock, type Clock } from '../../kernel/clock.ts'
import type { LogFields, Logger } from '../../kernel/logger.ts'
import { toRfc3339 } from '../../kernel/time.ts'
import { redactFields, scrubText } from './redact.ts'

const LEVELS = ['error', 'warn', 'info', 'debug'] as const
type Level = (typeof LEVELS)[number]

const STDOUT = 1
const LINE_FEED = 10
const BATCH_CHARACTERS = 4_096
const MAX_DELAY_MS = 200
const MAX_WAITING_CHARACTERS = 8 * 1_048_576
const BUSY_RETRY_MS = 20
const MAX_BUSY_RETRIES = 100

/** Where finished lines go; each `text` ends with a line feed. */
export interface LogDestination {
  write(text: string): void
  /** Begins to write what waits, without waiting for it. */
  flush?(): void
  /** Has written what waits when it returns. */
  flushSync?(): void
}

export interface LoggerOptions {
  /** The least important lines that are still written. */
  readonly level: Level
  /** `json`: one object a line, for machines; `pretty`: for a person at a terminal. */
  readonly format: 'json' | 'pretty'
  /** Standard output, if not given. */
  readonly destination?: LogDestination
  readonly clock?: Clock
  /** Only for `pretty`; by default when standard output is a terminal that shows colours. */
  readonly colours?: boolean
}

/**
 * A logger that writes no secret: fields and messages pass the redactor.
 * `flush` writes what waits, synchronously; it is also done when the process exits.
 */
export function createLogger(options: LoggerOptions): { readonly logger: Logger; flush(): void } {
  const { level, format, clock = systemClock } = options
  const tellLoss = (count: number): void =>
    logger.warn({ lines: count }, 'log lines were lost, because they were not taken as fast as they came')
  const output = options.destination ?? standardOutput(format, tellLoss)
  const colours = options.colours ?? (options.destination === undefined && standardOutputHasColours())
  const sink =
    format === 'json' ? output : { write: (line: string) => output.write(prettyLine(line, colours)) }
  const lines = pino(
    {
      level,
      base: null,
      messageKey: 'message',
      timestamp: timestamps(clock),
      formatters: { level: (label) => ({ level: label }) },
      // What arrives there is redacted already; pino's own serializer would give it another shape.
      serializers: { err: (value: unknown) => value },
    },
    sink,
  )
  const enabled = new Set(LEVELS.filter((each) => lines.isLevelEnabled(each)))
  const logger = loggerOn({ root: lines, enabled, afterError: () => output.flush?.() }, lines, {})
  return { logger, flush: () => output.flushSync?.() }
}

// Thousands of lines carry the same millisecond.
function timestamps(clock: Clock): () => string {
  let last = Number.NaN
  let text = ''
  return () => {
    const now = clock.now()
    if (now === last) return text
    last = now
    text = `,"ts":"${toRfc3339(now)}"`
    return text
  }
}

// --- The port ------------------------------------------------------------------------------------------------

interface Emitter {
  readonly root: pino.Logger
  readonly enabled: ReadonlySet<Level>
  afterError(): void
}

function loggerOn(emitter: Emitter, lines: pino.Logger, bound: LogFields): Logger {
  const boundNames = Object.keys(bound)
  const at = (level: Level): Logger[Level] => {
    if (!emitter.enabled.has(level)) return () => {}
    return (fields, message) => {
      const own = printable(fields)
      // A name that stands twice in a line is read differently by different readers.
      if (boundNames.some((name) => name in own))
        emitter.root[level]({ ...bound, ...own }, scrubText(message))
      else lines[level](own, scrubText(message))
      if (level === 'error') emitter.afterError()
    }
  }
  const child = (fields: LogFields): Logger => {
    const all = { ...bound, ...printable(fields) }
    return loggerOn(emitter, emitter.root.child(all), all)
  }
  return { error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug'), child }
}

// A field must not stand for the line's own time, level or message; the others mean something to pino's children.
const RESERVED = [
  'ts',
  'level',
  'message',
  'serializers',
  'formatters',
  'customLevels',
  'redact',
  'msgPrefix',
]

function printable(fields: LogFields): Record<string, unknown> {
  const redacted = redactFields(fields)
  for (const name of RESERVED) {
    if (!(name in redacted)) continue
    redacted[`field_${name}`] = redacted[name]
    delete redacted[name]
  }
  return redacted
}

// --- Standard output -----------------------------------------------------------------------------------------

function standardOutput(format: LoggerOptions['format'], onLost: (lines: number) => void): LogDestination {
  const output = new BufferedOutput(STDOUT, {
    batchCharacters: format === 'pretty' ? 1 : BATCH_CHARACTERS,
    onLost,
  })
  process.once('exit', () => output.flushSync())
  return output
}

function standardOutputHasColours(): boolean {
  return isatty(STDOUT) && process.stdout.hasColors()
}

/**
 * Collects lines and writes them in batches on the thread pool, so that a slow reader never stops the event loop.
 * Not pino's own destination: where the reader has gone, its flush at exit tries forever and the process never ends.
 */
export class BufferedOutput implements LogDestination {
  readonly #fd: number
  readonly #batchCharacters: number
  #waiting = ''
  #chunk: Buffer | undefined
  #inFlight = false
  #scheduled = false
  #lost = 0
  #gone = false
  readonly #onLost: (lines: number) => void

  /** `onLost` is told, once lines can be written again, how many were lost meanwhile. */
  constructor(fd: number, options: { batchCharacters?: number; onLost?: (lines: number) => void } = {}) {
    this.#fd = fd
    this.#batchCharacters = options.batchCharacters ?? BATCH_CHARACTERS
    this.#onLost = options.onLost ?? (() => {})
  }

  write(text: string): void {
    if (this.#gone || this.#waiting.length + text.length > MAX_WAITING_CHARACTERS) {
      this.#lost += 1
      return
    }
    this.#waiting += text
    this.#schedule()
  }

  flush(): void {
    if (this.#chunk !== undefined || this.#waiting === '') return
    this.#chunk = this.#takeWaiting()
    this.#writeChunk()
  }

  flushSync(): void {
    // What is in flight is written by the thread pool, which a process awaits before it ends.
    const rest = this.#inFlight || this.#chunk === undefined ? [] : [this.#chunk]
    if (!this.#inFlight) this.#chunk = undefined
    writeAllSync(this.#fd, Buffer.concat([...rest, this.#takeWaiting()]))
  }

  #onTimer(): void {
    this.#scheduled = false
    this.flush()
  }

  #takeWaiting(): Buffer {
    const taken = Buffer.from(this.#waiting)
    this.#waiting = ''
    return taken
  }

  #writeChunk(): void {
    if (this.#chunk === undefined || this.#inFlight) return
    this.#inFlight = true
    write(this.#fd, this.#chunk, (error, written) => this.#onWritten(error, written))
  }

  #onWritten(error: NodeJS.ErrnoException | null, written: number): void {
    this.#inFlight = false
    if (error && isBusy(error)) {
      setTimeout(() => this.#writeChunk(), BUSY_RETRY_MS).unref()
      return
    }
    if (error) this.#giveUp(error)
    else this.#advance(written)
  }

  #advance(written: number): void {
    const rest = this.#chunk?.subarray(written)
    this.#chunk = rest?.length === 0 ? undefined : rest
    if (this.#chunk !== undefined) this.#writeChunk()
    else this.#onIdle()
  }

  #onIdle(): void {
    const lost = this.#lost
    this.#lost = 0
    if (lost > 0) this.#onLost(lost)
    this.#schedule()
  }

  #schedule(): void {
    if (this.#waiting.length >= this.#batchCharacters) this.flush()
    else if (this.#waiting !== '' && !this.#scheduled) {
      this.#scheduled = true
      setTimeout(() => this.#onTimer(), MAX_DELAY_MS).unref()
    }
  }

  // A full disk may be cleaned, so later lines are tried again; a reader that has gone does not come back.
  #giveUp(error: NodeJS.ErrnoException): void {
    this.#lost += countLines(this.#chunk)
    this.#chunk = undefined
    this.#gone = error.code === 'EPIPE' || error.code === 'EBADF'
    if (this.#gone) this.#waiting = ''
    else this.#schedule()
  }
}

function countLines(chunk: Buffer | undefined): number {
  return chunk?.reduce((count, byte) => (byte === LINE_FEED ? count + 1 : count), 0) ?? 0
}

function isBusy(error: NodeJS.ErrnoException): boolean {
  return error.code === 'EAGAIN' || error.code === 'EBUSY'
}

// Never throws and always ends: it runs while the process exits, where nobody can do anything about its failure.
function writeAllSync(fd: number, bytes: Buffer): void {
  let retriesLeft = MAX_BUSY_RETRIES
  for (let at = 0; at < bytes.length && retriesLeft > 0;) {
    try {
      at += writeSync(fd, bytes, at)
    } catch (error) {
      if (!(error instanceof Error) || !isBusy(error)) return
      retriesLeft -= 1
      pause(BUSY_RETRY_MS)
    }
  }
}

function pause(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
}

// --- For a person --------------------------------------------------------------------------------------------

const COLOURS: Readonly<Record<string, number>> = { error: 31, warn: 33, info: 32, debug: 90, name: 36 }
const BARE_VALUE = /^[\w.:/@+*-]+$/

/** A JSON line as a person reads it: time (UTC), level, message, fields; an error's stack on the lines below. */
function prettyLine(line: string, colours: boolean): string {
  const { ts, level, message, ...fields } = JSON.parse(line) as Record<string, unknown>
  const paint = (text: string, colour: string): string =>
    colours ? `\u001b[${COLOURS[colour] ?? 0}m${text}\u001b[0m` : text
  const shown = Object.entries(fields).map(
    ([name, value]) => `${paint(oneLine(name), 'name')}=${prettyValue(withoutStack(value))}`,
  )
  const head = [
    String(ts).slice(11),
    paint(String(level).toUpperCase().padEnd(5), String(level)),
    oneLine(String(message)),
  ]
  return `${[...head, ...shown].join(' ')}\n${stackLines(fields)}`
}

function prettyValue(value: unknown): string {
  return typeof value === 'string' && BARE_VALUE.test(value) ? value : JSON.stringify(value)
}

function stackOf(value: unknown): string | undefined {
  const stack: unknown =
    typeof value === 'object' && value !== null && 'stack' in value ? value.stack : undefined
  return typeof stack === 'string' ? stack : undefined
}

function withoutStack(value: unknown): unknown {
  return stackOf(value) === undefined ? value : { ...(value as object), stack: undefined }
}

// Indented and marked, so that a message with line feeds in it cannot pass for a line of its own.
function stackLines(fields: Readonly<Record<string, unknown>>): string {
  return Object.values(fields)
    .flatMap((value) => stackOf(value)?.split('\n') ?? [])
    .map((each) => `    | ${oneLine(each)}\n`)
    .join('')
}

function oneLine(text: string): string {
  return text.replace(/\p{Cc}/gu, (character) => JSON.stringify(character).slice(1, -1))
}
