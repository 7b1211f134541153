import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { json } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { startDns } from './dns.ts'
import { freePort } from './loopback.ts'

/** The only network that the platform may call. */
export const RECEIVERS_NETWORK = '127.0.0.0/16'
// Outside of it.
const PRIVATE_ADDRESS = '127.77.0.1'
const SLOW_MS = 200
const LARGE_BYTES = 50 * 1_024 * 1_024
const PIECE = Buffer.alloc(65_536, 'x')

/** What an endpoint does with a call that it has read. */
const ANSWERS = {
  healthy: (response) => void response.writeHead(204).end(),
  slow: async (response) => {
    await pause(SLOW_MS)
    response.writeHead(204).end()
  },
  large: sendLargeBody,
  hanging: () => undefined,
  refusing: () => undefined,
  redirecting: (response) => void response.writeHead(307, { location: '/elsewhere/1' }).end(),
  rebinding: (response) => void response.writeHead(204, { connection: 'close' }).end(),
  gone: (response) => void response.writeHead(410).end(),
  elsewhere: (response) => void response.writeHead(204).end(),
} as const satisfies Record<string, (response: ServerResponse) => void | Promise<void>>

/** `refusing`: nothing listens. `rebinding`: the second address of its name, and each one after it, is a private one. */
export type ReceiverKind = Exclude<keyof typeof ANSWERS, 'elsewhere'>

/** An event at an endpoint. */
export interface ReceivedEvent {
  readonly id: string
  /** What it is about. */
  readonly subject: string
}

export interface WebhookReceivers extends AsyncDisposable {
  url(kind: ReceiverKind, number: number): string
  /** What has arrived at the endpoint, in its order. */
  received(kind: ReceiverKind, number: number): readonly ReceivedEvent[]
  /** Calls that no endpoint may get: those that follow a redirect, and connections to a private address. */
  strayCalls(): number
  /** How often the name of `rebinding` had a private address. */
  privateAnswers(): number
  /** A nameserver for the name of `rebinding`. */
  readonly nameServer: string
}

/** Endpoints of webhooks on this host. `onCall` is called when a `healthy` one has read a call and not answered it yet. */
export async function startWebhookReceivers(onCall: () => void): Promise<WebhookReceivers> {
  await using stack = new AsyncDisposableStack()
  const received = new Map<string, ReceivedEvent[]>()
  let connections = 0
  let privateAnswers = 0
  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    const path = request.url ?? ''
    const { id, subject } = (await json(request)) as ReceivedEvent
    received.getOrInsertComputed(path, () => []).push({ id, subject })
    const kind = path.split('/')[1] as keyof typeof ANSWERS
    if (kind === 'healthy') onCall()
    await ANSWERS[kind](response)
  }
  const server = createServer(
    (request, response) => void receive(request, response).catch(() => request.destroy()),
  )
  const port = await listen(stack, server, '127.0.0.1')
  await listen(
    stack,
    createServer().on('connection', () => connections++),
    PRIVATE_ADDRESS,
    port,
  )
  const closedPort = await freePort()
  let asked = 0
  const dns = await startDns(({ label, isForIpv4 }, answer) => {
    if (label !== 'rebinding' || !isForIpv4) return answer()
    const isPrivate = asked++ > 0
    if (isPrivate) privateAnswers++
    answer(isPrivate ? PRIVATE_ADDRESS : '127.0.0.1')
  })
  stack.use(dns)
  const opened = stack.move()
  return {
    url: (kind, number) => {
      const host = kind === 'rebinding' ? 'rebinding.example' : '127.0.0.1'
      return `http://${host}:${kind === 'refusing' ? closedPort : port}/${kind}/${number}`
    },
    received: (kind, number) => received.get(`/${kind}/${number}`) ?? [],
    strayCalls: () => connections + (received.get('/elsewhere/1')?.length ?? 0),
    privateAnswers: () => privateAnswers,
    nameServer: dns.server,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

async function listen(
  stack: AsyncDisposableStack,
  server: ReturnType<typeof createServer>,
  host: string,
  port = 0,
): Promise<number> {
  server.listen(port, host)
  await once(server, 'listening')
  stack.defer(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

function sendLargeBody(response: ServerResponse): Promise<void> {
  response.writeHead(200)
  return pipeline(Readable.from(Array<Buffer>(LARGE_BYTES / PIECE.length).fill(PIECE)), response)
}
