import { connect, type Socket } from 'node:net'
import { signToken } from './tokens.ts'

/** A server of WebSockets on this machine, and how a connection to it is opened. */
export interface SocketTarget {
  readonly port: number
  /** Ports of further servers: connections take the ports in turn. */
  readonly morePorts?: readonly number[]
  readonly path: string
  /** The beginning of the frame that says that the connection is open. */
  readonly openedBy: string
  /** The answers to frames with these beginnings. */
  readonly replies?: readonly { readonly to: string; readonly text: string }[]
}

/** Connections take these users in turn; each connection has a token of its own. */
export const USERS = 10_000

export function userId(number: number): string {
  return `bench-${String(number).padStart(5, '0')}`
}

let connections = 0

/**
 * A minimal client of WebSockets: its frames are prepared and masked with zeros, so that it takes little processor time
 * from the server that it measures. It answers heartbeats, both pings and frames of the gateway.
 */
export class ClientSocket {
  /** Called with every text but heartbeats, once the connection is open. */
  onText: (text: string) => void = () => {}
  readonly #socket: Socket
  readonly #target: SocketTarget
  readonly #opened = Promise.withResolvers<void>()
  #rest: Buffer = Buffer.alloc(0)
  #isUpgraded = false
  #isOpen = false

  constructor(target: SocketTarget) {
    this.#target = target
    // When one connection fails, nothing waits for the other ones any more.
    this.#opened.promise.catch(() => {})
    const ports = [target.port, ...(target.morePorts ?? [])]
    const port = ports[connections % ports.length] ?? target.port
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true })
    this.#socket.on('data', (chunk: Buffer) => this.#read(chunk))
    this.#socket.once('error', (error) => this.#opened.reject(error))
    this.#socket.once('close', () => this.#opened.reject(new Error('the server closed a connection')))
    this.#socket.write(upgradeRequest(target))
  }

  /** Rejects when the connection is refused, or ends before it is open. */
  get opened(): Promise<void> {
    return this.#opened.promise
  }

  get isAlive(): boolean {
    return this.#isOpen && !this.#socket.destroyed
  }

  write(frame: Buffer): void {
    this.#socket.write(frame)
  }

  onceClosed(listener: () => void): void {
    this.#socket.once('close', listener)
  }

  /** Resets the connection, without a closing handshake; the port is free at once. */
  drop(): void {
    this.#socket.resetAndDestroy()
  }

  #read(chunk: Buffer): void {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    if (!this.#isUpgraded) this.#readAnswer()
    if (this.#isUpgraded) this.#readFrames()
  }

  #readAnswer(): void {
    const end = this.#rest.indexOf('\r\n\r\n')
    if (end < 0) return
    this.#isUpgraded = this.#rest.toString('latin1', 9, 12) === '101'
    if (!this.#isUpgraded)
      this.#opened.reject(new Error(`no WebSocket was opened:\n${this.#rest.toString()}`))
    this.#rest = this.#rest.subarray(end + 4)
  }

  #readFrames(): void {
    for (let frame = frameOf(this.#rest); frame; frame = frameOf(this.#rest)) {
      this.#rest = this.#rest.subarray(frame.size)
      if (frame.opcode === PING) this.#socket.write(maskedFrame(PONG, frame.payload))
      if (frame.opcode === TEXT) this.#receive(frame.payload.toString())
    }
  }

  #receive(text: string): void {
    const beat = HEARTBEAT.exec(text)
    if (beat) return this.write(textFrame(`{"type":"heartbeat_ack","seq":${beat[1]}}`))
    if (this.#isOpen) return this.onText(text)
    const { openedBy, replies = [] } = this.#target
    const reply = replies.find(({ to }) => text.startsWith(to))
    if (reply) this.write(textFrame(reply.text))
    if (!text.startsWith(openedBy)) return
    this.#isOpen = true
    this.#opened.resolve()
  }
}

function upgradeRequest({ port, path }: SocketTarget): string {
  const token = signToken(userId(connections++ % USERS))
  return [
    `GET ${path} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
    `Authorization: Bearer ${token}\r\n\r\n`,
  ].join('\r\n')
}

// RFC 6455, section 5.2
const TEXT = 1
const PING = 9
const PONG = 10
const FINAL = 0x80
const MASKED = 0x80
const TWO_BYTES = 126
const HEARTBEAT = /^\{"type":"heartbeat","seq":(\d+)/

/** A text frame of a client. */
export function textFrame(text: string): Buffer {
  return maskedFrame(TEXT, Buffer.from(text))
}

function maskedFrame(opcode: number, payload: Buffer): Buffer {
  const { length } = payload
  const size = length < TWO_BYTES ? [MASKED | length] : [MASKED | TWO_BYTES, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([FINAL | opcode, ...size, 0, 0, 0, 0]), payload])
}

/** The first frame of a server; undefined as long as it is not complete. */
function frameOf(data: Buffer): { opcode: number; payload: Buffer; size: number } | undefined {
  if (data.length < 2) return undefined
  const [first = 0, short = 0] = data
  if (short > TWO_BYTES) throw new Error('a frame of 64 KiB or more is not read here')
  const start = short === TWO_BYTES ? 4 : 2
  if (data.length < start) return undefined
  const size = start + (short === TWO_BYTES ? data.readUInt16BE(2) : short)
  if (data.length < size) return undefined
  return { opcode: first & 0x0f, payload: data.subarray(start, size), size }
}
