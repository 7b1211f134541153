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
