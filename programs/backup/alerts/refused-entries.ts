import type { Clock } from '../../../src/kernel/clock.ts'
import { errorMessage } from '../../../src/kernel/errors.ts'
import type { Logger } from '../../../src/kernel/logger.ts'
import { toRfc3339 } from '../../../src/kernel/time.ts'
import { describeEntry, formatOutbox, type OutboxEntry } from './outbox-entry.ts'
import { REFUSED_FILE, UnusableFileError, type OutboxFiles } from './outbox-files.ts'

export interface RefusedEntriesDeps {
  readonly files: OutboxFiles
  readonly clock: Clock
  readonly logger: Logger
}

/** What leaves the outbox without being accepted, and why. */
export type Refused = { readonly reason: string } & (
  | { readonly entry: OutboxEntry }
  | { readonly line: string }
)

const KEPT_LINES = 100
const LINE_LENGTH = 2_000

/** The file of the last entries that were never accepted, for the operator. */
export class RefusedEntries {
  readonly #deps: RefusedEntriesDeps

  constructor(deps: RefusedEntriesDeps) {
    this.#deps = deps
  }

  log(refused: readonly Refused[]): void {
    const { files, logger } = this.#deps
    const path = files.path(REFUSED_FILE)
    for (const each of refused)
      logger.error({ path, entry: subjectOf(each), reason: each.reason }, 'set aside from the outbox')
  }

  /** Adds them to the file; never throws. The caller has the lock `change`, because processes share the file. */
  store(refused: readonly Refused[]): void {
    if (refused.length === 0) return
    const { files, clock, logger } = this.#deps
    const path = files.path(REFUSED_FILE)
    const at = toRfc3339(clock.now())
    try {
      const lines = refused.map((each) => ({ at, ...shorten(each) }))
      files.replace(REFUSED_FILE, lastLines(`${this.#read()}${formatOutbox(lines)}`))
    } catch (error) {
      logger.error({ path, error: errorMessage(error) }, 'the file of refused entries cannot be written')
    }
  }

  #read(): string {
    const { files, clock } = this.#deps
    try {
      return files.read(REFUSED_FILE)
    } catch (error) {
      if (!(error instanceof UnusableFileError)) throw error
      files.moveAside(REFUSED_FILE, clock.now())
      return ''
    }
  }
}

function lastLines(text: string): string {
  const lines = text.split('\n').filter((line) => line !== '')
  return lines
    .slice(-KEPT_LINES)
    .map((line) => `${line}\n`)
    .join('')
}

function subjectOf(refused: Refused): string {
  return 'entry' in refused ? describeEntry(refused.entry) : 'a broken line'
}

function shorten(refused: Refused): Refused {
  return 'entry' in refused ? refused : { ...refused, line: refused.line.slice(0, LINE_LENGTH) }
}
