import { AppError, type ErrorKind } from '../../kernel/errors.ts'
import type { Identity } from '../../kernel/identity.ts'
import type { IdempotencyKeys, KeyedRequest } from '../../ports/idempotency-keys.ts'
import type { Store, TouchedRow, Tx, WriteOptions } from '../../store/store.ts'
import {
  type Answer,
  bodyOf,
  type AuditRule,
  type ChangeRoute,
  type Route,
  type RouteRequest,
} from '../../wire/route.ts'
import { errorAnswer } from './errors.ts'
import { malformedError } from './request.ts'
import type { FastifyRequest } from 'fastify'
import type { TSchema } from 'typebox'
import { actorOf, changesBetween } from '../../kernel/audit.ts'
import type { AuditTrail } from '../../ports/audit.ts'
import { JsonText } from '../../kernel/text.ts'

/** The two steps of an operation that changes something; `prepare` runs before the transaction. */
export interface Change<T> {
  readonly prepare: () => Promise<T> | T
  readonly change: (tx: Tx, prepared: T) => Promise<Answer>
  /** See `ChangeRoute`. */
  readonly touches?: ((prepared: T) => readonly TouchedRow[]) | undefined
}

export interface ChangesOptions {
  readonly store: Pick<Store, 'write'>
  /** Without it the header `Idempotency-Key` has no effect. */
  readonly keys?: IdempotencyKeys
}

/**
 * Runs the changes that requests ask for, each in one transaction. With an `Idempotency-Key` the answer is stored in
 * that same transaction: a crash leaves both or neither, and a repeated request gets the stored answer.
 */
export class Changes {
  readonly #options: ChangesOptions
  readonly #turns = new Map<string, Promise<unknown>>()

  constructor(options: ChangesOptions) {
    this.#options = options
  }

  async run<T>(change: Change<T>, request?: KeyedRequest): Promise<Answer> {
    const { store, keys } = this.#options
    if (request && keys) return this.#inTurn(request, () => this.#runKeyed(change, request, keys))
    const prepared = await change.prepare()
    return store.write((tx) => change.change(tx, prepared), optionsOf(change, prepared))
  }

  async #runKeyed<T>(change: Change<T>, request: KeyedRequest, keys: IdempotencyKeys): Promise<Answer> {
    const stored = await keys.find(request)
    if (stored) return replay(stored)
    try {
      const prepared = await change.prepare()
      return await this.#store(
        request,
        keys,
        (tx) => change.change(tx, prepared),
        optionsOf(change, prepared),
      )
    } catch (error) {
      if (!isRefusal(error)) throw error
      // The transaction of the refused change is rolled back, so the refusal is stored in another transaction.
      return this.#store(request, keys, async () => errorAnswer(error))
    }
  }

  async #store(
    request: KeyedRequest,
    keys: IdempotencyKeys,
    work: (tx: Tx) => Promise<Answer>,
    options: WriteOptions = {},
  ): Promise<Answer> {
    try {
      return await this.#options.store.write(async (tx) => {
        const fresh = await work(tx)
        // Last: a refusal has changed nothing then, which would have to be undone together with the writes of others.
        if (!(await keys.claim(tx, request))) throw new KeyTaken()
        const { storedBody = fresh.body, ...rest } = fresh
        await keys.store(tx, request, { ...rest, body: storedBody })
        return fresh
      }, options)
    } catch (error) {
      if (!(error instanceof KeyTaken)) throw error
    }
    const stored = await keys.find(request)
    if (!stored) throw sameRequestRunning()
    return replay(stored)
  }

  /**
   * Requests with the same key run one after the other. If they ran concurrently, each would do all the work, and all but
   * one would find only at the end that the key is claimed.
   */
  async #inTurn<T>({ caller, key }: KeyedRequest, work: () => Promise<T>): Promise<T> {
    const name = JSON.stringify([caller, key])
    const turn = (this.#turns.get(name) ?? Promise.resolve()).then(work, work)
    this.#turns.set(name, turn)
    try {
      return await turn
    } finally {
      if (this.#turns.get(name) === turn) this.#turns.delete(name)
    }
  }
}

/** Another process has carried out the request: what this one has changed is undone. */
class KeyTaken extends Error {}

function optionsOf<T>({ touches }: Change<T>, prepared: T): WriteOptions {
  return touches ? { touches: touches(prepared) } : {}
}

function replay(answer: Answer): Answer {
  return { ...answer, headers: { ...answer.headers, 'idempotent-replay': 'true' } }
}

