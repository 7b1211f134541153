/**
 * Why a streamed response is over. `done`: its body has ended. `client`: the client has closed the connection. `slow`: the
 * client did not read. `token`: the token of the caller has expired or was revoked. `shutdown`: the server stops.
 */
export type StreamEnd = 'done' | 'client' | 'slow' | 'token' | 'shutdown'

/** A response whose body is written over a long time. */
export interface StreamOutput {
  readonly isOver: boolean
  /** Resolves once, when the response is over. */
  readonly over: Promise<StreamEnd>
  /** Bytes that are written and that the system has not taken yet, because the client does not read. */
  readonly unreadBytes: number
  /** Does nothing when the response is over. */
  write(chunk: Uint8Array | string): void
  /** Resolves when nothing is unread, or the response is over. */
  drained(): Promise<void>
  /** Closes the connection, because the client does not read. */
  cut(): void
}

/**
 * Writes the body of a streamed response, which ends when the promise resolves; that must be soon after `output.over`.
 * Called once in any case, so that it can release what was reserved for it: perhaps with an output that is over.
 */
export type StreamBody = (output: StreamOutput) => Promise<void>
