import type { Identity } from './identity.ts'

/** Who has done something: a person, a program with an API token, a caller or command of this host, or the platform. */
export const AUDIT_ACTOR_KINDS = ['user', 'token', 'local', 'system'] as const
export type AuditActorKind = (typeof AUDIT_ACTOR_KINDS)[number]

export const AUDIT_OUTCOMES = ['done', 'refused', 'failed'] as const
export type AuditOutcome = (typeof AUDIT_OUTCOMES)[number]

export interface AuditActor {
  readonly id: string
  readonly name: string
  readonly kind: AuditActorKind
}

/** The value before a change and after it; null where there was or is none. */
export type AuditChange = readonly [from: unknown, to: unknown]
export type AuditChanges = Readonly<Record<string, AuditChange>>

/** What a record of the audit trail says; the trail adds its id and its time. */
export interface AuditRecord {
  readonly actor: AuditActor
  /** The name of an operation of the API, `signIn`, or `cli.` and the words of a command. */
  readonly operation: string
  readonly target: { readonly kind: string; readonly id: string | null }
  readonly requestId: string | null
  readonly remoteAddress: string | null
  readonly changes: AuditChanges
  readonly outcome: AuditOutcome
}

/** A record of what the platform does by itself, which comes with no request. */
export function systemRecord(
  operation: string,
  target: AuditRecord['target'],
  name = 'platform',
): AuditRecord {
  const actor = { id: name, name, kind: 'system' } as const
  return { actor, operation, target, requestId: null, remoteAddress: null, changes: {}, outcome: 'done' }
}

export function actorOf({ id, name, via, token }: Identity): AuditActor {
  if (token?.kind === 'api') return { id, name, kind: 'token' }
  return { id, name, kind: via === 'token' || token ? 'user' : 'local' }
}

/** The record of a sign-in, for every way to sign in. An unknown name is left out: it may be a password. */
export function signInRecord(
  user: { readonly id: string; readonly name: string } | undefined,
  origin: { readonly remoteAddress: string; readonly requestId: string },
  outcome: AuditOutcome,
  operation = 'signIn',
): AuditRecord {
  const { id, name } = user ?? ANONYMOUS_ACTOR
  return {
    actor: { id, name, kind: 'user' },
    operation,
    target: { kind: 'user', id: user?.id ?? null },
    requestId: origin.requestId,
    remoteAddress: origin.remoteAddress,
    changes: {},
    outcome,
  }
}

const ANONYMOUS_ACTOR = { id: 'anonymous', name: 'anonymous' }

// The trail never has a secret: these fields of answers are left out, whatever they contain.
const SECRET_FIELDS = new Set(['token', 'secret', 'password', 'ping_url'])
// These fields change with every change, and say nothing about it.
const BOOKKEEPING = new Set(['updated_at', 'updated_by', 'version', 'revision'])
// docs/specification.md, Audit: a row is a few kilobytes at most, whatever a field contains.
const LONGEST_VALUE = 1_024
const KEPT_CHARACTERS = 200
const MOST_FIELDS = 40

/** The fields in which two states of an object differ; undefined: there is no such object. */
export function changesBetween(before: object | undefined, after: object | undefined): AuditChanges {
  const from = new Map(Object.entries(before ?? {}))
  const to = new Map(Object.entries(after ?? {}))
  const names = [...new Set([...from.keys(), ...to.keys()])].filter(
    (name) => !SECRET_FIELDS.has(name) && !BOOKKEEPING.has(name),
  )
  const differing = names.flatMap((name) => {
    const pair = [from.get(name) ?? null, to.get(name) ?? null] as const
    return isSame(pair) ? [] : [[name, shortened(withoutPaths(name, pair))] as const]
  })
  return Object.fromEntries(differing.slice(0, MOST_FIELDS))
}

function isSame([from, to]: AuditChange): boolean {
  if (from === to) return true
  return isObject(from) && isObject(to) && JSON.stringify(from) === JSON.stringify(to)
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

// Paths and parameters of an address that somebody calls are often its secret.
const ADDRESS_FIELDS = new Set(['url'])

function originOfAddress(value: unknown): unknown {
  return typeof value === 'string' && URL.canParse(value) ? `${new URL(value).origin}/…` : value
}

function withoutPaths(name: string, [from, to]: AuditChange): AuditChange {
  return ADDRESS_FIELDS.has(name) ? [originOfAddress(from), originOfAddress(to)] : [from, to]
}

function shortened([from, to]: AuditChange): AuditChange {
  return [shortValue(from), shortValue(to)]
}

/** A long value is shown by its beginning and its length. */
function shortValue(value: unknown): unknown {
  if (typeof value !== 'string' && !isObject(value)) return value
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  if (text.length <= LONGEST_VALUE) return value
  return `${text.slice(0, KEPT_CHARACTERS).toWellFormed()}… (${text.length} characters)`
}
