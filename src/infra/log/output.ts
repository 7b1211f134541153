import { write, writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { isatty } from 'node:tty'
import { promisify } from 'node:util'
import { errorCode } from '../../kernel/errors.ts'

const STDOUT = 1
const LINE_FEED = 10
// A batch costs a turn through the thread pool, whatever its size.
const BATCH_CHARACTERS = 32_768
const MAX_DELAY_MS = 200
const MAX_WAITING_CHARACTERS = 8 * 1_048_576
const BUSY_RETRY_MS = 20
const MAX_BUSY_RETRIES = 100
const EMPTY: Buffer = Buffer.alloc(0)

const writeToPool = promisify(write)

/** Where finished lines go; each `text` ends with a line feed. */
export interface LogDestination {
  write(text: string): void
  /** Begins to write what waits, without waiting for it. */
  flush?(): void
  /** Has written what waits when it returns. */
  flushSync?(): void
}

export interface OutputOptions {
  /** Whether lines wait for others, to be written together. */
  readonly batched: boolean
  /**
   * Called with the number of lost lines, once lines can be written again, and with the code of the error that has kept them
   * from being written; undefined if the reader was too slow.
   */
  readonly onLost: (lines: number, code: string | undefined) => void
}

/** Standard output. What waits when the process exits is written then. */
export function standardOutput(options: OutputOptions): LogDestination {
  const output = new BufferedOutput(STDOUT, options)
  process.once('exit', () => output.flushSync())
  return output
}

export function standardOutputHasColours(): boolean {
  return isatty(STDOUT) && process.stdout.hasColors()
}

/**
 * Collects lines and writes them in batches on the thread pool, so that a slow reader never stops the event loop.
 * Not `pino.destination`: when the reader has gone or the disk is full, its flush at exit never ends
 * (docs/decisions/0009-libraries.md).
 */
export class BufferedOutput implements LogDestination {
  readonly #fd: number
  readonly #options: OutputOptions
  #waiting = ''
  /** What is left of the batch that is being written. */
  #batch = EMPTY
  #isWriting = false
  /** The thread pool has the batch. */
  #inFlight = false
  #isScheduled = false
  #lost = 0
  #lostBy: string | undefined
  #readerGone = false

  constructor(fd: number, options: OutputOptions) {
    this.#fd = fd
    this.#options = options
  }

  write(text: string): void {
    if (this.#readerGone || this.#waiting.length + text.length > MAX_WAITING_CHARACTERS) {
      this.#lost += 1
      return
    }
    this.#waiting += text
    this.#schedule()
  }

  flush(): void {
    if (!this.#isWriting && this.#waiting !== '') void this.#writeBatch()
  }

  flushSync(): void {
    // A process waits for its thread pool before it ends, which writes what is in flight.
    const batch = this.#inFlight ? EMPTY : this.#batch
    if (!this.#inFlight) this.#batch = EMPTY
    writeAllSync(this.#fd, Buffer.concat([batch, this.#takeWaiting()]))
  }

  #schedule(): void {
    if (!this.#options.batched || this.#waiting.length >= BATCH_CHARACTERS) return this.flush()
    if (this.#isScheduled) return
    this.#isScheduled = true
    setTimeout(() => {
      this.#isScheduled = false
      this.flush()
    }, MAX_DELAY_MS).unref()
  }

  #takeWaiting(): Buffer {
    const taken = Buffer.from(this.#waiting)
    this.#waiting = ''
    return taken
  }

  async #writeBatch(): Promise<void> {
    this.#isWriting = true
    this.#batch = this.#takeWaiting()
    try {
      while (this.#batch.length > 0) {
        const written = await this.#writePart()
        this.#batch = this.#batch.subarray(written)
      }
      this.#reportLost()
    } catch (error) {
      this.#giveUp(error)
    }
    this.#isWriting = false
    if (this.#waiting !== '') this.#schedule()
  }

  async #writePart(): Promise<number> {
    this.#inFlight = true
    try {
      return (await writeToPool(this.#fd, this.#batch)).bytesWritten
    } catch (error) {
      if (!isBusy(error)) throw error
    } finally {
      this.#inFlight = false
    }
    await sleep(BUSY_RETRY_MS, undefined, { ref: false })
    return 0
  }

  #reportLost(): void {
    const lost = this.#lost
    const code = this.#lostBy
    this.#lost = 0
    this.#lostBy = undefined
    if (lost > 0) this.#options.onLost(lost, code)
  }

  // Later lines are tried again, because a full disk may be cleaned. A reader that has gone does not come back.
  #giveUp(error: unknown): void {
    this.#lost += this.#batch.filter((byte) => byte === LINE_FEED).length
    this.#batch = EMPTY
    this.#lostBy = errorCode(error) ?? ''
    this.#readerGone = ['EPIPE', 'EBADF'].includes(errorCode(error) ?? '')
    if (this.#readerGone) this.#waiting = ''
  }
}

/** Writes all bytes while the process exits. Never throws and always ends, since nothing can be done about a failure. */
function writeAllSync(fd: number, bytes: Buffer): void {
  let retriesLeft = MAX_BUSY_RETRIES
  for (let at = 0; at < bytes.length && retriesLeft > 0;) {
    try {
      at += writeSync(fd, bytes, at)
    } catch (error) {
      if (!isBusy(error)) return
      retriesLeft -= 1
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BUSY_RETRY_MS)
    }
  }
}

/** Whether the reader is only slow. */
function isBusy(error: unknown): boolean {
  return ['EAGAIN', 'EBUSY'].includes(errorCode(error) ?? '')
}
