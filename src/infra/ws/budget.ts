import type { WebSocket } from 'ws'
import type { Clock } from '../../kernel/clock.ts'
import { SECOND } from '../../kernel/time.ts'
import type { SessionTelemetry } from './telemetry.ts'

/** A limited amount of bytes or requests. Calls wait for their share in the order in which they came. */
export class Budget {
  readonly #limit: number
  readonly #grantsPerTurn: number
  #grantsInTurn = 0
  readonly #waiting = new Set<Waiter>()
  #used = 0

  /** `grantsPerTurn`: how many calls are granted in one turn of the event loop, if each one causes much work. */
  constructor(limit: number, { grantsPerTurn = Number.POSITIVE_INFINITY } = {}) {
    this.#limit = limit
    this.#grantsPerTurn = grantsPerTurn
  }

  /** What is reserved now. */
  get used(): number {
    return this.#used
  }

  /** What calls wait for; never more than could be released. */
  get missing(): number {
    let amount = 0
    for (const waiter of this.#waiting) amount += waiter.amount
    return Math.min(amount, this.#limit)
  }

  /** Reserves that amount if it is free now and no call waits; returns whether it did. */
  tryReserve(amount: number): boolean {
    if (this.#waiting.size > 0 || !this.#canGrant(amount)) return false
    this.#countGrant(amount)
    return true
  }

  /** Resolves when that amount is free, in the order of the calls. Rejects with the reason of `signal`. */
  async reserve(amount: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (this.tryReserve(amount)) return
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiter = { amount, resolve }
    const abort = () => {
      this.#waiting.delete(waiter)
      reject(signal.reason)
      this.#grant()
    }
    this.#waiting.add(waiter)
    signal.addEventListener('abort', abort, { once: true })
    await promise
    signal.removeEventListener('abort', abort)
  }

  /** Counts what cannot wait; a negative amount takes back what was reserved too much. */
  charge(amount: number): void {
    this.#used += amount
    if (amount < 0) this.#grant()
  }

  release(amount: number): void {
    this.charge(-amount)
  }

  /** An amount larger than the limit gets its turn when nothing else is reserved. */
  #canGrant(amount: number): boolean {
    const hasRoom = this.#used <= 0 || this.#used + amount <= this.#limit
    return hasRoom && this.#grantsInTurn < this.#grantsPerTurn
  }

  #countGrant(amount: number): void {
    this.#used += amount
    if (this.#grantsPerTurn === Number.POSITIVE_INFINITY) return
    if (this.#grantsInTurn === 0) setImmediate(() => this.#beginTurn())
    this.#grantsInTurn++
  }

  #beginTurn(): void {
    this.#grantsInTurn = 0
    this.#grant()
  }

  #grant(): void {
    for (const waiter of this.#waiting) {
      if (!this.#canGrant(waiter.amount)) return
      this.#waiting.delete(waiter)
      this.#countGrant(waiter.amount)
      waiter.resolve()
    }
  }
}

interface Waiter {
  readonly amount: number
  readonly resolve: () => void
}

interface SessionOutputDeps {
  readonly clock: Clock
  readonly outgoingBytes: Budget
  readonly telemetry: SessionTelemetry
}

// docs/specification.md, Gateway
const MAX_UNREAD_BYTES = 1_048_576
// A client that reads has room for another answer sooner than this.
const STALL_MS = SECOND

/** What is sent to one client, and how much of it the client has not read yet. */
export class SessionOutput {
  readonly #deps: SessionOutputDeps
  readonly #connection: WebSocket
  #unreadBytes = 0
  /** When the client was last known to read, monotonic. */
  #readAt = 0

  constructor(deps: SessionOutputDeps, connection: WebSocket) {
    this.#deps = deps
    this.#connection = connection
  }

  get unreadBytes(): number {
    return this.#unreadBytes
  }

  /** Whether the client has left so much unread that nothing more may be sent. */
  get isFull(): boolean {
    return this.#connection.bufferedAmount > MAX_UNREAD_BYTES
  }

  /** Sends a frame, for which `reservedBytes` of the budget are reserved. */
  write(text: string, type: string, reservedBytes = 0): void {
    const bytes = Buffer.byteLength(text)
    this.#deps.outgoingBytes.charge(bytes - reservedBytes)
    this.#hold(bytes)
    this.#connection.send(text, () => this.#free(bytes))
    this.#deps.telemetry.countFrame('out', type)
  }

  pong(data: Buffer): void {
    this.#deps.outgoingBytes.charge(data.length)
    this.#hold(data.length)
    this.#connection.pong(data, false, () => this.#free(data.length))
  }

  /** The unread bytes of a client that has not read for a while, otherwise 0. `at` is monotonic. */
  stalledBytes(at: number): number {
    return this.#unreadBytes > 0 && at - this.#readAt >= STALL_MS ? this.#unreadBytes : 0
  }

  #hold(bytes: number): void {
    if (this.#unreadBytes === 0) this.#readAt = this.#deps.clock.monotonic()
    this.#unreadBytes += bytes
  }

  #free(bytes: number): void {
    this.#readAt = this.#deps.clock.monotonic()
    this.#unreadBytes -= bytes
    this.#deps.outgoingBytes.release(bytes)
  }
}
