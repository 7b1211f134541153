import { connect, isIP, type Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import {
  NatsConnectionImpl,
  setTransportFactory,
  type ConnectionOptions,
  type NatsConnection,
} from '@nats-io/transport-node'
import { NodeTransport, nodeResolveHost } from '@nats-io/transport-node/lib/node_transport.js'
import { decodeUrlPart } from '../../kernel/text.ts'

/**
 * Connects as the client's `connect` does, but ends the connection to a server that exceeds the limits of the protocol.
 * The client itself keeps what it cannot parse yet, without a limit, and parses it again with every chunk.
 */
export function connectLimited(options: ConnectionOptions): Promise<NatsConnection> {
  setTransportFactory({ factory: () => new LimitedTransport(), dnsResolveFn: nodeResolveHost })
  return NatsConnectionImpl.connect(options)
}

class LimitedTransport extends NodeTransport {
  override async dial(server: { hostname: string; port: number }): Promise<Socket> {
    return withLimits(await super.dial(server))
  }

  override async startTLS(): Promise<TLSSocket> {
    return withLimits(await super.startTLS())
  }

  /** The client stops reading after a protocol error, but would leave the connection open. */
  override async *iterate(): AsyncIterableIterator<Uint8Array> {
    try {
      yield* super.iterate()
    } finally {
      void this.close(new Error('the server violated the protocol'))
    }
  }

  /** The client would leave the socket open if the server has not sent its greeting in time. */
  override async close(error?: Error): Promise<void> {
    if (this.connected) await super.close(error)
    else this.discard()
  }
}

/** Checks the bytes before any listener gets them: the client replaces its listeners. */
function withLimits<S extends Socket>(socket: S): S {
  const limits = new ProtocolLimits()
  const push = socket.push.bind(socket)
  socket.push = (chunk: Buffer | null, encoding) => {
    const problem = chunk === null ? undefined : limits.check(chunk)
    if (problem === undefined) return push(chunk, encoding)
    socket.destroy(new Error(problem))
    return false
  }
  return socket
}

const GREETING_MS = 3_000

/**
 * Resolves once the server has sent its greeting; rejects with the reason otherwise.
 *
 * A first connect of the client cannot be aborted. If a server accepts connections but sends nothing (a stopped
 * process, a load balancer without a backend), the client would delay a shutdown; this connection does not.
 */
export function awaitGreeting(server: BusServer, signal: AbortSignal): Promise<void> {
  const greeting = Promise.withResolvers<void>()
  const limit = AbortSignal.any([signal, AbortSignal.timeout(GREETING_MS)])
  const socket = connect({ host: server.host, port: server.port })
  let isResolved = isIP(server.host) !== 0
  socket.once('lookup', () => (isResolved = true))
  const rejectLate = () =>
    greeting.reject(new Error(lateReason(server, { isResolved, isOpen: !socket.connecting })))
  socket.once('data', () => greeting.resolve())
  socket.once('error', (error: NodeJS.ErrnoException) => {
    // A host name with several addresses gives one error for all, without a message.
    greeting.reject(
      new Error(`${server.address} cannot be reached: ${error.code ?? error.message}`, { cause: error }),
    )
  })
  socket.once('end', () =>
    greeting.reject(new Error(`${server.address} closed the connection without a greeting`)),
  )
  limit.addEventListener('abort', rejectLate, { once: true })
  if (limit.aborted) rejectLate()
  return greeting.promise.finally(() => {
    limit.removeEventListener('abort', rejectLate)
    socket.destroy()
  })
}

interface Progress {
  readonly isResolved: boolean
  readonly isOpen: boolean
}

/** What somebody has to look at differs: the name service, the network, or what listens there. */
function lateReason({ address, host }: BusServer, { isResolved, isOpen }: Progress): string {
  const late = `within ${GREETING_MS / 1_000} s`
  if (!isResolved) return `the name ${host} is not resolved ${late}`
  return isOpen ? `no greeting from ${address} ${late}` : `no connection to ${address} ${late}`
}

/** A configured server, parsed so that no credential can reach a log line. */
export interface BusServer {
  /** Scheme, host and port; safe to print. */
  readonly address: string
  readonly host: string
  readonly port: number
  readonly credentials: Pick<ConnectionOptions, 'user' | 'pass' | 'token'>
  readonly tls: boolean
}

const DEFAULT_PORT = 4222

/** Reads `nats://host:port` or `tls://…`, with `user:password@` or `token@`; throws otherwise. */
export function parseServer(text: string): BusServer {
  const url = readUrl(text)
  const port = Number(url.port || DEFAULT_PORT)
  return {
    address: `${url.protocol}//${url.hostname}:${port}`,
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port,
    credentials: credentialsOf(url),
    tls: url.protocol === 'tls:',
  }
}

function readUrl(text: string): URL {
  const url = URL.parse(text.includes('://') ? text : `nats://${text}`)
  if (!url?.hostname || !['nats:', 'tls:'].includes(url.protocol)) {
    // The message must not contain the text: it may have a password.
    throw new Error('a bus server must have the form nats://host:port or tls://host:port')
  }
  return url
}

function credentialsOf(url: URL): BusServer['credentials'] {
  if (url.username === '') return {}
  const user = decodeUrlPart(url.username)
  return url.password === '' ? { token: user } : { user, pass: decodeUrlPart(url.password) }
}

/** Only a broken server sends longer lines: its own limit is 4 KiB, and INFO lists at most some hundred URLs. */
export const MAX_LINE_BYTES = 64 * 1_024

/** The server's documentation advises against a larger `max_payload`; the default is 1 MiB. */
export const MAX_PAYLOAD_BYTES = 8 * 1_024 * 1_024

const LINE_TOO_LONG = `the server sent a line of more than ${MAX_LINE_BYTES} bytes`
const PAYLOAD_TOO_LARGE = `the server announced a message of more than ${MAX_PAYLOAD_BYTES} bytes`
const PROTOCOL_VIOLATION = 'the server violated the protocol of NATS'

const VERBS = ['INFO', 'MSG', 'HMSG', 'PING', 'PONG', '+OK', '-ERR']
const LONGEST_VERB = 4
const ANNOUNCES_PAYLOAD = /^H?MSG[ \t]/i
const LINE_FEED = 10

/**
 * Follows the server's side of the NATS protocol and counts the bytes of the element that is not complete yet, which
 * the client has to keep (https://docs.nats.io/reference/reference-protocols/nats-protocol).
 */
export class ProtocolLimits {
  #line: Buffer[] = []
  #lineBytes = 0
  #beginning = ''
  #payloadBytes = 0

  /** Takes the next bytes; returns what is wrong with them, if anything. */
  check(chunk: Buffer): string | undefined {
    let at = 0
    while (at < chunk.length) {
      at += this.#skipPayload(chunk.length - at)
      const end = chunk.indexOf(LINE_FEED, at)
      this.#append(chunk.subarray(at, end === -1 ? chunk.length : end))
      const problem = this.#lineProblem()
      if (problem !== undefined || end === -1) return problem
      this.#endLine()
      if (this.#payloadBytes > MAX_PAYLOAD_BYTES) return PAYLOAD_TOO_LARGE
      at = end + 1
    }
    return undefined
  }

  #skipPayload(available: number): number {
    const skipped = Math.min(this.#payloadBytes, available)
    this.#payloadBytes -= skipped
    return skipped
  }

  #append(part: Buffer): void {
    if (part.length === 0) return
    this.#line.push(part)
    this.#lineBytes += part.length
    const missing = LONGEST_VERB - this.#beginning.length
    if (missing > 0) this.#beginning += part.toString('latin1', 0, missing)
  }

  #lineProblem(): string | undefined {
    if (this.#lineBytes > MAX_LINE_BYTES) return LINE_TOO_LONG
    return isBeginning(this.#beginning) ? undefined : PROTOCOL_VIOLATION
  }

  #endLine(): void {
    const line = Buffer.concat(this.#line, this.#lineBytes).toString('latin1')
    this.#payloadBytes = announcedBytes(line)
    this.#line = []
    this.#lineBytes = 0
    this.#beginning = ''
  }
}

/** Whether a line can begin like this. It may be empty: a line end follows each payload. */
function isBeginning(beginning: string): boolean {
  const start = beginning.toUpperCase()
  return start === '\r' || VERBS.some((verb) => verb.startsWith(start) || start.startsWith(verb))
}

/** `MSG` and `HMSG` end with the number of bytes that follow. */
function announcedBytes(line: string): number {
  if (!ANNOUNCES_PAYLOAD.test(line)) return 0
  const trimmed = line.trimEnd()
  const last = trimmed.slice(Math.max(trimmed.lastIndexOf(' '), trimmed.lastIndexOf('\t')) + 1)
  return /^\d+$/.test(last) ? Number(last) : 0
}
