import { once } from 'node:events'
import { createServer, STATUS_CODES, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { WebSocketServer, type WebSocket } from 'ws'
import { ownLoopback } from './loopback.ts'

/** A gateway whose behaviour is scripted by a test. */
export interface GatewayDouble extends AsyncDisposable {
  /** `http://127.….….…:port` */
  readonly url: string
  /** Every request for a session, refused or not. */
  readonly attempts: readonly Pick<IncomingMessage, 'url' | 'headers'>[]
  /** Every session, oldest first, including closed ones. */
  readonly sessions: readonly DoubleSession[]
  /** How often its health was asked for. */
  readonly probes: number
  /** The behaviour from now on; each member has a default. */
  script: GatewayScript
  /** Closes the listener and all connections, as a killed process does; `comeBack` listens on the same port again. */
  vanish(): Promise<void>
  comeBack(): Promise<void>
}

export interface GatewayScript {
  /** Status of `/health`. */
  readonly health?: number
  /** Instead of a session: an answer before the upgrade. */
  readonly refuse?: { readonly status: number; readonly body?: string; readonly location?: string }
  /** Accepts the connection and never sends anything. */
  readonly mute?: boolean
  /** What a session begins with; default: {@link sessionFrame}. */
  readonly greeting?: (session: DoubleSession) => void
}

export interface DoubleSession {
  /** What the client has sent. */
  readonly frames: readonly Record<string, unknown>[]
  /** How the session ended; undefined while it is open. */
  readonly closed: { readonly code: number } | undefined
  send(frame: object | string | Buffer): void
  close(code: number, reason?: string): void
  /** Closes the connection without a close frame. */
  drop(): void
  /** Stops reading, so that not even a close frame is received. */
  freeze(): void
  /** Sends these bytes instead of a frame. */
  sendRaw(bytes: Buffer): void
}

/** The first frame of a session; an hour between heartbeats, unless the test is about them. */
export function sessionFrame(fields: object = {}): object {
  return {
    type: 'session',
    session_id: '01a1fc32-6e14-7a5d-81c4-96a4743caa54',
    virtual_ip: '100.64.0.2',
    prefix_length: 16,
    heartbeat_seconds: 3_600,
    gateway: 'double',
    user: { id: 'ada', name: 'ada', roles: ['service'] },
    ...fields,
  }
}

export async function startGatewayDouble(script: GatewayScript = {}): Promise<GatewayDouble> {
  const attempts: Pick<IncomingMessage, 'url' | 'headers'>[] = []
  const sessions: DoubleSession[] = []
  const sockets = new Set<Duplex>()
  const webSockets = new WebSocketServer({ noServer: true })
  let probes = 0

  const server = createServer((_request, response) => {
    probes += 1
    response.writeHead(double.script.health ?? 200, { connection: 'close' }).end('{}')
  })
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.on('upgrade', (request: IncomingMessage, socket, head) => {
    attempts.push({ url: request.url, headers: request.headers })
    socket.on('error', () => undefined)
    const { refuse, mute = false, greeting = (session) => session.send(sessionFrame()) } = double.script
    if (refuse) return void socket.end(refusalText(refuse))
    if (mute) return
    webSockets.handleUpgrade(request, socket, head, (webSocket) => {
      const session = doubleSession(webSocket, socket)
      sessions.push(session)
      greeting(session)
    })
  })

  const host = ownLoopback()
  const listen = async (port: number) => {
    server.listen(port, host)
    await once(server, 'listening')
    return (server.address() as AddressInfo).port
  }
  const vanish = async () => {
    if (!server.listening) return
    const closed = once(server, 'close')
    server.close()
    for (const socket of sockets) socket.destroy()
    await closed
  }
  const double: GatewayDouble = {
    url: '',
    attempts,
    sessions,
    get probes() {
      return probes
    },
    script,
    vanish,
    async comeBack() {
      await listen(port)
    },
    [Symbol.asyncDispose]: vanish,
  }
  const port = await listen(0)
  return Object.assign(double, { url: `http://${host}:${port}` })
}

function doubleSession(webSocket: WebSocket, socket: Duplex): DoubleSession {
  const frames: Record<string, unknown>[] = []
  let closed: { readonly code: number } | undefined
  webSocket.on('message', (data: Buffer) => {
    frames.push(JSON.parse(data.toString()) as Record<string, unknown>)
  })
  webSocket.on('error', () => undefined)
  webSocket.on('close', (code) => (closed = { code }))
  return {
    frames,
    get closed() {
      return closed
    },
    send(frame) {
      const isPlain = typeof frame === 'string' || Buffer.isBuffer(frame)
      webSocket.send(isPlain ? frame : JSON.stringify(frame))
    },
    close: (code, reason) => webSocket.close(code, reason),
    freeze: () => webSocket.pause(),
    drop: () => webSocket.terminate(),
    sendRaw: (bytes) => void socket.write(bytes),
  }
}

function refusalText({ status, body = '', location }: NonNullable<GatewayScript['refuse']>): string {
  const headers = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    ...(location === undefined ? [] : [`Location: ${location}`]),
  ]
  return `${headers.join('\r\n')}\r\n\r\n${body}`
}
