import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

const JSON_BODY = 'Content-Type: application/json\r\n'

type Leave = (socket: Socket) => unknown

const END: Leave = (socket) => socket.end()
const RESET: Leave = (socket) => socket.resetAndDestroy()

/** What a client sends before it leaves; `headers` name an identity. */
const BROKEN: Readonly<Record<string, (headers: string) => string>> = {
  nothing: () => '',
  'the half of a head': (headers) => `GET /orders HTTP/1.1\r\n${headers}`,
  'the half of a body': (headers) => post(headers, 'Content-Length: 100', '{"order_id":"a",'),
  'the half of a chunk': (headers) => post(headers, 'Transfer-Encoding: chunked', '64\r\n{"order'),
  'a chunk of no size': (headers) => post(headers, 'Transfer-Encoding: chunked', 'size\r\n{}'),
  'no HTTP': () => '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  'no HTTP behind a request': (headers) => `${get('/orders', headers)}%%%\r\n\r\n`,
  'many requests': (headers) => get('/orders', headers).repeat(500),
  'a request': (headers) => get('/orders', headers),
  'a body that is too large': (headers) => post(headers, 'Content-Length: 99999999', '{"order_id":'),
  'a body without an identity': () => post('Host: localhost\r\n', 'Content-Length: 100', '{"order_id":'),
  'the half of a login': () => login('Content-Length: 100', '{"username":'),
  'a stream': (headers) => get('/events', headers),
  'a tunnel': () => 'CONNECT example.org:443 HTTP/1.1\r\nHost: localhost\r\n\r\n',
  'an upgrade': () =>
    'GET /vpn HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
}

function get(path: string, headers: string): string {
  return `GET ${path} HTTP/1.1\r\n${headers}\r\n`
}

function post(headers: string, framing: string, body: string): string {
  return `POST /orders HTTP/1.1\r\n${headers}${JSON_BODY}${framing}\r\n\r\n${body}`
}

function login(framing: string, body: string): string {
  return `POST /auth/login HTTP/1.1\r\nHost: localhost\r\n${JSON_BODY}${framing}\r\n\r\n${body}`
}

/** A hundred clients, each of which breaks something off and leaves. Resolves when all have left. */
export async function breakClients(url: string, headers: string): Promise<void> {
  const clients = Object.values(BROKEN).flatMap((send) =>
    [END, RESET].flatMap((leave) => Array.from({ length: 4 }, () => breakClient(url, send(headers), leave))),
  )
  await Promise.all(clients)
}

async function breakClient(url: string, bytes: string, leave: Leave): Promise<void> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => undefined)
  const closed = new Promise((resolve) => socket.once('close', resolve))
  await once(socket, 'connect')
  const sent = Promise.withResolvers<void>()
  socket.write(bytes, 'latin1', () => sent.resolve())
  await sent.promise
  leave(socket)
  socket.resume()
  await closed
}

/** The sum of `http_client_faults_total`. */
export function clientFaults(metrics: string): number {
  const counts = metrics.matchAll(/^platform_http_client_faults_total\{.*\} (\d+)$/gm)
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0)
}
