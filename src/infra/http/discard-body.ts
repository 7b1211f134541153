import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { SECOND } from '../../kernel/time.ts'

// docs/specification.md, Limits: what is read of a body after its request was refused
const MAX_BYTES = 8 * 1_048_576
const MAX_MS = 5 * SECOND
// All connections take turns: 64 KiB in each, so 13 MB/s.
const TURN_MS = 5
// Shorter than a read of Node.js.
const SHORT_BODY_BYTES = 65_536

/**
 * Lets the connection end behind the response if the rest of the request's body may be long: for a further request Node.js
 * would read it all, as fast as it comes.
 */
export function endBehindLongBody(request: IncomingMessage, response: ServerResponse): void {
  if (!request.complete && !hasShortBody(request)) response.shouldKeepAlive = false
}

export function hasShortBody({ headers }: IncomingMessage): boolean {
  return (
    headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) <= SHORT_BODY_BYTES
  )
}

/** Whether the connection will be closed after the response although its client may still be sending. */
export function isCutOff(request: IncomingMessage, response: ServerResponse): boolean {
  return !response.shouldKeepAlive && !request.complete && !request.destroyed
}

let turn: Promise<unknown> = Promise.resolve()

function nextTurn(): Promise<unknown> {
  return (turn = turn.then(() => sleep(TURN_MS)))
}

/**
 * A response of which the client gets everything at once, and which ends when the rest of the request's body was read and
 * dropped. Otherwise the kernel would reset the connection, and a client that is still sending would lose the response
 * (RFC 9112, section 9.6). An answer to HEAD writes no body, so nothing else sends its head before the end.
 */
export function waitUntilDiscarded(
  body: Iterable<string> | AsyncIterable<Buffer>,
  request: Readable,
  response: Pick<ServerResponse, 'flushHeaders'>,
  waitForTurn = nextTurn,
): Readable {
  const discarded = discardBody(request, waitForTurn)
  const chunks = async function* () {
    yield* body
    response.flushHeaders()
    await discarded
  }
  return Readable.from(chunks())
}

/** Resolves when the body has ended, is too long, or takes too long. */
async function discardBody(request: Readable, waitForTurn: () => Promise<unknown>): Promise<void> {
  const { promise: isLate, resolve } = Promise.withResolvers<void>()
  const limit = setTimeout(resolve, MAX_MS)
  await Promise.race([isLate, readSlowly(request, waitForTurn)])
  clearTimeout(limit)
}

async function readSlowly(request: Readable, waitForTurn: () => Promise<unknown>): Promise<void> {
  let bytes = 0
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > MAX_BYTES) return
      await waitForTurn()
    }
  } catch {
    // The client has left.
  }
}
