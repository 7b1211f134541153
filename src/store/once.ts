import { AsyncLocalStorage } from 'node:async_hooks'
import { createHmac } from 'node:crypto'
import type { Clock } from '../kernel/clock.ts'
import { AppError, type ErrorKind } from '../kernel/errors.ts'
import type { Secret } from '../kernel/secret.ts'
import { HOUR } from '../kernel/time.ts'
import { first, type Store, type Tx, type Work } from './store.ts'
import { statement } from './statement.ts'

/** An answer that can be kept: data that survives JSON. */
export interface KeptAnswer {
  readonly status: number
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface Call {
  readonly caller: string
  readonly key: string
  /** What was asked for, as text. */
  readonly request: string
}

/** How long an answer is kept (contract, section 3: 24 h). */
const KEPT_MS = 24 * HOUR

const claim = statement<{ caller: string; key: string; hash: string; at: number }, { key: string }>(
  (db, value) =>
    db
      .insertInto('idempotency_keys')
      .values({
        caller: value('caller'),
        key: value('key'),
        request_hash: value('hash'),
        status: 0,
        answer: '',
        created_at: value('at'),
      })
      .onConflict((conflict) => conflict.columns(['caller', 'key']).doNothing())
      .returning('key'),
)

const keep = statement<{ caller: string; key: string; status: number; answer: string }>((db, value) =>
  db
    .updateTable('idempotency_keys')
    .set({ status: value('status'), answer: value('answer') })
    .where('caller', '=', value('caller'))
    .where('key', '=', value('key')),
)

const find = statement<
  { caller: string; key: string; since: number },
  { request_hash: string; status: number; answer: string }
>((db, value) =>
  db
    .selectFrom('idempotency_keys')
    .select(['request_hash', 'status', 'answer'])
    .where('caller', '=', value('caller'))
    .where('key', '=', value('key'))
    .where('created_at', '>=', value('since')),
)

const forget = statement<{ caller: string; key: string; before: number }>((db, value) =>
  db
    .deleteFrom('idempotency_keys')
    .where('caller', '=', value('caller'))
    .where('key', '=', value('key'))
    .where('created_at', '<', value('before')),
)

/** The call has been carried out by a twin; nothing of this attempt is left. */
class AlreadyAnswered extends Error {}

/** A call under way: its first write and its answer are committed together. */
interface Scope {
  readonly call: Call
  readonly answer: PromiseWithResolvers<KeptAnswer>
  /** Settles with the transaction of the first write; undefined while there was none. */
  commit: Promise<void> | undefined
}

export interface Once {
  /** The store to hand to use cases: the first write of a call joins the call's transaction. */
  readonly store: Store
  /** Carries out a call once; `handle` rejects with what its caller shall be told. */
  once(call: Call, handle: () => Promise<KeptAnswer>): Promise<KeptAnswer & { readonly replayed: boolean }>
  /** Removes the answers that are older than 24 hours; answers how many. */
  prune(): Promise<number>
}

export interface OnceOptions {
  readonly store: Store
  readonly clock: Clock
  /** Keys what is kept of a request, which may hold a password. */
  readonly secret: Secret
  /** A refusal as the answer that its caller gets. */
  readonly toAnswer: (error: AppError) => KeptAnswer
}

/**
 * Idempotency keys with no gap: the answer is a row of the very transaction that changed something, so a crash leaves
 * both or neither. The transaction of the call's first write stays open until the call has its answer; between the
 * two a use case only turns its result into that answer, which takes no I/O.
 */
export function createOnce({ store, clock, secret, toAnswer }: OnceOptions): Once {
  const scopes = new AsyncLocalStorage<Scope>()
  const hashOf = ({ request }: Call) =>
    createHmac('sha256', secret.reveal()).update(request).digest('base64url')

  const writeInScope = async <T>(scope: Scope, work: Work<T>): Promise<T> => {
    const early = Promise.withResolvers<T>()
    let told = false
    const claimAndWork: Work<void> = async (tx) => {
      // Its result has gone to the use case, which cannot be taken back: a repetition of the transaction ends here.
      if (told)
        throw new AppError('unavailable', 'store_unavailable', 'The database lost the call; send it again.')
      if (!(await claimed(tx, scope.call, hashOf(scope.call), clock.now()))) throw new AlreadyAnswered()
      const result = await work(tx)
      told = true
      early.resolve(result)
      await keepAnswer(tx, scope.call, await scope.answer.promise)
    }
    const transaction = store.write(claimAndWork, { repeatable: false })
    scope.commit = transaction
    transaction.catch(early.reject)
    return early.promise
  }

  const lookUp = async (call: Call) => {
    const kept = await first(store.read, find, {
      caller: call.caller,
      key: call.key,
      since: clock.now() - KEPT_MS,
    })
    if (!kept || kept.answer === '') return undefined
    if (kept.request_hash !== hashOf(call)) {
      throw new AppError(
        'conflict',
        'idempotency_key_reused',
        'The Idempotency-Key was used before for another request.',
      )
    }
    return { ...(JSON.parse(kept.answer) as KeptAnswer), status: kept.status, replayed: true }
  }

  /** A call that changed nothing, because it was refused or had nothing to change, is kept by a write of its own. */
  const keepAlone = async (call: Call, answer: KeptAnswer) => {
    await store.write(async (tx) => {
      if (await claimed(tx, call, hashOf(call), clock.now())) await keepAnswer(tx, call, answer)
    })
    return { ...answer, replayed: false }
  }

  const carryOut = async (scope: Scope, handle: () => Promise<KeptAnswer>) => {
    try {
      const answer = await handle()
      scope.answer.resolve(answer)
      if (!scope.commit) return await keepAlone(scope.call, answer)
      await scope.commit
      return { ...answer, replayed: false }
    } catch (error) {
      scope.answer.reject(error)
      await scope.commit?.catch(() => undefined)
      throw error
    }
  }

  return {
    store: {
      ...store,
      write: (work, options) => {
        const scope = scopes.getStore()
        if (!scope) return store.write(work, options)
        // It would wait for the first write, which waits for the answer.
        if (scope.commit) throw new Error('A use case that is called once only writes once.')
        return writeInScope(scope, work)
      },
    },
    async once(call, handle) {
      const kept = await lookUp(call)
      if (kept) return kept
      const scope: Scope = { call, answer: Promise.withResolvers(), commit: undefined }
      // Nobody may be listening yet when the use case fails.
      scope.answer.promise.catch(() => undefined)
      try {
        return await scopes.run(scope, () => carryOut(scope, handle))
      } catch (error) {
        if (error instanceof AlreadyAnswered) return (await lookUp(call)) ?? Promise.reject(lostTwin())
        if (!isRefusal(error)) throw error
        return keepAlone(call, toAnswer(error))
      }
    },
    prune: async () => {
      const { numDeletedRows } = await store.write(({ db }) =>
        db
          .deleteFrom('idempotency_keys')
          .where('created_at', '<', clock.now() - KEPT_MS)
          .executeTakeFirst(),
      )
      return Number(numDeletedRows)
    },
  }
}

async function claimed(tx: Tx, { caller, key }: Call, hash: string, at: number): Promise<boolean> {
  await tx.run(forget, { caller, key, before: at - KEPT_MS })
  return (await tx.run(claim, { caller, key, hash, at })).length === 1
}

async function keepAnswer(
  tx: Tx,
  { caller, key }: Call,
  { status, body, headers }: KeptAnswer,
): Promise<void> {
  await tx.run(keep, { caller, key, status, answer: JSON.stringify({ body, headers }) })
}

// The same call may go better another time.
const PASSING: readonly ErrorKind[] = ['unavailable', 'internal', 'rate_limited']

/** The caller's own mistake: sending the same again gets the same answer. */
function isRefusal(error: unknown): error is AppError {
  return error instanceof AppError && !PASSING.includes(error.kind)
}

function lostTwin(): AppError {
  return new AppError('unavailable', 'store_unavailable', 'The same call is under way; send it again.', {
    retryAfterSeconds: 1,
  })
}
