import { styleText } from 'node:util'
import { systemClock, type Clock } from '../../kernel/clock.ts'
import type { LogFields, Logger } from '../../kernel/logger.ts'
import { toRfc3339 } from '../../kernel/time.ts'
import { currentTrace } from '../../kernel/trace.ts'
import { standardOutput, standardOutputHasColours, type LogDestination } from './output.ts'
import { redactFields } from './redact.ts'
import { scrubText } from './scrub.ts'

const LEVELS = ['debug', 'info', 'warn', 'error'] as const
type Level = (typeof LEVELS)[number]

export interface LoggerOptions {
  /** The lowest level that is written. */
  readonly level: Level
  /** `json`: one object a line, for machines; `pretty`: for a person at a terminal. */
  readonly format: 'json' | 'pretty'
  /** Standard output, if not given. */
  readonly destination?: LogDestination
  readonly clock?: Clock
  /** Only for `pretty`; by default when standard output is a terminal that shows colours. */
  readonly colours?: boolean
  /** Whether errors and warnings begin with their priority for journald, which takes it off: sd-daemon(3). */
  readonly priorities?: boolean
}

/**
 * A logger that writes no secret: fields and messages pass the redactor.
 * `flush` writes what waits, synchronously; it is also done when the process exits.
 */
export function createLogger(options: LoggerOptions): { readonly logger: Logger; flush(): void } {
  const { level, format, clock = systemClock } = options
  const onLost = (lines: number, code: string | undefined): void =>
    logger.warn({ lines, reason: code ?? 'the reader was slower than the log' }, 'log lines were lost')
  const output = options.destination ?? standardOutput({ batched: format === 'json', onLost })
  const colours = options.colours ?? (options.destination === undefined && standardOutputHasColours())
  const priorityOf = options.priorities === true ? journalPriority : () => ''
  const write = (line: string): void =>
    output.write(priorityOf(line) + (format === 'json' ? line : prettyLine(line, colours)))
  const flush = (): void => output.flush?.()
  const logger = loggerOn({ level, time: timeTexts(clock), write, flush }, {})
  return { logger, flush: () => output.flushSync?.() }
}

/** The level is the first member of a line. The journal gives the others `info`. */
function journalPriority(line: string): string {
  if (line.startsWith('{"level":"error"')) return '<3>'
  return line.startsWith('{"level":"warn"') ? '<4>' : ''
}

// Formatting the time takes a third of the time of a line, and many lines have the same millisecond.
function timeTexts(clock: Clock): () => string {
  let last = Number.NaN
  let text = ''
  return () => {
    const now = clock.now()
    if (now !== last) text = toRfc3339(now)
    last = now
    return text
  }
}

interface Lines {
  readonly level: Level
  readonly time: () => string
  readonly write: (line: string) => void
  readonly flush: () => void
}

function loggerOn(lines: Lines, bound: LogFields): Logger {
  const at = (level: Level): Logger[Level] => {
    if (LEVELS.indexOf(level) < LEVELS.indexOf(lines.level)) return () => {}
    // A copy of the fields of every line would cost as much as redacting them.
    const merged =
      Object.keys(bound).length === 0
        ? withTrace
        : (fields: LogFields) => ({ ...bound, ...withTrace(fields) })
    return (fields, message) => {
      const members = merged(fields)
      members['message'] = scrubText(message)
      lines.write(`{"level":"${level}","ts":"${lines.time()}",${JSON.stringify(members).slice(1)}\n`)
      if (level === 'error') lines.flush()
    }
  }
  const child = (fields: LogFields): Logger => loggerOn(lines, { ...bound, ...printable(fields) })
  return { error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug'), child }
}

const RESERVED = ['ts', 'level', 'message']

/** Printable fields with the current trace, unless they name one. */
function withTrace(fields: LogFields): Record<string, unknown> {
  const line = printable(fields)
  const trace = currentTrace()
  if (trace) line['trace_id'] ??= trace.traceId
  return line
}

/** Redacted fields. One that has the name of the line's own time, level or message gets another name. */
function printable(fields: LogFields): Record<string, unknown> {
  const redacted = redactFields(fields)
  for (const name of RESERVED) {
    if (!(name in redacted)) continue
    redacted[`field_${name}`] = redacted[name]
    delete redacted[name]
  }
  return redacted
}

const STYLES: Readonly<Record<string, Parameters<typeof styleText>[0]>> = {
  error: 'red',
  warn: 'yellow',
  info: 'green',
  debug: 'gray',
  name: 'cyan',
}
const BARE_VALUE = /^[\w.:/@+*-]+$/

/** A JSON line as a person reads it: time (UTC), level, message, fields; an error's stack on the lines below. */
export function prettyLine(line: string, colours: boolean): string {
  const { ts, level, message, ...fields } = JSON.parse(line) as Record<string, unknown>
  const paint = (text: string, style: string): string =>
    colours ? styleText(STYLES[style] ?? 'reset', text, { validateStream: false }) : text
  const texts = Object.entries(fields).map(
    ([name, value]) => `${paint(oneLine(name), 'name')}=${prettyValue(withoutStack(value))}`,
  )
  const head = [
    String(ts).slice(11),
    paint(String(level).toUpperCase().padEnd(5), String(level)),
    oneLine(String(message)),
  ]
  return `${[...head, ...texts].join(' ')}\n${stackLines(fields)}`
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
    .map((line) => `    | ${oneLine(line)}\n`)
    .join('')
}

function oneLine(text: string): string {
  return text.replace(/\p{Cc}/gu, (character) => JSON.stringify(character).slice(1, -1))
}
