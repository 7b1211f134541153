import { randomBytes } from 'node:crypto'

const LOOPBACK = /^(?:127\.\d+\.\d+\.\d+|\[::1\]|localhost)$/

/**
 * The last part of an address for callbacks, which names the channel; undefined for an address that a provider refuses: it
 * is https without a query. On loopback http will do.
 */
export function callbackNameOf(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined
  const { protocol, search, hostname, pathname } = new URL(text)
  const isAllowed = protocol === 'https:' || (protocol === 'http:' && LOOPBACK.test(hostname))
  return isAllowed && search === '' ? pathname.split('/').at(-1) : undefined
}

export function randomDigits(count: number): string {
  return Array.from(randomBytes(count), (byte) => byte % 10).join('')
}
