/** Plain data that goes beside a message. Values under names that tell of secrets are redacted by the logger. */
export type LogFields = Readonly<Record<string, unknown>>

/**
 * Where the program says what it does.
 * error = a person must act; warn = healed by itself; info = business event; debug = for developers.
 */
export interface Logger {
  error(fields: LogFields, message: string): void
  warn(fields: LogFields, message: string): void
  info(fields: LogFields, message: string): void
  debug(fields: LogFields, message: string): void
  /** A logger that adds these fields to each of its lines. */
  child(fields: LogFields): Logger
}

/** Says nothing; for tests, and for commands that only print their result. */
export const silentLogger: Logger = {
  error() {},
  warn() {},
  info() {},
  debug() {},
  child: () => silentLogger,
}
