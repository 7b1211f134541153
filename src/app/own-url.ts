import type { ListenAddress } from '../config/address-types.ts'

/** The URL at which this server reaches a listener of its own. */
export function ownUrl({ host, port }: ListenAddress): string {
  const local = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `http://${local.includes(':') ? `[${local}]` : local}:${port}`
}
