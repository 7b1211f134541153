import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { AnswerReader } from './answer-reader.ts'
import { quantile } from './statistics.ts'

/** Stands in a request for a number that no other request of the process has. */
export const SEQUENCE = '{sequence--}'

/** What is requested of a server on this machine, again and again. */
export interface LoadTarget {
  readonly port: number
  /** Further servers: the connections are spread over all. */
  readonly morePorts?: readonly number[]
  readonly connections: number
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** The numbers begin again after so many requests; left out: never. */
  readonly numbers?: number
  /** A body for each connection, instead of one for all. */
  readonly bodies?: readonly string[]
}

/** How one slice of load went. */
export interface Slice {
  /** Requests a second, answered with a status of 2xx or any other. */
  readonly rate: number
  /** From the writing of a request to the last byte of its answer, in milliseconds. */
  readonly p50: number
  readonly p99: number
  /** How many answers had each status. */
  readonly statuses: Readonly<Record<string, number>>
  /** The share of the time for which the load generator itself was busy: near 1 it measures itself. */
  readonly generatorBusy: number
}

/**
 * Keeps `connections` connections busy for that time, each with one request under way: as soon as its answer is
 * there, the next one goes out. A request is prepared once and only its number is written anew, since building
 * requests would take longer than the servers take to answer them.
 */
export async function applyLoad(target: LoadTarget, forMs: number): Promise<Slice> {
  const ports = [target.port, ...(target.morePorts ?? [])]
  const portOf = (connection: number) => ports[connection % ports.length] ?? target.port
  const sockets = await Promise.all(
    Array.from({ length: target.connections }, (_, connection) => openSocket(portOf(connection))),
  )
  const { numbers = Number.MAX_SAFE_INTEGER } = target
  const load: Load = { times: [], statuses: {}, deadline: performance.now() + forMs, numbers }
  const begin = performance.now()
  const idleBefore = performance.eventLoopUtilization()
  await Promise.all(sockets.map((socket, index) => keepBusy(socket, requestBytes(target, index), load)))
  const { utilization } = performance.eventLoopUtilization(idleBefore)
  return sliceOf(load, performance.now() - begin, utilization)
}

interface Load {
  readonly times: number[]
  readonly statuses: Record<string, number>
  readonly deadline: number
  readonly numbers: number
}

function sliceOf({ times, statuses }: Load, tookMs: number, generatorBusy: number): Slice {
  const sorted = Float64Array.from(times).sort()
  return {
    rate: times.length / (tookMs / 1_000),
    p50: quantile(sorted, 0.5),
    p99: quantile(sorted, 0.99),
    statuses,
    generatorBusy,
  }
}

function requestBytes(
  { port, method, path, headers = {}, ...target }: LoadTarget,
  connection: number,
): Buffer {
  const body = target.bodies?.[connection] ?? target.body ?? ''
  const lines = Object.entries({
    host: `127.0.0.1:${port}`,
    ...headers,
    ...(body && { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }),
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`)
}

async function openSocket(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  await once(socket, 'connect')
  return socket
}

/** Resolves after the first answer past the deadline. Rejects when the connection ends before. */
function keepBusy(socket: Socket, request: Buffer, load: Load): Promise<void> {
  const numberAt = request.indexOf(SEQUENCE)
  return new Promise((resolve, reject) => {
    let sentAt = 0
    const send = () => {
      if (numberAt >= 0) request.write(nextNumber(load.numbers), numberAt, 'latin1')
      sentAt = performance.now()
      socket.write(request)
    }
    const reader = new AnswerReader((status) => {
      const now = performance.now()
      load.times.push(now - sentAt)
      load.statuses[status] = (load.statuses[status] ?? 0) + 1
      if (now < load.deadline) return send()
      socket.destroy()
      resolve()
    })
    socket.on('data', (chunk: Buffer) => {
      try {
        reader.read(chunk)
      } catch (error) {
        socket.destroy(error as Error)
      }
    })
    socket.once('error', reject)
    socket.once('close', () => reject(new Error('the server closed a connection under load')))
    send()
  })
}

let lastNumber = 0

function nextNumber(numbers: number): string {
  lastNumber += 1
  return String(lastNumber % numbers).padStart(SEQUENCE.length, '0')
}
