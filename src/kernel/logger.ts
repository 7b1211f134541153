import type { Clock } from './clock.ts'
import { SECOND, toRfc3339 } from './time.ts'

/** Structured data of a log line. The logger redacts the values of fields that are named like secrets. */
export type LogFields = Readonly<Record<string, unknown>>

/**
 * The structured log.
 * error = an operator must act; warn = the program recovers by itself; info = business event; debug = for developers.
 */
export interface Logger {
  error(fields: LogFields, message: string): void
  warn(fields: LogFields, message: string): void
  info(fields: LogFields, message: string): void
  debug(fields: LogFields, message: string): void
  /** A logger that adds these fields to each of its lines. */
  child(fields: LogFields): Logger
}

/** Logs nothing; for tests, and for commands that only print their result. */
export const silentLogger: Logger = {
  error() {},
  warn() {},
  info() {},
  debug() {},
  child: () => silentLogger,
}

/** Logs the start and the end of an outage once each, however many attempts fail in between. */
export interface Outage {
  readonly isFailing: boolean
  works(): void
  fails(error: unknown): void
}

/** An outage that lasts for so long does not end by itself: it is logged once more, as an error. */
export interface LastingOutage {
  readonly clock: Clock
  readonly afterMs: number
  /** What to do. */
  readonly message: string
}

export function createOutage(
  logger: Logger,
  fields: LogFields,
  messages: { readonly fails: string; readonly worksAgain: string },
  lasting?: LastingOutage,
): Outage {
  let begin: { readonly at: number; readonly monotonic: number } | undefined
  let isTold = false
  const elapsedMs = () => (lasting?.clock.monotonic() ?? 0) - (begin?.monotonic ?? 0)
  const length = () => lasting && { seconds: Math.round(elapsedMs() / SECOND) }
  return {
    get isFailing() {
      return begin !== undefined
    },
    works() {
      if (begin) logger.info({ ...fields, ...length() }, messages.worksAgain)
      begin = undefined
    },
    fails(error) {
      if (!begin) {
        begin = { at: lasting?.clock.now() ?? 0, monotonic: lasting?.clock.monotonic() ?? 0 }
        isTold = false
        logger.warn({ ...fields, error }, messages.fails)
      } else if (lasting && !isTold && elapsedMs() >= lasting.afterMs) {
        isTold = true
        logger.error({ ...fields, since: toRfc3339(begin.at), ...length(), error }, lasting.message)
      }
    },
  }
}
