import type { Identity } from '../../kernel/identity.ts'
import type { Answer } from '../../wire/route.ts'
import { malformed } from './framing.ts'

/** One call under an `Idempotency-Key`. */
export interface KeyedCall {
  /** Keys of different callers have nothing to do with each other. */
  readonly caller: string
  readonly key: string
  /** Method, path and body as text: the same key with another request is refused. */
  readonly request: string
}

/**
 * Carries out a call once. The first time `handle` runs, and its answer is kept in the same transaction as what it
 * changed; after that the kept answer comes back and nothing runs. Rejects with `idempotency_key_reused` when the
 * key was used with another request.
 */
export interface OnceOnly {
  once(call: KeyedCall, handle: () => Promise<Answer>): Promise<Answer & { readonly replayed: boolean }>
}

const PRINTABLE_ASCII = /^[\x20-\x7e]{1,128}$/

/** The call under its key, or undefined when the request carries none. */
export function keyedCall(
  key: string | string[] | undefined,
  identity: Identity,
  request: { readonly method: string; readonly url: string; readonly body: unknown },
): KeyedCall | undefined {
  if (key === undefined) return undefined
  if (typeof key !== 'string' || !PRINTABLE_ASCII.test(key)) {
    throw malformed('Idempotency-Key', 'must be 1 to 128 printable ASCII characters')
  }
  const { method, url, body } = request
  return { caller: identity.id, key, request: JSON.stringify([method, url, body ?? null]) }
}
