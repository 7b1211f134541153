import type { Clock } from './clock.ts'
import { AppError } from './errors.ts'
import { MINUTE, SECOND, toRfc3339 } from './time.ts'

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

// docs/specification.md, Health
const LASTS_AFTER_MS = MINUTE

/** What the log says of everything that a process depends on and that may fail for a time. */
export const OUTAGES = {
  database: {
    fails: 'the database is unavailable; changes are answered 503 until it works again',
    worksAgain: 'the database is available again',
    lasts: 'the database is still unavailable: "platform doctor" says why, and what to do',
  },
  bus: {
    fails: 'bus cannot be reached; trying again',
    worksAgain: 'bus connected',
    lasts: 'the bus still cannot be reached, and events wait: "platform doctor" says why, and what to do',
  },
  busStream: {
    fails: 'messages wait for a bus stream',
    worksAgain: 'bus stream takes messages again',
    lasts: 'messages still wait for a bus stream: "platform doctor" says why, and what to do',
  },
  delivery: {
    fails: 'the bus does not take messages; they wait',
    worksAgain: 'the bus takes messages again',
    lasts: 'the bus still does not take messages, and they wait: "platform doctor" says why, and what to do',
  },
  api: {
    fails: 'the api does not answer',
    worksAgain: 'the api answers again',
    lasts:
      'the api still does not answer this gateway: "platform doctor" on this host says why, and what to do',
  },
  primary: {
    fails: 'the users of the primary are not available; the gateway goes by its copy',
    worksAgain: 'the users are those of the primary again',
    lasts: 'the users of the primary are still not available: "platform doctor" says why, and what to do',
  },
  outbox: {
    fails: 'outbox cannot be read or written; messages wait',
    worksAgain: 'outbox can be read and written again',
    lasts: 'outbox still cannot be read or written; messages wait: the error says why',
  },
  eventStreams: {
    fails: 'events cannot be read; streams wait',
    worksAgain: 'events can be read again',
    lasts: 'events still cannot be read; streams wait: the error says why',
  },
  webhooks: {
    fails: 'events cannot be read for webhooks; they wait',
    worksAgain: 'webhooks get events again',
    lasts: 'events still cannot be read for webhooks; they wait: the error says why',
  },
  sessions: {
    fails: 'the session registry is not available; retrying',
    worksAgain: 'the session registry is available again',
    lasts: 'the session registry is still not available: the error says why',
  },
  work: {
    fails: 'queued work cannot be claimed and waits',
    worksAgain: 'queued work can be claimed again',
    lasts: 'queued work still cannot be claimed and waits: the error says why',
  },
} as const

export type OutageName = keyof typeof OUTAGES

/** Logs the start and the end of an outage once each, however many attempts fail in between. */
export interface Outage {
  readonly isFailing: boolean
  works(): void
  fails(error: unknown): void
}

/**
 * What an outage says in the log: WARN at its begin, ERROR once when it lasts, INFO at its end. What the database causes
 * elsewhere says nothing.
 */
export function createOutage(
  logger: Logger,
  name: OutageName,
  { clock, ...fields }: LogFields & { readonly clock: Clock },
): Outage {
  const { fails, worksAgain } = OUTAGES[name]
  const length = new OutageLength(logger, name, clock)
  let isLogged = false
  return {
    get isFailing() {
      return length.isFailing
    },
    works() {
      const ended = length.end()
      if (isLogged) logger.info({ ...fields, ...ended }, worksAgain)
      isLogged = false
    },
    fails(error) {
      if (!isLogged && !isConsequence(name, error)) {
        isLogged = true
        logger.warn({ ...fields, error }, fails)
      }
      length.fails({ ...fields, error })
    },
  }
}

/** How long an outage is. One that lasts does not end by itself, so it is one error in the log. */
export class OutageLength {
  readonly #logger: Logger
  readonly #name: OutageName
  readonly #clock: Clock
  #begin: { readonly at: number; readonly monotonic: number } | undefined
  #isTold = false

  constructor(logger: Logger, name: OutageName, clock: Clock) {
    this.#logger = logger
    this.#name = name
    this.#clock = clock
  }

  get isFailing(): boolean {
    return this.#begin !== undefined
  }

  /** Begins it, or logs that it lasts. */
  fails(fields: LogFields & { readonly error?: unknown }): void {
    this.#begin ??= { at: this.#clock.now(), monotonic: this.#clock.monotonic() }
    const elapsedMs = this.#clock.monotonic() - this.#begin.monotonic
    if (this.#isTold || elapsedMs < LASTS_AFTER_MS) return
    if (isConsequence(this.#name, fields.error)) return
    this.#isTold = true
    const since = toRfc3339(this.#begin.at)
    this.#logger.error({ ...fields, since, seconds: toSeconds(elapsedMs) }, OUTAGES[this.#name].lasts)
  }

  /** Ends it; returns its length, for the log. Nothing if there was none. */
  end(): { readonly seconds?: number } {
    const seconds = this.#begin && toSeconds(this.#clock.monotonic() - this.#begin.monotonic)
    this.#begin = undefined
    this.#isTold = false
    return seconds === undefined ? {} : { seconds }
  }
}

function toSeconds(milliseconds: number): number {
  return Math.round(milliseconds / SECOND)
}

/** The outage of the database has its own lines in the log of each process. */
function isConsequence(name: OutageName, error: unknown): boolean {
  return name !== 'database' && error instanceof AppError && error.code === 'store_unavailable'
}
