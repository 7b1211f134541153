import { randomInt } from 'node:crypto'

/**
 * An address of this machine that nobody else uses, for a server that goes away and comes back on its port: on
 * 127.0.0.1 another test's server or an outgoing connection may have been given the port meanwhile.
 */
export function ownLoopback(): string {
  return `127.${randomInt(1, 255)}.${randomInt(256)}.${randomInt(1, 255)}`
}
