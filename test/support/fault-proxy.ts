import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

/** A network fault. Bytes and requests are counted for each connection separately. */
export interface Fault {
  /** Holds all data without closing the connection, and delivers it when the fault ends. */
  readonly hold?: boolean
  readonly delayMs?: number
  readonly bytesPerSecond?: number
  /** Resets the connection after this number of bytes, both directions together. */
  readonly resetAfter?: number
  /** Ends the connection in an orderly way after this number of bytes, both directions together. */
  readonly endAfter?: number
  /** Resets the connection instead of forwarding the client's n-th chunk; the first is 1. */
  readonly resetAtRequest?: number
}

/** A TCP proxy to a local port that injects network faults. */
export interface FaultProxy extends AsyncDisposable {
  readonly port: number
  /** The number of connections accepted so far. */
  readonly taken: number
  /** The maximum number of connections that were open at the same time. */
  readonly mostOpen: number
  /** The number of chunks that clients have sent. */
  readonly requests: number
  /** Applies a fault to all connections, present and new; without an argument it ends the fault. */
  disturb(fault?: Fault): void
  /** Resets every open connection; new ones are accepted. */
  cut(): void
  close(): Promise<void>
}

interface Link {
  readonly near: Socket
  readonly far: Socket
  bytes: number
  requests: number
}

export async function startFaultProxy(target: number): Promise<FaultProxy> {
  const links = new Set<Link>()
  const counts = { taken: 0, mostOpen: 0, requests: 0 }
  let fault: Fault = {}
  let over = Promise.withResolvers<void>()
  over.resolve()

  const server = createServer((near) => {
    const link: Link = { near, far: connect(target, '127.0.0.1'), bytes: 0, requests: 0 }
    links.add(link)
    counts.taken += 1
    counts.mostOpen = Math.max(counts.mostOpen, links.size)
    pump(link, near, link.far)
    pump(link, link.far, near)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')

  function pump(link: Link, from: Socket, to: Socket): void {
    from.setNoDelay(true)
    from.on('data', (chunk) => {
      from.pause()
      void carry(link, Buffer.from(chunk), from, to).then(() => from.resume())
    })
    from.on('end', () => void over.promise.then(() => to.end()))
    from.on('error', () => to.destroy())
    from.on('close', () => {
      links.delete(link)
      to.destroy()
    })
  }

  async function carry(link: Link, chunk: Buffer, from: Socket, to: Socket): Promise<void> {
    await over.promise
    if (from === link.near) {
      counts.requests += 1
      if (++link.requests === fault.resetAtRequest) return breakOff(link)
    }
    if (fault.delayMs) await pause(fault.delayMs)
    if (fault.bytesPerSecond) await pause((chunk.length / fault.bytesPerSecond) * 1_000)
    await deliver(link, chunk, to)
  }

  async function deliver(link: Link, chunk: Buffer, to: Socket): Promise<void> {
    const limit = fault.resetAfter ?? fault.endAfter ?? Number.POSITIVE_INFINITY
    const part = chunk.subarray(0, Math.max(0, limit - link.bytes))
    link.bytes += chunk.length
    await new Promise<void>((resolve) => to.write(part, () => resolve()))
    if (link.bytes < limit) return
    if (fault.resetAfter !== undefined) breakOff(link)
    else for (const socket of [link.near, link.far]) socket.end()
  }

  const cut = () => links.forEach(breakOff)
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

function breakOff({ near, far }: Link): void {
  for (const socket of [near, far]) socket.resetAndDestroy()
}
