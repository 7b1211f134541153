import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { ConnectionOptions, NatsConnection } from '@nats-io/transport-node'
import { NatsConnectionImpl, setTransportFactory } from '@nats-io/transport-node'
import { NodeTransport, nodeResolveHost } from '@nats-io/transport-node/lib/node_transport.js'
import { ProtocolLimits } from './protocol-limits.ts'

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
