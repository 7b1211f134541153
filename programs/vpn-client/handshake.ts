import type { IncomingMessage } from 'node:http'
import { WebSocket } from 'ws'
import type { WaitingClock } from '../../src/kernel/clock.ts'
import type { Secret } from '../../src/kernel/secret.ts'
import { SECOND } from '../../src/kernel/time.ts'
import type { GatewayAddress } from './addresses.ts'
import { closeReason, networkFailure, refusalText } from './failure-reasons.ts'
import { readFrame, textOf } from './frames.ts'
import { GatewaySession } from './session.ts'
import { withoutToken } from './token-source.ts'

// docs/specification.md, Gateway: an answer of the api is at most 1 MiB, of which every byte may be escaped into six
const MAX_FRAME_BYTES = 8 * 1_024 * 1_024

const MAX_REFUSAL_CHARACTERS = 4 * 1_024

// docs/specification.md, Gateway
const TOKEN_EXPIRED = 4401

export interface HandshakeParts {
  readonly gateway: GatewayAddress
  readonly token: Secret
  readonly device: string | undefined
  readonly clock: WaitingClock
  /** How long the gateway may take, from the first packet to the session frame, in milliseconds. */
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

export type HandshakeResult =
  | { readonly session: GatewaySession }
  | { readonly failure: string; readonly kind: FailureKind }

/** `timed_out`: the gateway was too slow, and may still open the session on a connection that is closed. */
export type FailureKind = 'token_refused' | 'timed_out' | 'other'

/** Opens a session, or resolves with the reason why it failed. Never rejects, follows no redirection, leaves no socket open. */
export async function openSession(parts: HandshakeParts): Promise<HandshakeResult> {
  const { clock, token, timeoutMs, signal } = parts
  const result = Promise.withResolvers<HandshakeResult>()
  const over = new AbortController()
  const fail: Fail = (failure, kind = 'other') =>
    result.resolve({ failure: withoutToken(failure, token), kind })

  const socket = openSocket(parts)
  socket.on('error', (error) => fail(networkFailure(error)))
  socket.on('unexpected-response', (_request, response) => void readRefusal(response, fail))
  socket.on('close', (code, reason) => {
    fail(closeReason(code, reason.toString()), code === TOKEN_EXPIRED ? 'token_refused' : 'other')
  })
  socket.once('message', (data, isBinary) => {
    const session = greet(parts, socket, isBinary ? '' : textOf(data))
    if (session) result.resolve({ session })
    else fail('no gateway answers there (its first frame is not a session frame)')
  })
  void clock.wait(timeoutMs, AbortSignal.any([signal, over.signal])).then(() => {
    if (signal.aborted) fail('stopped')
    else fail(`no session within ${timeoutMs / SECOND} s`, 'timed_out')
  })

  const outcome = await result.promise
  over.abort()
  if (!('session' in outcome)) socket.terminate()
  return outcome
}

type Fail = (failure: string, kind?: FailureKind) => void

function openSocket({ gateway, token, device }: HandshakeParts): WebSocket {
  const query = device === undefined ? '' : `?device=${encodeURIComponent(device)}`
  return new WebSocket(`${gateway.sessionUrl}${query}`, {
    headers: { authorization: `Bearer ${token.reveal()}` },
    followRedirects: false,
    perMessageDeflate: false,
    maxPayload: MAX_FRAME_BYTES,
  })
}

function greet(parts: HandshakeParts, socket: WebSocket, text: string): GatewaySession | undefined {
  const frame = readFrame(text)
  if (typeof frame === 'string' || frame.type !== 'session') return undefined
  const { virtual_ip: virtualIp, heartbeat_seconds: seconds } = frame
  return new GatewaySession({ ...parts, socket, virtualIp, heartbeatMs: seconds * SECOND })
}

async function readRefusal(response: IncomingMessage, fail: Fail): Promise<void> {
  const status = response.statusCode ?? 0
  let body = ''
  try {
    for await (const chunk of response.setEncoding('utf8')) {
      body += chunk
      if (body.length > MAX_REFUSAL_CHARACTERS) break
    }
  } catch {
    // The status says enough.
  }
  fail(refusalText(status, body), status === 401 ? 'token_refused' : 'other')
}
