import type { IncomingMessage } from 'node:http'
import { AppError } from '../../kernel/errors.ts'
import { SECOND } from '../../kernel/time.ts'
import type { Authenticator } from '../../ports/authentication.ts'
import type { StreamEnd } from '../../wire/stream.ts'
import { bearerToken } from './identity.ts'

export interface LongResponsesOptions {
  /** Verifies the tokens again; left out in a server whose callers have no tokens. */
  readonly authenticator?: Pick<Authenticator, 'authenticate'> | undefined
  readonly checkEveryMs?: number
}

/** Called once, when the token or the server ends the response. */
type EndResponse = (reason: StreamEnd) => void

interface LongResponse {
  readonly token: string | undefined
  readonly end: EndResponse
  /** How often in a row the token could not be verified, because its user could not be read. */
  unverified: number
}

// docs/specification.md, Identity: the tokens of a disabled user stop working within 10 s
const MAX_UNVERIFIED = 9

/**
 * The streamed responses of a server. It ends a response when the token of its caller expires or is revoked, and ends all of
 * them when the server stops, because the server waits for its responses.
 */
export class LongResponses {
  readonly #options: LongResponsesOptions
  readonly #responses = new Set<LongResponse>()
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(options: LongResponsesOptions) {
    this.#options = options
  }

  /** Calls `end` when the response has to end, unless the returned function was called before. */
  add(request: IncomingMessage, end: EndResponse): () => void {
    const { authorization } = request.headers
    const token = authorization === undefined ? undefined : bearerToken(authorization)
    const response: LongResponse = { token, end, unverified: 0 }
    if (this.#isClosed) {
      end('shutdown')
      return () => undefined
    }
    this.#responses.add(response)
    this.#timer ??= setInterval(() => this.#checkTokens(), this.#options.checkEveryMs ?? SECOND).unref()
    return () => this.#remove(response)
  }

  /** Ends all responses, and each that is added later. */
  close(): void {
    this.#isClosed = true
    for (const response of this.#responses) this.#end(response, 'shutdown')
  }

  #checkTokens(): void {
    for (const response of this.#responses) void this.#check(response)
  }

  async #check(response: LongResponse): Promise<void> {
    const { authenticator } = this.#options
    if (!authenticator || response.token === undefined) return
    try {
      const identity = authenticator.authenticate(response.token)
      // Usually synchronous, and then not awaited, because a thousand responses may be checked each second.
      if (identity instanceof Promise) await identity
      response.unverified = 0
    } catch (error) {
      const isTransient = error instanceof AppError && error.kind === 'unavailable'
      response.unverified++
      if (!isTransient || response.unverified > MAX_UNVERIFIED) this.#end(response, 'token')
    }
  }

  #end(response: LongResponse, reason: StreamEnd): void {
    if (this.#remove(response)) response.end(reason)
  }

  #remove(response: LongResponse): boolean {
    const isRemoved = this.#responses.delete(response)
    if (this.#responses.size === 0) {
      clearInterval(this.#timer)
      this.#timer = undefined
    }
    return isRemoved
  }
}
