import type { IncomingMessage } from 'node:http'
import { WebSocket, type ClientOptions } from 'ws'
import { eventually } from '../../support/eventually.ts'

export const PATIENT = { timeoutMs: 120_000 }

export interface Frame {
  readonly type: string
  readonly [field: string]: unknown
}

export interface Closing {
  readonly code: number
  readonly reason: string
}

/** A client that sends only what the test sends. */
export interface GatewaySocket {
  readonly socket: WebSocket
  /** Everything that has come, in order. */
  readonly frames: readonly Frame[]
  send(frame: unknown): void
  /** Waits for the first frame of a type, or with these fields. */
  frame(type: string, fields?: Readonly<Record<string, unknown>>): Promise<Frame>
  /** Waits for the end. */
  readonly closed: Promise<Closing>
}

/** A refusal in plain HTTP. */
export interface Refused {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: { readonly code: string; readonly message: string }
}

export interface ConnectOptions extends Pick<ClientOptions, 'headers' | 'origin'> {
  readonly token?: string
  readonly query?: string
  readonly protocols?: readonly string[]
}

/** Connects, and waits for the session frame or the refusal. */
export async function connect(url: string, options: ConnectOptions = {}): Promise<GatewaySocket | Refused> {
  const { token, query = '', protocols = [], headers, ...others } = options
  const socket = new WebSocket(`${url.replace('http', 'ws')}/vpn${query}`, [...protocols], {
    headers: { ...headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) },
    perMessageDeflate: false,
    ...others,
  })
  const frames: Frame[] = []
  const outcome = Promise.withResolvers<GatewaySocket | Refused>()
  const closed = new Promise<Closing>((resolve) => {
    socket.on('close', (code, reason) => resolve({ code, reason: reason.toString() }))
  })
  const frame: GatewaySocket['frame'] = (type, fields = {}) =>
    eventually(
      `a frame ${type} ${JSON.stringify(fields)}`,
      () => frames.find((each) => each.type === type && hasFields(each, fields)),
      PATIENT,
    )
  const send = (value: unknown) => socket.send(JSON.stringify(value))
  socket.on('message', (data: Buffer) => {
    frames.push(JSON.parse(data.toString()) as Frame)
    outcome.resolve({ socket, frames, closed, frame, send })
  })
  socket.on('error', (error) => outcome.reject(error))
  socket.on('unexpected-response', (_request, response) => {
    readRefusal(response)
      .then(outcome.resolve, outcome.reject)
      .finally(() => socket.terminate())
  })
  return outcome.promise
}

async function readRefusal(response: IncomingMessage): Promise<Refused> {
  const text = Buffer.concat(await response.toArray()).toString()
  const { statusCode: status = 0, headers } = response
  return { status, headers, body: JSON.parse(text) as Refused['body'] }
}

function hasFields(frame: Frame, fields: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(fields).every(([name, value]) => frame[name] === value)
}

/** A session; fails when it is refused. */
export async function openSession(url: string, options: ConnectOptions = {}): Promise<GatewaySocket> {
  const answer = await connect(url, options)
  if ('status' in answer)
    throw new Error(`refused: ${answer.status} ${answer.body.code} ${answer.body.message}`)
  return answer
}

/** A refusal; fails when there is a session. */
export async function refusedBy(url: string, options: ConnectOptions = {}): Promise<Refused> {
  const answer = await connect(url, options)
  if ('status' in answer) return answer
  answer.socket.terminate()
  throw new Error('the gateway opened a session')
}
