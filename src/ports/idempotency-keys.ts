import type { Tx } from '../store/store.ts'

/** One request under an `Idempotency-Key` (docs/specification.md, HTTP API). */
export interface KeyedRequest {
  /** Id of the caller: keys of different callers are independent. */
  readonly caller: string
  readonly key: string
  /** Method, path and body as text; the same key with another text is refused. */
  readonly text: string
}

/** An answer that can be stored: data that survives JSON. */
export interface StoredAnswer {
  readonly status: number
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** Where the answers to requests with an `Idempotency-Key` are kept, for 24 hours. */
export interface IdempotencyKeys {
  /**
   * The answer that is stored for this request; undefined when there is none. Rejects with `idempotency_key_reused` when
   * the key was used for another request.
   */
  find(request: KeyedRequest): Promise<StoredAnswer | undefined>
  /**
   * Claims the key in the transaction that carries the request out; `false` when it is taken. A twin of the
   * transaction that is claiming the same key is waited for.
   */
  claim(tx: Tx, request: KeyedRequest): Promise<boolean>
  /** Stores the answer in the transaction that has claimed the key. */
  store(tx: Tx, request: KeyedRequest, answer: StoredAnswer): Promise<void>
}
