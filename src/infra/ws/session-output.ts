import type { WebSocket } from 'ws'
import type { Clock } from '../../kernel/clock.ts'
import { SECOND } from '../../kernel/time.ts'
import type { Budget } from './budget.ts'
import type { SessionTelemetry } from './telemetry.ts'

export interface SessionOutputDeps {
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
