import type { WaitingClock } from '../../../src/kernel/clock.ts'
import { errorMessage } from '../../../src/kernel/errors.ts'
import { jsonValueOf } from '../../../src/kernel/text.ts'
import { SECOND } from '../../../src/kernel/time.ts'
import { HttpClient, textBody, type HttpAnswer, type HttpCall } from '../drive/http.ts'
import type { SignCall } from '../host/signed-call.ts'
import { singleLine } from './variables.ts'

export interface PlatformCall {
  readonly method: 'GET' | 'POST' | 'PUT'
  /** Begins with a slash. */
  readonly path: string
  readonly body?: object
  /** The platform changes nothing for the second request with the same key. */
  readonly idempotencyKey?: string
  /** The `ETag` that the resource must have. */
  readonly ifMatch?: string
  readonly timeoutMs: number
}

/**
 * The outcome of a call. `refused`: the same request is never accepted. `unavailable`: it may be accepted later.
 */
export type PlatformOutcome =
  | { readonly outcome: 'accepted'; readonly body: unknown; readonly etag?: string | undefined }
  | { readonly outcome: 'refused'; readonly status: number; readonly reason: string }
  | {
      readonly outcome: 'unavailable'
      /** Undefined if there was no response. */
      readonly status?: number
      readonly reason: string
      /** The pause that the platform has asked for. */
      readonly retryAfterMs: number
    }

/** The HTTP API of the platform. */
export interface PlatformApi {
  /** Never rejects. */
  send(call: PlatformCall): Promise<PlatformOutcome>
}

export interface PlatformClientOptions {
  /** Without a slash at its end: `http://127.0.0.1:9990`. */
  readonly url: string
  readonly clock: WaitingClock
  /** Signs a request, because the platform accepts the identity in its headers only from trusted peers otherwise. */
  readonly sign?: SignCall
  /** Ends the calls: they are `unavailable`. */
  readonly signal?: AbortSignal | undefined
}

/** The name under which the routine is known to the platform. */
export const BACKUP_IDENTITY = { id: 'platform-backup', roles: 'service,devops' } as const

const MAX_QUOTE_LENGTH = 300
// After these statuses the same request may be accepted later (RFC 9110, 15.5): 401 and 429 concern the caller, not the request.
const TEMPORARY_STATUSES: readonly number[] = [401, 408, 425, 429]
// Without an error code of the platform these may come from any HTTP server, such as a proxy in front of it.
const ROUTING_STATUSES: readonly number[] = [404, 405]

/** Calls the platform as a program of its installation, known by its headers. */
export class PlatformClient implements PlatformApi, Disposable {
  readonly #url: string
  readonly #http: HttpClient
  readonly #sign: SignCall
  readonly #signal: AbortSignal | undefined

  constructor({ url, clock, sign = (call) => call, signal }: PlatformClientOptions) {
    this.#url = url
    this.#sign = sign
    this.#signal = signal
    this.#http = new HttpClient(clock)
  }

  async send(call: PlatformCall): Promise<PlatformOutcome> {
    try {
      const answer = await this.#http.send(this.#sign(this.#request(call)))
      return outcomeOf(answer, await answer.text())
    } catch (error) {
      return unavailableResult(errorMessage(error))
    }
  }

  [Symbol.dispose](): void {
    this.#http.close()
  }

  #request({ method, path, body, idempotencyKey, ifMatch, timeoutMs }: PlatformCall): HttpCall {
    return {
      method,
      url: `${this.#url}${path}`,
      headers: {
        accept: 'application/json',
        'x-user-id': BACKUP_IDENTITY.id,
        'x-user-name': BACKUP_IDENTITY.id,
        'x-user-roles': BACKUP_IDENTITY.roles,
        ...(body && { 'content-type': 'application/json' }),
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
        ...(ifMatch !== undefined && { 'if-match': ifMatch }),
      },
      ...(body && { body: textBody(JSON.stringify(body)) }),
      timeoutMs,
      idleMs: timeoutMs,
      signal: this.#signal,
    }
  }
}

function outcomeOf(answer: HttpAnswer, text: string): PlatformOutcome {
  const { status } = answer
  const body = jsonValueOf(text)
  if (status >= 200 && status < 300) return { outcome: 'accepted', body, etag: answer.header('etag') }
  const { code, message } = Object(body) as { readonly code?: unknown; readonly message?: unknown }
  const detail = typeof message === 'string' ? `: ${singleLine(message, MAX_QUOTE_LENGTH)}` : ''
  const reason = `HTTP status ${status}${detail}`
  const isByPlatform = typeof code === 'string' || !ROUTING_STATUSES.includes(status)
  const isFinal = status >= 400 && status < 500 && !TEMPORARY_STATUSES.includes(status)
  if (isFinal && isByPlatform) return { outcome: 'refused', status, reason }
  return unavailableResult(reason, { status, retryAfterMs: retryAfterMs(answer) })
}

function unavailableResult(
  reason: string,
  more: { readonly status?: number; readonly retryAfterMs?: number } = {},
): PlatformOutcome {
  return { outcome: 'unavailable', reason, retryAfterMs: 0, ...more }
}

function retryAfterMs(answer: HttpAnswer): number {
  const seconds = Number(answer.header('retry-after') ?? 0)
  return Number.isFinite(seconds) && seconds > 0 ? seconds * SECOND : 0
}
