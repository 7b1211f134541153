import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

/** What a network can do to a connection. Counts begin with each connection anew. */
export interface Fault {
  /** Nothing gets through, and nobody is told; what was sent arrives when the fault is over. */
  readonly hold?: boolean
  readonly delayMs?: number
  readonly bytesPerSecond?: number
  /** After so many bytes in both directions together the connection is broken. */
  readonly resetAfter?: number
  /** After so many bytes in both directions together the connection ends, as if everything had been said. */
  readonly endAfter?: number
  /** Breaks the connection instead of passing on what the client sends for that time, the first being 1. */
  readonly resetAtRequest?: number
}

/** A way to a local port that can be disturbed while the server behind it goes on. */
export interface FaultProxy extends AsyncDisposable {
  readonly port: number
  /** How many connections were taken so far. */
  readonly taken: number
  /** The most that were open at the same time. */
  readonly mostOpen: number
  /** How many times any client has sent something. */
  readonly requests: number
  /** From now on; without an argument everything is well again. */
  disturb(fault?: Fault): void
  /** Breaks every open connection; new ones are taken. */
  cut(): void
  close(): Promise<void>
}

interface Way {
  readonly near: Socket
  readonly far: Socket
  bytes: number
  requests: number
}

export async function startFaultProxy(target: number): Promise<FaultProxy> {
  const ways = new Set<Way>()
  const counts = { taken: 0, mostOpen: 0, requests: 0 }
  let fault: Fault = {}
  let over = Promise.withResolvers<void>()
  over.resolve()

  const server = createServer((near) => {
    const way: Way = { near, far: connect(target, '127.0.0.1'), bytes: 0, requests: 0 }
    ways.add(way)
    counts.taken += 1
    counts.mostOpen = Math.max(counts.mostOpen, ways.size)
    pump(way, near, way.far)
    pump(way, way.far, near)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')

  function pump(way: Way, from: Socket, to: Socket): void {
    from.setNoDelay(true)
    from.on('data', (chunk) => {
      from.pause()
      void carry(way, Buffer.from(chunk), from, to).then(() => from.resume())
    })
    from.on('end', () => void over.promise.then(() => to.end()))
    from.on('error', () => to.destroy())
    from.on('close', () => {
      ways.delete(way)
      to.destroy()
    })
  }

  async function carry(way: Way, chunk: Buffer, from: Socket, to: Socket): Promise<void> {
    await over.promise
    if (from === way.near) {
      counts.requests += 1
      if (++way.requests === fault.resetAtRequest) return breakOff(way)
    }
    if (fault.delayMs) await pause(fault.delayMs)
    if (fault.bytesPerSecond) await pause((chunk.length / fault.bytesPerSecond) * 1_000)
    await deliver(way, chunk, to)
  }

  async function deliver(way: Way, chunk: Buffer, to: Socket): Promise<void> {
    const limit = fault.resetAfter ?? fault.endAfter ?? Number.POSITIVE_INFINITY
    const part = chunk.subarray(0, Math.max(0, limit - way.bytes))
    way.bytes += chunk.length
    await new Promise<void>((resolve) => to.write(part, () => resolve()))
    if (way.bytes < limit) return
    if (fault.resetAfter !== undefined) breakOff(way)
    else for (const socket of [way.near, way.far]) socket.end()
  }

  const cut = () => ways.forEach(breakOff)
  const close = async () => {
    over.resolve()
    server.close()
    cut()
    await once(server, 'close')
  }
  return {
    port: (server.address() as AddressInfo).port,
    get taken() {
      return counts.taken
    },
    get mostOpen() {
      return counts.mostOpen
    },
    get requests() {
      return counts.requests
    },
    disturb(next = {}) {
      fault = next
      over.resolve()
      if (next.hold) over = Promise.withResolvers()
    },
    cut,
    close,
    [Symbol.asyncDispose]: close,
  }
}

function breakOff({ near, far }: Way): void {
  for (const socket of [near, far]) socket.resetAndDestroy()
}
