import { systemTiming, type Timing } from './timing.ts'

export type Fetch = (url: string, init: RequestInit) => Promise<Response>

export interface ClientOptions {
  /** The address of the api, such as `https://platform.example.com`; `''` is the server of the page in a browser. */
  readonly url: string
  /**
   * The access token. A function is called before each attempt, so that it can renew the token, and once more when the
   * platform refuses the token.
   */
  readonly token?: string | (() => string | Promise<string>) | undefined
  /** Sent with every request, such as the identity headers of a program on the same host. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /**
   * How long a call is repeated after failures that may pass, in milliseconds from its first attempt; 0 never repeats it.
   * Default: 30 s, which is longer than a restart of the platform.
   */
  readonly retryForMs?: number | undefined
  /** How long one attempt may take, in milliseconds. Default: 30 s. */
  readonly timeoutMs?: number | undefined
  /** In place of the global `fetch`, such as that of a VPN session. */
  readonly fetch?: Fetch | undefined
  /** In place of timers and random numbers, for tests. */
  readonly timing?: Timing | undefined
}

export interface Settings {
  /** Without a slash at its end. */
  readonly url: string
  readonly token: () => string | undefined | Promise<string>
  /** Whether `token` may give another one. */
  readonly canRenewToken: boolean
  readonly headers: Readonly<Record<string, string>>
  readonly retryForMs: number
  readonly timeoutMs: number
  readonly fetch: Fetch
  readonly timing: Timing
}

export function settingsOf(options: ClientOptions): Settings {
  const { token } = options
  return {
    url: options.url.replace(/\/+$/, ''),
    token: typeof token === 'function' ? token : () => token,
    canRenewToken: typeof token === 'function',
    headers: options.headers ?? {},
    retryForMs: options.retryForMs ?? 30_000,
    timeoutMs: options.timeoutMs ?? 30_000,
    // Browsers call it with the window only.
    fetch: options.fetch ?? ((url, init) => fetch(url, init)),
    timing: options.timing ?? systemTiming,
  }
}
