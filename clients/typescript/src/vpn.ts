import {
  createVpnClient,
  type RequestOptions,
  type ResponseFrame,
  type VpnClient,
} from '../../../programs/vpn-client/index.ts'
import { AppError } from '../../../src/kernel/errors.ts'
import { Secret } from '../../../src/kernel/secret.ts'
import type { Fetch } from './options.ts'

export interface VpnOptions {
  /** At least one, in order of preference: `http://`, `https://`, `ws://` or `wss://`, with or without `/vpn`. */
  readonly gateways: readonly string[]
  /** The access token. A function is called for each session, and again when the token expires soon. */
  readonly token: string | (() => string | Promise<string>)
  /** Names the device, which keeps its address from session to session: 1–64 of `[A-Za-z0-9._-]`. */
  readonly device?: string | undefined
  /** Whether to return to the first gateway once it has been healthy for a while. Default: true. */
  readonly failback?: boolean | undefined
  /** Called for every change of state; must not throw. */
  readonly onState?: ((change: VpnChange) => void) | undefined
}

/** A change of the state of the session. */
export interface VpnChange {
  /** RFC 3339. */
  readonly at: string
  readonly state: 'connecting' | 'connected' | 'disconnected' | 'expiring'
  /** As in the options. */
  readonly gateway: string
  readonly virtual_ip?: string
  /** For people. May contain text of the gateway; never the token. */
  readonly reason?: string
}

export interface VpnConnection {
  /** Resolves with the virtual address when the first session is open. Rejects when the client has ended before. */
  readonly connected: Promise<string>
  /** For `createClient`: sends the requests through the session. The gateway adds the identity. */
  readonly fetch: Fetch
  /**
   * Resolves when the client will not connect again, with 1000 after `stop`, else with the final close code: 4403 (an
   * operator) or 4409 (another client of the device).
   */
  readonly ended: Promise<{ readonly code: number; readonly reason: string }>
  /** Closes the session within a second. */
  stop(): Promise<void>
}

/** Keeps a session with the first gateway that answers, until it is stopped; connects at once. */
export function connectVpn(options: VpnOptions): VpnConnection {
  const { token, onState, ...others } = options
  const connected = Promise.withResolvers<string>()
  const client = createVpnClient({
    ...others,
    readToken: async () => new Secret(typeof token === 'function' ? await token() : token),
    onState(change) {
      if (change.state === 'connected') connected.resolve(change.virtual_ip ?? '')
      onState?.(change)
    },
  })
  void client.ended.then(({ reason }) => connected.reject(new Error(`The VPN client has ended: ${reason}.`)))
  // A caller need not wait for it.
  connected.promise.catch(() => undefined)
  return {
    connected: connected.promise,
    fetch: fetchThrough(client),
    ended: client.ended,
    stop: () => client.stop(),
  }
}

/** The frames of a session as the `fetch` of a client. A stream does not fit into them. */
function fetchThrough(client: VpnClient): Fetch {
  return async (target, init) => {
    const { signal } = init
    signal?.throwIfAborted()
    const answer = client.request(init.method ?? 'GET', target, frameOf(init)).catch(refusalOf)
    return responseOf(await (signal ? Promise.race([answer, untilAborted(signal)]) : answer))
  }
}

/** The answer of a gateway that has refused a request. Throws what means that there was no answer. */
function refusalOf(error: unknown): Answered {
  if (!(error instanceof AppError) || error.code === 'no_session') throw error
  const { code, message } = error
  return { status: STATUS_OF_REFUSAL[code] ?? 503, body: { code, message } }
}

/** Refusals that would be the same again. */
const STATUS_OF_REFUSAL: Readonly<Record<string, number>> = {
  payload_too_large: 413,
  answer_too_large: 413,
  stream_in_session: 501,
}

function frameOf({ headers, body }: RequestInit): RequestOptions {
  return {
    headers: Object.fromEntries(new Headers(headers)),
    ...(typeof body === 'string' && { body: JSON.parse(body) as unknown }),
  }
}

const WITHOUT_BODY = [204, 205, 304]

type Answered = Pick<ResponseFrame, 'status' | 'headers' | 'body'>

function responseOf({ status, headers = {}, body }: Answered): Response {
  const fields = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)])
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return new Response(WITHOUT_BODY.includes(status) ? null : text, { status, headers: fields })
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('The request was aborted.')), { once: true })
  })
}
