import type { WaitingClock } from '../../../src/kernel/clock.ts'
import { errorMessage } from '../../../src/kernel/errors.ts'
import { newId } from '../../../src/kernel/ids.ts'
import type { Logger } from '../../../src/kernel/logger.ts'
import { toRfc3339 } from '../../../src/kernel/time.ts'
import { isDiskFull } from '../../files/system-error.ts'
import {
  describeEntry,
  formatOutbox,
  parseOutbox,
  type OutboxEntry,
  type OutboxRequest,
} from './outbox-entry.ts'
import { OUTBOX_FILE, UnusableFileError, REFUSED_FILE, type OutboxFiles } from './outbox-files.ts'
import type { TimeLimit } from './time-limit.ts'

export interface OutboxDeps {
  readonly files: OutboxFiles
  readonly clock: WaitingClock
  readonly logger: Logger
  /** Limits the time that is spent waiting for another process that has the file. */
  readonly limit: TimeLimit
}

// The platform is away for months before there are as many.
const MAX_ENTRIES = 1_000
const MAX_BYTES = 2 * 1_024 ** 2
const LOCK_RETRY_MS = 5

/**
 * Requests that wait for the platform, oldest first, in a file that several processes share. What cannot be written is kept
 * in memory, so that it can be sent by this process at least.
 */
export class Outbox {
  readonly #deps: OutboxDeps
  readonly #refused: RefusedEntries
  /** The changes that the file does not have yet. */
  #unsaved: OutboxEntry[] = []
  #removed = new Set<string>()

  constructor(deps: OutboxDeps) {
    this.#deps = deps
    this.#refused = new RefusedEntries(deps)
  }

  /** Adds an entry; it is durable when this resolves. */
  async add(request: OutboxRequest): Promise<OutboxEntry> {
    const entry = { ...request, id: newId(), at: toRfc3339(this.#deps.clock.now()) }
    this.#unsaved.push(entry)
    if (!(await this.#save()))
      this.#deps.logger.error(
        { entry: describeEntry(entry) },
        'the outbox cannot be written: the entry is lost unless the platform accepts it during this run',
      )
    return entry
  }

  /** The oldest entry. */
  first(): OutboxEntry | undefined {
    return this.entries()[0]
  }

  entries(): OutboxEntry[] {
    try {
      return this.#withChanges(parseOutbox(this.#deps.files.read(OUTBOX_FILE)).entries)
    } catch {
      // The next change logs why, and moves a file aside that is unusable.
      return this.#withChanges([])
    }
  }

  /** Removes an entry that was accepted. */
  async remove({ id }: OutboxEntry): Promise<void> {
    this.#removed.add(id)
    await this.#save()
  }

  /** Removes an entry that is never accepted, and keeps it in another file. */
  async setAside(entry: OutboxEntry, reason: string): Promise<void> {
    const refused = [{ entry, reason }]
    this.#refused.log(refused)
    this.#removed.add(entry.id)
    await this.#save(refused)
  }

  /** Writes the changes; false when that was impossible. */
  async #save(refused: readonly Refused[] = []): Promise<boolean> {
    try {
      using lock = await this.#lock()
      if (!lock) return false
      this.#refused.store(refused)
      this.#write()
      return true
    } catch (error) {
      const path = this.#deps.files.path(OUTBOX_FILE)
      const fields = {
        path,
        error: errorMessage(error),
        ...(isDiskFull(error) && { error_code: 'no_space' }),
      }
      this.#deps.logger.error(fields, 'the outbox cannot be written')
      return false
    }
  }

  async #lock(): Promise<Disposable | undefined> {
    const { files, clock, logger, limit } = this.#deps
    for (;;) {
      const lock = files.lock('change')
      if (lock) return lock
      if (limit.left() <= 0) {
        logger.error({ path: files.path(OUTBOX_FILE) }, 'another process does not release the outbox')
        return undefined
      }
      await limit.spend(() => clock.wait(LOCK_RETRY_MS))
    }
  }

  #write(): void {
    const { entries, broken } = parseOutbox(this.#readText())
    const wanted = this.#withChanges(entries)
    const kept = newestThatFit(wanted)
    const refused = [
      ...broken.map((line) => ({ line, reason: 'the line is no entry of an outbox' })),
      ...wanted
        .slice(0, wanted.length - kept.length)
        .map((entry) => ({ entry, reason: 'the outbox was full' })),
    ]
    this.#refused.log(refused)
    this.#refused.store(refused)
    this.#deps.files.replace(OUTBOX_FILE, formatOutbox(kept))
    this.#unsaved = []
    this.#removed.clear()
  }

  /** The text of the file. An unusable file is moved aside; after any other error it stays, with its entries. */
  #readText(): string {
    const { files, clock, logger } = this.#deps
    try {
      return files.read(OUTBOX_FILE)
    } catch (error) {
      const reason = errorMessage(error)
      if (!(error instanceof UnusableFileError))
        throw new Error(
          `${files.path(OUTBOX_FILE)} cannot be read: ${reason}; it stays as it is, check the disk and the limits of the process`,
          { cause: error },
        )
      const path = files.moveAside(OUTBOX_FILE, clock.now())
      logger.error({ path, error: reason }, 'the outbox is unusable, and was moved aside')
      return ''
    }
  }

  #withChanges(saved: readonly OutboxEntry[]): OutboxEntry[] {
    // Compared by id, because a write that has failed may have reached the file.
    const known = new Map([...saved, ...this.#unsaved].map((entry) => [entry.id, entry]))
    return [...known.values()].filter(({ id }) => !this.#removed.has(id))
  }
}

/** The last entries that fit into the file. */
function newestThatFit(entries: readonly OutboxEntry[]): OutboxEntry[] {
  const kept = entries.slice(-MAX_ENTRIES)
  let bytes = Buffer.byteLength(formatOutbox(kept))
  while (bytes > MAX_BYTES) bytes -= Buffer.byteLength(formatOutbox(kept.splice(0, 1)))
  return kept
}

type RefusedEntriesDeps = Pick<OutboxDeps, 'files' | 'clock' | 'logger'>

/** A request that was removed without having been accepted, and why. */
type Refused = { readonly reason: string } & ({ readonly entry: OutboxEntry } | { readonly line: string })

const KEPT_LINES = 100
const LINE_LENGTH = 2_000

/** The file of the last entries that were never accepted, for the operator. */
class RefusedEntries {
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
