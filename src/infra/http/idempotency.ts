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

/** Answers a call: what `handle` answered the first time, brought up to date by `finish`. */
export type AnswerOnce = (
  call: KeyedCall,
  handle: () => Promise<Answer>,
  finish: (answer: Answer) => Promise<Answer>,
) => Promise<Answer>

/** A refusal of the first call is its answer too, and comes again; a failure of ours is tried anew. */
export function answeringOnce(onceOnly: OnceOnly): AnswerOnce {
  const inTurn = takingTurns()
  return (call, handle, finish) =>
    inTurn(call, async () => {
      const { replayed, ...answer } = await onceOnly.once(call, handle)
      return finish(
        replayed ? { ...answer, headers: { ...answer.headers, 'idempotent-replay': 'true' } } : answer,
      )
    })
}

/**
 * Twins that arrive together go one after the other: at once, each would do the whole work only to find at its end
 * that another has done it, and what the work holds few of (places to check a password) would run out.
 */
function takingTurns(): <T>(call: KeyedCall, work: () => Promise<T>) => Promise<T> {
  const last = new Map<string, Promise<unknown>>()
  return async ({ caller, key }, work) => {
    const name = JSON.stringify([caller, key])
    const turn = (last.get(name) ?? Promise.resolve()).then(work, work)
    last.set(name, turn)
    try {
      return await turn
    } finally {
      if (last.get(name) === turn) last.delete(name)
    }
  }
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
