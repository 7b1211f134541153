/** A gateway as it was named, with the addresses that follow from it. */
export interface GatewayAddress {
  /** As it was given; safe to print. */
  readonly text: string
  /** Address of the sessions: `ws://host:port/vpn`. */
  readonly sessionUrl: string
  /** Address of the health, in the same place: `http://host:port/health`. */
  readonly healthUrl: string
}

/** The other name of the same transport. */
const SCHEMES: Readonly<Record<string, { readonly ws: string; readonly http: string }>> = {
  'http:': { ws: 'ws:', http: 'http:' },
  'ws:': { ws: 'ws:', http: 'http:' },
  'https:': { ws: 'wss:', http: 'https:' },
  'wss:': { ws: 'wss:', http: 'https:' },
}

/**
 * Reads a base address (`http://…`, `https://…`, `ws://…`, `wss://…`) or the whole address that ends in `/vpn`; throws
 * an `Error` that says what is wrong. A text that may hold a password is not repeated.
 */
export function parseGatewayAddress(text: string): GatewayAddress {
  const url = URL.parse(text)
  const schemes = SCHEMES[url?.protocol ?? '']
  if (url === null || schemes === undefined || url.hostname === '') {
    throw new Error('must be an address such as http://host:9994 or wss://host/vpn')
  }
  if (url.username || url.password || text.includes('?') || text.includes('#')) {
    throw new Error('must be an address without user, password, query and fragment')
  }
  const base = url.pathname.replace(/(?<!\/)\/+$/, '').replace(/\/vpn$/, '')
  return {
    text,
    sessionUrl: `${schemes.ws}//${url.host}${base}/vpn`,
    healthUrl: `${schemes.http}//${url.host}${base}/health`,
  }
}
