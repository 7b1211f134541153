import { batch, signal } from '@preact/signals'
import type { ApiFailure, ApiResult } from '../../api/operations.ts'

/** One object of the API, read again when it changes. */
export class ResourceModel<T> {
  readonly value = signal<T | null>(null)
  readonly failure = signal<ApiFailure | null>(null)
  /** The `ETag` of the version that is shown. */
  etag: string | null = null
  readonly #read: (signal: AbortSignal) => Promise<ApiResult<T>>
  #reading = new AbortController()
  #due: ReturnType<typeof setTimeout> | undefined
  /** Whether the last reading has an answer. */
  #isAnswered = false
  #isReading = false
  /** Whether the object may have changed since the current reading began. */
  #isOutdated = false

  constructor(read: (signal: AbortSignal) => Promise<ApiResult<T>>) {
    this.#read = read
  }

  /** The value stays until the answer is there, and also if the object cannot be read again. */
  async refresh(): Promise<void> {
    this.#reading.abort()
    const reading = new AbortController()
    this.#reading = reading
    this.#isAnswered = false
    this.#isReading = true
    this.#isOutdated = false
    const result = await this.#read(reading.signal).catch((error: unknown) => {
      if (reading.signal.aborted) return undefined
      throw error
    })
    if (!result || reading.signal.aborted) return
    this.#isReading = false
    this.#take(result)
    if (this.#isOutdated) await this.refresh()
  }

  /**
   * Reads once more after the current reading. The reading is not given up: an object that changes faster than it is read
   * would never be shown.
   */
  #refreshOnceRead(): void {
    if (this.#isReading) this.#isOutdated = true
    else void this.refresh()
  }

  /** Reads the object again if it could not be read, or is still being read. */
  async retry(): Promise<void> {
    if (!this.#isAnswered) await this.refresh()
  }

  /** Reads the object again after this time; further calls until then change nothing. */
  refreshAfter(ms: number): void {
    if (ms === 0) return this.#refreshOnceRead()
    this.#due ??= setTimeout(() => {
      this.#due = undefined
      this.#refreshOnceRead()
    }, ms)
  }

  /** Shows the answer of a change. A reading that is under way may be of the version before, so it begins again. */
  show(result: ApiResult<T>): void {
    this.#take(result)
    if (this.#isReading) void this.refresh()
  }

  #take(result: ApiResult<T>): void {
    batch(() => {
      this.failure.value = result.ok ? null : result.failure
      this.#isAnswered = result.ok
      if (!result.ok) return
      this.etag = result.etag
      this.value.value = result.value
    })
  }

  stop(): void {
    clearTimeout(this.#due)
    this.#due = undefined
    this.#reading.abort()
  }
}
