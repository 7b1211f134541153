import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'

/**
 * A random loopback address, for a server that is restarted on the same port: on 127.0.0.1 another process could have
 * taken the port meanwhile.
 */
export function ownLoopback(): string {
  return `127.${randomInt(1, 255)}.${randomInt(256)}.${randomInt(1, 255)}`
}

/** A port of 127.0.0.1 on which nothing listens, for a server that starts later. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
