import { Type, type Static } from 'typebox'
import { AUDIT_ACTOR_KINDS, AUDIT_OUTCOMES } from '../../kernel/audit.ts'
import { invalidField } from '../../kernel/errors.ts'
import { OLDEST_FIRST } from '../../kernel/page.ts'
import { encoderOf, parseTime } from '../../wire/codec.ts'
import { encodePage, PageOf, PageQuery, parsePage } from '../../wire/page.ts'
import { ok, type Route, routeOf } from '../../wire/route.ts'
import { checkedPattern, Fields, GivenTime, Nullable, OneOf, Text, Timestamp } from '../../wire/schemas.ts'
import type { StreamBody } from '../../wire/stream.ts'
import { formatSeal, type TrailEntry } from './model.ts'
import type { AuditSeals } from './seals.ts'
import type { Audit, TrailFilter } from './service.ts'

const route = routeOf('Audit')

const AUDIT_READERS = ['admin', 'auditor'] as const

// docs/specification.md, Audit
const EXPORT_PART = 500
const TARGET_FORM = 'kind:id'
const LINES = 'application/jsonl'

const AuditEntrySchema = Fields(
  {
    id: Type.String({ description: 'UUIDv7 (RFC 9562).' }),
    at: Timestamp,
    actor: Fields({
      id: Type.String(),
      name: Type.String(),
      kind: OneOf(
        AUDIT_ACTOR_KINDS,
        '`token`: a program with an API token of the user; `local`: a caller without a token, or the command line; ' +
          '`system`: the platform itself.',
      ),
    }),
    operation: Type.String({
      description: 'The operation of the API, `signIn`, `start`, or a command such as `cli.user.add`.',
      examples: ['updateUser'],
    }),
    target: Fields({
      kind: Type.String({ examples: ['user'] }),
      id: Nullable<string>({ type: 'string' }),
    }),
    request_id: Nullable<string>({ type: 'string' }),
    remote_address: Nullable<string>({ type: 'string' }),
    changes: Type.Record(Type.String(), Type.Array(Type.Unknown(), { minItems: 2, maxItems: 2 }), {
      description:
        'Each field that differs: its value before and after. Without secrets; long values are cut.',
    }),
    outcome: OneOf(AUDIT_OUTCOMES),
  },
  { $id: 'AuditEntry' },
)

const FilterSchema = Fields({
  actor: Type.Optional(
    Text({ minLength: 1, maxLength: 254, description: 'The id of whoever did it, or the name.' }),
  ),
  operation: Type.Optional(Text({ minLength: 1, maxLength: 64, examples: ['updateUser'] })),
  target: Type.Optional(
    Type.String({
      ...checkedPattern(
        '^[a-z-]{1,32}:[^\\u0000\\uD800-\\uDFFF]{1,256}$',
        '^[a-z-]{1,32}:[^\\x00]{1,256}$',
        'not_matching',
        { pattern: TARGET_FORM },
      ),
      description: '`kind:id`.',
      examples: ['user:01981e6a-8c3f-7c1e-9a51-3d2d1c8b7a10'],
    }),
  ),
  from: Type.Optional(GivenTime('Only rows of this time or later. RFC 3339; write `+` as `%2B`.')),
  to: Type.Optional(GivenTime('Only rows before this time. RFC 3339; write `+` as `%2B`.')),
})

const EntryQuery = Fields({ ...FilterSchema.properties, ...PageQuery })

const SealSchema = Fields(
  {
    seal: Nullable<string>({
      type: 'string',
      description: 'The number of sealed rows and the code of the last one; null before the first seal.',
      examples: ['1234:bGlrZSBhIGhhc2ggc3VtIQ'],
    }),
  },
  { $id: 'AuditSeal' },
)

export const encodeEntry = encoderOf(AuditEntrySchema, {
  actor: ({ actor }: TrailEntry) => actor,
  target: ({ target }: TrailEntry) => target,
  changes: ({ changes }: TrailEntry) => changes,
})

/** docs/specification.md, Audit */
export function auditRoutes(audit: Audit, seals: AuditSeals): Route[] {
  return [
    route({
      method: 'GET',
      path: '/audit',
      operation: 'listAudit',
      summary: 'Read who has changed what, newest first',
      description: 'Also sign-ins, and calls that were refused.',
      access: AUDIT_READERS,
      query: EntryQuery,
      answers: { 200: { description: 'A page of the audit trail.', schema: PageOf(AuditEntrySchema) } },
      read: async ({ query }) => {
        const page = { ...parsePage({ ...query }), ...timesOf(query) }
        return ok(encodePage(await audit.list(filterOf(query), page), encodeEntry))
      },
    }),
    route({
      method: 'GET',
      path: '/audit/seal',
      operation: 'getAuditSeal',
      summary: 'Read the newest seal of the audit trail',
      description:
        'Keep it somewhere else: `platform audit verify --seal` then finds out whether the end of the trail was cut off.',
      access: AUDIT_READERS,
      answers: { 200: { description: 'The seal.', schema: SealSchema } },
      read: async () => {
        const seal = await seals.newest()
        return ok({ seal: seal ? formatSeal(seal) : null })
      },
    }),
    route({
      method: 'GET',
      path: '/audit/export',
      operation: 'exportAudit',
      summary: 'Read the whole audit trail as JSON lines, oldest first',
      access: AUDIT_READERS,
      query: FilterSchema,
      answers: {
        200: { description: 'One row in each line.', schema: Type.String(), contentType: LINES },
      },
      async stream({ query }) {
        const page = { ...timesOf(query), limit: EXPORT_PART, order: OLDEST_FIRST }
        const parts = audit.all(filterOf(query), page)
        // The first part is read before the response begins, so that an error determines the status.
        const first = await parts.next()
        return linesOf(first.done === true ? [] : first.value, parts)
      },
    }),
  ]
}

/** Each part is read when the client has taken the one before it. */
function linesOf(first: readonly TrailEntry[], others: AsyncIterable<readonly TrailEntry[]>): StreamBody {
  return async (output) => {
    const write = (part: readonly TrailEntry[]) => {
      for (const entry of part) output.write(`${encodeEntry(entry)}\n`)
      return output.drained()
    }
    try {
      await write(first)
      for await (const part of others) {
        if (output.isOver) return
        await write(part)
      }
    } catch (error) {
      // The response is cut: a regular end would look as if it were complete.
      output.cut()
      throw error
    }
  }
}

function timesOf({ from, to }: Static<typeof FilterSchema>) {
  return {
    ...(from !== undefined && { createdFrom: parseTime('from', from) }),
    ...(to !== undefined && { createdTo: parseTime('to', to) }),
  }
}

function filterOf({ actor, operation, target }: Static<typeof FilterSchema>): TrailFilter {
  return {
    ...(actor !== undefined && { actor }),
    ...(operation !== undefined && { operation }),
    ...(target !== undefined && { target: parseTarget(target) }),
  }
}

/** Throws `validation_failed`. */
export function parseTarget(text: string): NonNullable<TrailFilter['target']> {
  const colon = text.indexOf(':')
  if (colon < 1 || colon === text.length - 1)
    throw invalidField('target', 'not_matching', { pattern: TARGET_FORM })
  return { kind: text.slice(0, colon), id: text.slice(colon + 1) }
}
