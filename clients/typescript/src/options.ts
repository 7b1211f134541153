import { systemTiming, type Timing } from './timing.ts'

export type Fetch = (url: string, init: RequestInit) => Promise<Response>

export interface ClientOptions {
  /** The address of the api, such as `https://platform.example.com`; `''` is the server of the page in a browser. */
  readonly url: string
  /** The access token. A function is called before each attempt, so that it can renew the token. */
  readonly token?: string | (() => string | Promise<string>) | undefined
  /** Sent with every request, such as the identity headers of a program on the same host. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** How often a call is repeated at most, after a failure that may pass. Default: 4. */
  readonly retries?: number | undefined
  /** How long one attempt may take, in milliseconds. Default: 30 s. */
  readonly timeoutMs?: number | undefined
  /** The client does not retry when `Retry-After` is longer, in milliseconds. Default: 60 s. */
  readonly maximumRetryAfterMs?: number | undefined
  /** In place of the global `fetch`, such as that of a VPN session. */
  readonly fetch?: Fetch | undefined
  /** In place of timers and random numbers, for tests. */
  readonly timing?: Timing | undefined
}

export interface Settings {
  /** Without a slash at its end. */
  readonly url: string
  readonly token: () => string | undefined | Promise<string>
  readonly headers: Readonly<Record<string, string>>
  readonly retries: number
  readonly timeoutMs: number
  readonly maximumRetryAfterMs: number
  readonly fetch: Fetch
  readonly timing: Timing
}

export function settingsOf(options: ClientOptions): Settings {
  const { token } = options
  return {
    url: options.url.replace(/\/+$/, ''),
    token: typeof token === 'function' ? token : () => token,
    headers: options.headers ?? {},
    retries: options.retries ?? 4,
    timeoutMs: options.timeoutMs ?? 30_000,
    maximumRetryAfterMs: options.maximumRetryAfterMs ?? 60_000,
    // Browsers call it with the window only.
    fetch: options.fetch ?? ((url, init) => fetch(url, init)),
    timing: options.timing ?? systemTiming,
  }
}
