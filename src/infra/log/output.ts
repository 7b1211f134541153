import { write } from 'node:fs'
import { isatty } from 'node:tty'
import { BUSY_RETRY_MS, isBusy, writeAllSync } from './write-all.ts'

const STDOUT = 1
const LINE_FEED = 10
// Each batch costs a turn through the thread pool, whatever its size.
const BATCH_CHARACTERS = 32_768
const MAX_DELAY_MS = 200
const MAX_WAITING_CHARACTERS = 8 * 1_048_576

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
  /** Told, once lines can be written again, how many were lost meanwhile. */
  readonly onLost: (lines: number) => void
}

/** Standard output, which also gets what still waits when the process exits. */
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
 * Not pino's own destination: where the reader has gone, its flush at exit tries forever and the process never ends.
 */
export class BufferedOutput implements LogDestination {
  readonly #fd: number
  readonly #batchCharacters: number
  readonly #onLost: (lines: number) => void
  #waiting = ''
  #chunk: Buffer | undefined
  #inFlight = false
  #scheduled = false
  #lost = 0
  #gone = false

  constructor(fd: number, { batched, onLost }: OutputOptions) {
    this.#fd = fd
    this.#batchCharacters = batched ? BATCH_CHARACTERS : 1
    this.#onLost = onLost
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
