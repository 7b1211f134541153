import { pino } from 'pino'
import { systemClock, type Clock } from '../../kernel/clock.ts'
import type { LogFields, Logger } from '../../kernel/logger.ts'
import { toRfc3339 } from '../../kernel/time.ts'
import { standardOutput, standardOutputHasColours, type LogDestination } from './output.ts'
import { prettyLine } from './pretty.ts'
import { redactFields } from './redact.ts'
import { scrubText } from './scrub.ts'

type Level = 'error' | 'warn' | 'info' | 'debug'

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
  const { format } = options
  const tellLoss = (lines: number): void =>
    logger.warn({ lines }, 'log lines were lost, because they were not taken as fast as they came')
  const output = options.destination ?? standardOutput({ batched: format === 'json', onLost: tellLoss })
  const colours = options.colours ?? (options.destination === undefined && standardOutputHasColours())
  const sink =
    format === 'json' ? output : { write: (line: string) => output.write(prettyLine(line, colours)) }
  const logger = loggerOn(lineWriter(options, sink), output, {})
  return { logger, flush: () => output.flushSync?.() }
}

function lineWriter(
  { level, clock = systemClock }: LoggerOptions,
  sink: pino.DestinationStream,
): pino.Logger {
  return pino(
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
}

// Formatting a time takes a third of the time that a line does, and many lines carry the same millisecond.
function timestamps(clock: Clock): () => string {
  let last = Number.NaN
  let text = ''
  return () => {
    const now = clock.now()
    if (now !== last) text = `,"ts":"${toRfc3339(now)}"`
    last = now
    return text
  }
}

// Not pino's own children: a name that is bound and given again would stand twice in the line, which is read differently
// by different readers.
function loggerOn(lines: pino.Logger, output: LogDestination, bound: LogFields): Logger {
  const at = (level: Level): Logger[Level] => {
    if (!lines.isLevelEnabled(level)) return () => {}
    return (fields, message) => {
      lines[level]({ ...bound, ...printable(fields) }, scrubText(message))
      if (level === 'error') output.flush?.()
    }
  }
  const child = (fields: LogFields): Logger => loggerOn(lines, output, { ...bound, ...printable(fields) })
  return { error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug'), child }
}

// A field must not stand for what the line says of itself.
const RESERVED = ['ts', 'level', 'message']

function printable(fields: LogFields): Record<string, unknown> {
  const redacted = redactFields(fields)
  for (const name of RESERVED) {
    if (!(name in redacted)) continue
    redacted[`field_${name}`] = redacted[name]
    delete redacted[name]
  }
  return redacted
}
