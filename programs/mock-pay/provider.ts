import type { IncomingHttpHeaders } from 'node:http'
import type { Clock } from '../../src/kernel/clock.ts'
import type { TextAnswer } from '../mock-server/answers.ts'
import type { Book, PaymentEvent } from './book.ts'
import type { Channel } from './channels.ts'

/** The operations for which there are scenarios. A query of a refund is a query, too. */
export const OPERATIONS = ['create', 'query', 'close', 'refund', 'callback', 'bill'] as const
export type Operation = (typeof OPERATIONS)[number]

/** An HTTP response before it is sent. */
export interface Answer extends Omit<TextAnswer, 'body'> {
  readonly body: string | Buffer
}

/** What each provider works with. */
export interface ProviderDeps<Secrets> {
  readonly book: Book
  readonly clock: Clock
  readonly secrets: Secrets
  readonly baseUrl: string
  readonly pageUrl: (token: string) => string
}

export interface ProviderRequest {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface Endpoint {
  /** Undefined for the download of a bill, whose scenario the request for its address has taken. */
  readonly operation: Exclude<Operation, 'callback'> | undefined
  /** May throw a `Refusal`. */
  answer(changes: Changes): Answer
}

/** What scenarios change of an answer. */
export interface Changes {
  readonly bill: 'none' | 'differs' | undefined
  /** The refund is taken, and fails afterwards. */
  readonly refundFails: boolean
}

export type Fault = '429' | '500' | 'fail'

export interface CallbackRequest {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** One of the three providers: its rules, its signatures and its texts. The book is shared. */
export interface Provider {
  readonly channel: Channel
  /** The endpoint of a request; undefined for a path of another provider. May throw a `Refusal`, as for a wrong key. */
  endpointOf(request: ProviderRequest): Endpoint | undefined
  /** An answer without the call. Stripe repeats a 500 for its idempotency key. */
  fault(request: ProviderRequest, fault: Fault): Answer
  /** The callback of an event, signed at `signedAt`; undefined where the provider sends none. */
  callbackOf(event: PaymentEvent, options: CallbackOptions): CallbackRequest | undefined
  /** Whether the answer to a callback acknowledges it. */
  isAcknowledged(status: number, body: string): boolean
}

export interface CallbackOptions {
  /** In epoch milliseconds. */
  readonly signedAt: number
  readonly isForged: boolean
}
