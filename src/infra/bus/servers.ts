import type { ConnectionOptions } from '@nats-io/transport-node'

/** A configured server, parsed so that no credential can reach a log line. */
export interface BusServer {
  /** Scheme, host and port; safe to print. */
  readonly address: string
  readonly host: string
  readonly port: number
  readonly credentials: Pick<ConnectionOptions, 'user' | 'pass' | 'token'>
  readonly tls: boolean
}

const DEFAULT_PORT = 4222

/** Reads `nats://host:port` or `tls://…`, with `user:password@` or `token@`; throws otherwise. */
export function parseServer(text: string): BusServer {
  const url = readUrl(text)
  const port = Number(url.port || DEFAULT_PORT)
  return {
    address: `${url.protocol}//${url.hostname}:${port}`,
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port,
    credentials: credentialsOf(url),
    tls: url.protocol === 'tls:',
  }
}

function readUrl(text: string): URL {
  const url = URL.parse(text.includes('://') ? text : `nats://${text}`)
  if (!url?.hostname || !['nats:', 'tls:'].includes(url.protocol)) {
    // The message must not contain the text: it may have a password.
    throw new Error('a bus server must have the form nats://host:port or tls://host:port')
  }
  return url
}

function credentialsOf(url: URL): BusServer['credentials'] {
  if (url.username === '') return {}
  const user = decode(url.username)
  return url.password === '' ? { token: user } : { user, pass: decode(url.password) }
}

/** A password with a percent sign that begins no escape is used unchanged. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
