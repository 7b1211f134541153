import type { AppError } from '../kernel/errors.ts'

export const WEBHOOK_FAILURES = [
  'address_refused',
  'name_not_resolved',
  'connection_refused',
  'connection_failed',
  'tls_failed',
  'timeout',
  'invalid_answer',
] as const
/** Why a call has no answer. */
export type WebhookFailure = (typeof WEBHOOK_FAILURES)[number]

/** A call of an endpoint. */
export interface WebhookCall {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface WebhookReply {
  readonly status: number
  /** The names of its headers. */
  readonly headers: readonly string[]
  /** The first 1 KiB. */
  readonly body: string
  /** How long the endpoint asks to wait. */
  readonly retryAfterMs?: number
}

/** Calls the endpoints of others, and nothing of our own network. */
export interface WebhookCaller {
  /** Why the address can never be called: `url_refused`; undefined if it may be. Names are checked at each call. */
  refusal(url: string): AppError | undefined
  /** Ends within 15 seconds, and soon after `signal` is aborted; never rejects. Follows no redirect. */
  call(call: WebhookCall, signal: AbortSignal): Promise<WebhookReply | { readonly failure: WebhookFailure }>
}
