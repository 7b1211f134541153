import type { FastifyRequest } from 'fastify'
import type { TSchema } from 'typebox'
import { actorOf, changesBetween } from '../../kernel/audit.ts'
import type { AuditTrail } from '../../ports/audit.ts'
import { JsonText } from '../../kernel/text.ts'
import { bodyOf, type AuditRule, type ChangeRoute, type Route, type RouteRequest } from '../../wire/route.ts'

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
    if (answer.status >= 400 || rule.changesWith?.includes(answer.status) === false) return answer
    const after = rule.after ? await rule.after(tx) : stateOf(answer.storedBody ?? bodyOf(answer))
    // Without a state before, the answer of a change says nothing about what has changed.
    const isKnown = rule.before !== undefined || NEW.includes(answer.status)
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

// Created, and accepted: the answer is the new object.
const NEW = [201, 202]

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
