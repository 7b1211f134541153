import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { test, type TestContext } from 'node:test'
import { createNatsBus } from '../../src/infra/bus/nats.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import type { LogFields, Logger } from '../../src/kernel/logger.ts'
import { noMetrics } from '../../src/kernel/metrics.ts'
import { eventually } from '../support/eventually.ts'

const GREETING = 'INFO {"server_id":"x","version":"2.10.0","headers":true,"max_payload":1048576}\r\n'
const CHUNK = Buffer.alloc(64 * 1_024, 'x')
const CHUNKS = 800
const MAX_CPU_US = 2_000_000

function* longLine(beginning: string): Generator<string | Buffer> {
  yield beginning
  for (let sent = 0; sent < CHUNKS; sent++) yield CHUNK
  yield '\r\n'
}

/** Sends 50 MB, as fast as the receiver reads; the receiver may close the connection. */
function flood(socket: Socket, beginning: string): void {
  pipeline(longLine(beginning), socket).catch(() => undefined)
}

/** A server that greets, answers the first ping, and then sends what it likes. */
function afterHandshake(send: (socket: Socket) => unknown): (socket: Socket) => void {
  return (socket) => {
    socket.write(GREETING)
    socket.once('data', () => {
      socket.write('PONG\r\n')
      send(socket)
    })
  }
}

async function startServer(t: TestContext, serve: (socket: Socket) => unknown): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    serve(socket)
  }).listen(0, '127.0.0.1')
  t.after(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  await once(server, 'listening')
  return `nats://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Connects a bus; `reasons` are why it could not, or why it was disconnected. */
function openBus(t: TestContext, url: string): { reasons: unknown[] } {
  const reasons: unknown[] = []
  const note = (fields: LogFields) => void reasons.push(fields['reason'])
  const logger: Logger = { error: note, warn: note, info: note, debug: note, child: () => logger }
  const bus = createNatsBus({
    servers: [url],
    name: 'test',
    streamSubjects: ['order.>'],
    clock: systemClock,
    logger,
    metrics: noMetrics,
  })
  t.after(() => bus.close())
  return { reasons }
}

const TOO_LONG = /a line of more than 65536 bytes/
const CASES: readonly [string, (socket: Socket) => unknown, RegExp][] = [
  ['greets without a line feed', (socket) => flood(socket, 'INFO '), TOO_LONG],
  ['greets with an INFO of 50 MB', (socket) => flood(socket, 'INFO {"server_id":"'), TOO_LONG],
  ['sends an INFO of 50 MB later', afterHandshake((socket) => flood(socket, 'INFO {"x":"')), TOO_LONG],
  ['sends an error of 50 MB', afterHandshake((socket) => flood(socket, "-ERR '")), TOO_LONG],
  [
    'announces a message of 1 GB',
    afterHandshake((socket) => flood(socket, 'MSG a 1 1000000000\r\n')),
    /a message of more than 8388608 bytes/,
  ],
  [
    'sends a line that is not part of the protocol',
    afterHandshake((socket) => flood(socket, 'XYZ\r\n')),
    /violated the protocol/,
  ],
  [
    'sends a message line without its fields',
    afterHandshake((socket) => socket.write('MSG\r\n')),
    /violated the protocol/,
  ],
]

for (const [what, serve, reason] of CASES) {
  test(`the connection to a server that ${what} is closed before much of it is read`, async (t) => {
    const url = await startServer(t, serve)
    const before = process.cpuUsage()
    const { reasons } = openBus(t, url)
    await eventually('the reason', () => reasons.some((each) => reason.test(String(each))))
    // Time of the processor: how long the event loop is blocked depends on what else runs on the machine.
    const { user, system } = process.cpuUsage(before)
    assert.ok(user + system < MAX_CPU_US, `${(user + system) / 1_000} ms of processor time`)
  })
}
