import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * A random loopback address, for a server that is restarted on the same port: on 127.0.0.1 another process could have
 * taken the port meanwhile.
 */
export function ownLoopback(): string {
  return `127.${randomInt(1, 255)}.${randomInt(256)}.${randomInt(1, 255)}`
}

// Below the ports that systems give to port 0 and to outgoing connections (RFC 6335: 49152 and more, Linux: 32768).
const LOWEST_PORT = 10_000
const HIGHEST_PORT = 32_000

/** A port of 127.0.0.1 on which nothing listens, for a server that starts later. No other program gets it by chance. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST_PORT, HIGHEST_PORT)
    const server = createServer()
    const isFree = new Promise<boolean>((resolve) => {
      server.once('listening', () => resolve(true)).once('error', () => resolve(false))
    })
    server.listen(port, '127.0.0.1')
    if (!(await isFree)) continue
    server.close()
    await once(server, 'close')
    return port
  }
}