// Errors after which the same request may succeed later.
const TRANSIENT: readonly ErrorKind[] = ['unavailable', 'internal', 'rate_limited']

/** Whether the error is caused by the caller, so that the same request gets the same answer. */
function isRefusal(error: unknown): error is AppError {
  return error instanceof AppError && !TRANSIENT.includes(error.kind)
}

function sameRequestRunning(): AppError {
  return new AppError('unavailable', 'store_unavailable', 'The same request is running; send it again.', {
    retryAfterSeconds: 1,
  })
}

const PRINTABLE_ASCII = /^[\x20-\x7e]{1,128}$/

/** The request under its key; undefined when it carries none. */
export function keyedRequest(
  key: string | string[] | undefined,
  identity: Identity,
  request: { readonly method: string; readonly url: string; readonly body: unknown },
): KeyedRequest | undefined {
  if (key === undefined) return undefined
  if (typeof key !== 'string' || !PRINTABLE_ASCII.test(key)) {
    throw malformedError('Idempotency-Key', 'must be 1 to 128 printable ASCII characters')
  }
  const { method, url, body } = request
  return { caller: identity.id, key, text: JSON.stringify([method, url, body ?? null], inNameOrder) }
}

/** For `JSON.stringify`: the order of the members of an object means nothing (RFC 8259, section 4). */
function inNameOrder(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

type AnyRequest = RouteRequest<unknown, unknown, unknown>
type AnyRule = AuditRule<TSchema, TSchema, TSchema>
type AnyChange = ChangeRoute<TSchema, TSchema, TSchema, unknown>

/** The change of a route, which writes its record of the audit trail in the same transaction. */
export function recordedChange(route: AnyChange, trail: AuditTrail | undefined): AnyChange['change'] {
  const { audit: rule, change, operation } = route
  if (!rule || !trail) return change
  return async (tx, request, prepared) => {
    const before = stateOf(await rule.before?.(tx, request))
    const answer = await change(tx, request, prepared)
    if (answer.status >= 400 || rule.recordedStatuses?.includes(answer.status) === false) return answer
    const after = rule.after ? await rule.after(tx) : stateOf(answer.storedBody ?? bodyOf(answer))
    // Without a state before, the answer of a change says nothing about what has changed.
    const isKnown = rule.before !== undefined || NEW_OBJECT_STATUSES.includes(answer.status)
    const changes = isKnown ? changesBetween(before, after) : {}
    if (rule.before && Object.keys(changes).length === 0) return answer
    await trail.record(tx, {
      ...originOf(request),
      operation,
      target: { kind: rule.kind, id: idOf(rule, request, after) },
      changes,
      outcome: 'done',
    })
    return answer
  }
}

/** The kind of object that the path of an operation without a rule names: `user` of `/users/:id`. */
function kindAt(path: string): string {
  const [collection = ''] = path.split('/:')
  const last = collection.split('/').at(-1) ?? ''
  return KINDS[collection] ?? last.replace(/s$/, '')
}

const KINDS: Readonly<Record<string, string>> = {
  '/data/backups': 'data-backup',
  '/vpn/sessions': 'vpn-session',
}

// Created, and accepted.
const NEW_OBJECT_STATUSES = [201, 202]

/** Records that a caller may not do what it has asked for, or that a recorded change has failed. */
export function noteOutcome(
  trail: AuditTrail,
  route: Route,
  request: AnyRequest,
  outcome: 'refused' | 'failed',
): Promise<void> {
  const rule = 'audit' in route ? route.audit : undefined
  return trail.note({
    ...originOf(request),
    operation: route.operation,
    target: {
      kind: rule && rule.id !== 'answer' ? rule.kind : kindAt(route.path),
      id: typeof rule?.id === 'function' ? null : firstParameter(request),
    },
    changes: {},
    outcome,
  })
}

function originOf({ identity, requestId, remoteAddress }: AnyRequest) {
  return { actor: actorOf(identity), requestId, remoteAddress }
}

function stateOf(body: unknown): object | undefined {
  const state: unknown = body instanceof JsonText ? body.toJSON() : body
  return typeof state === 'object' && state !== null ? state : undefined
}

function idOf({ id }: AnyRule, request: AnyRequest, after: object | undefined): string | null {
  if (typeof id === 'function') return id(request, after)
  const answered = after && 'id' in after && typeof after.id === 'string' ? after.id : null
  return id === 'answer' ? answered : (firstParameter(request) ?? answered)
}

function firstParameter({ params }: Pick<FastifyRequest, 'params'>): string | null {
  const [first] = Object.values(params ?? {})
  return typeof first === 'string' ? first : null
}
