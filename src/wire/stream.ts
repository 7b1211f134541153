/**
 * Why a streamed response has ended. `done`: its body is complete. `client`: the client has closed the connection. `slow`:
 * the client did not read. `token`: the token of the caller has expired or was revoked. `shutdown`: the server stops.
 */
export type StreamEnd = 'done' | 'client' | 'slow' | 'token' | 'shutdown'

/** A response whose body is written over a long time. */
export interface StreamOutput {
  readonly isOver: boolean
  /** Resolves once, when the response is over. */
  readonly over: Promise<StreamEnd>
  /** Bytes that were written and wait in this process, because the client does not read. */
  readonly unreadBytes: number
  /** Does nothing when the response is over. */
  write(chunk: Uint8Array | string): void
  /** Resolves when nothing is unread, or the response is over. */
  drained(): Promise<void>
  /** Closes the connection, because the client does not read. */
  cut(): void
}

/**
 * Writes the body of a streamed response. The response ends when the promise resolves, which must be soon after
 * `output.over`. It is always called once, so that it can release what was reserved for it; the output may be over already.
 */
export type StreamBody = (output: StreamOutput) => Promise<void>
