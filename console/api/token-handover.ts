/** What a page needs to hand its token over: a `BroadcastChannel`, which reaches the other tabs of the same origin. */
export interface HandoverDeps {
  readonly channel: Pick<BroadcastChannel, 'postMessage' | 'addEventListener' | 'removeEventListener'>
  /** Milliseconds, of a clock that only goes forward. */
  readonly now: () => number
  /** The token of this tab. */
  readonly token: () => string | null
}

interface TokenRequest {
  readonly kind: 'asked'
  /** Chosen by the tab that asks, so that only it takes the answer. */
  readonly id: string
  readonly purpose: string
}

interface TokenResponse {
  readonly kind: 'answered'
  readonly id: string
  readonly token: string
}

/**
 * Hands the token of this tab to another one, once for each offer. A tab that has offered nothing answers nobody, so that a
 * tab in which somebody has signed out stays signed out.
 */
export class TokenHandover {
  readonly #deps: HandoverDeps
  /** When each offer ends, by its purpose. */
  readonly #offers = new Map<string, number>()

  constructor(deps: HandoverDeps) {
    this.#deps = deps
    deps.channel.addEventListener('message', ({ data }) => this.#answer(messageIn(data)))
  }

  /** Gives the token to the first tab that asks for this purpose within this time. */
  offer(purpose: string, ms: number): void {
    this.#offers.set(purpose, this.#deps.now() + ms)
  }

  /** The token of the tab that has an offer for this purpose; null if none answers within this time. */
  ask(purpose: string, ms: number): Promise<string | null> {
    const { channel } = this.#deps
    const id = crypto.randomUUID()
    const { promise, resolve } = Promise.withResolvers<string | null>()
    const onMessage = ({ data }: MessageEvent) => {
      const message = messageIn(data)
      if (message?.kind === 'answered' && message.id === id) resolve(message.token)
    }
    channel.addEventListener('message', onMessage)
    const timer = setTimeout(() => resolve(null), ms)
    channel.postMessage({ kind: 'asked', id, purpose } satisfies TokenRequest)
    return promise.finally(() => {
      clearTimeout(timer)
      channel.removeEventListener('message', onMessage)
    })
  }

  #answer(message: TokenRequest | TokenResponse | null): void {
    if (message?.kind !== 'asked') return
    const until = this.#offers.get(message.purpose) ?? -Infinity
    const token = this.#deps.token()
    if (token === null || this.#deps.now() > until) return
    this.#offers.delete(message.purpose)
    this.#deps.channel.postMessage({ kind: 'answered', id: message.id, token } satisfies TokenResponse)
  }
}

function messageIn(data: unknown): TokenRequest | TokenResponse | null {
  return typeof data === 'object' && data !== null && 'kind' in data
    ? (data as TokenRequest | TokenResponse)
    : null
}
