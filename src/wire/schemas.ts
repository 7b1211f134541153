import { Type, type TProperties, type TSchema } from 'typebox'
import type { ErrorValues, FaultCode, SentenceCause } from '../kernel/errors.ts'

/** An object on the wire; unknown fields are rejected. */
export function Fields<P extends TProperties>(
  properties: P,
  options: { description?: string; $id?: string } = {},
) {
  return Type.Object(properties, { additionalProperties: false, ...options })
}

/** One of a fixed set of values. */
export function OneOf<const T extends readonly string[]>(values: T, description?: string) {
  return Type.Unsafe<T[number]>({ type: 'string', enum: [...values], ...(description && { description }) })
}

/** One of some values in a query, or several with commas between them. */
export function SeveralOf<const T extends readonly string[]>(values: T, description: string) {
  return Type.Unsafe<T[number][]>({
    type: 'array',
    items: { type: 'string', enum: [...values] },
    minItems: 1,
    maxItems: values.length,
    isCommaList: true,
    description: `${description} Several have commas between them.`,
    examples: [values.slice(0, 2)],
  })
}

/** A value that may be null. */
export function Nullable<T>(
  schema: { readonly type: string } & (TSchema | { readonly [keyword: string]: unknown }),
) {
  return Type.Unsafe<T | null>({ ...schema, type: [schema.type, 'null'] })
}

/** One of a fixed set of values, or null. */
export function NullableOneOf<const T extends readonly string[]>(values: T, description: string) {
  return Nullable<T[number]>({ type: 'string', enum: [...values, null], description })
}

/** The code and the values of a sentence beside it; null for a sentence of a person or of another program. */
export function CauseOf<Code extends string>(codes: readonly Code[], description: string) {
  return Type.Unsafe<SentenceCause<Code> | null>({
    type: ['object', 'null'],
    properties: {
      code: { type: 'string', enum: [...codes] },
      values: { type: 'object', additionalProperties: true, examples: [{}] },
    },
    required: ['code', 'values'],
    description: `For programs: ${description} Null where the sentence is not the platform’s, or of an earlier release.`,
  })
}

/** A time in a response: RFC 3339 in UTC with milliseconds. */
export const Timestamp = Type.String({ format: 'date-time', examples: ['2026-01-31T02:00:00.000Z'] })
export const NullableTimestamp = Nullable<string>({ ...Timestamp })

/** How often an object of the platform has changed. */
export const Version = Type.Integer({
  minimum: 1,
  description: 'Grows with each change: of two copies, the one with the larger number is the newer one.',
  examples: [1],
})

/** A time in a request: RFC 3339 with any offset. */
export function GivenTime(description = 'RFC 3339 with any offset.') {
  return Type.String({
    format: 'date-time',
    maxLength: 64,
    description,
    examples: ['2099-01-31T03:00:00+01:00'],
  })
}

/** The error code for a text that does not match, for patterns that people cannot read. The OpenAPI document leaves it out. */
export interface PatternFault {
  readonly patternFault: readonly [code: FaultCode, values?: ErrorValues]
}

/**
 * A pattern that the server checks with the flag `u` of ECMAScript, and the one that the OpenAPI document shows. Clients use
 * the second without that flag, or in RE2: there it matches every text that the first matches, and maybe more.
 */
export function checkedPattern(
  pattern: string,
  documentedPattern: string,
  ...patternFault: PatternFault['patternFault']
) {
  return { pattern, documentedPattern, patternFault }
}

// NUL cannot be stored by PostgreSQL, and half a surrogate pair is not text.
const TEXT = checkedPattern('^[^\\u0000\\uD800-\\uDFFF]*$', '^[^\\x00]*$', 'not_text')

/** Free text for people. */
export function Text(options: {
  minLength?: number
  maxLength: number
  description?: string
  examples?: string[]
}) {
  return Type.String({ ...TEXT, ...options })
}

/** A filter of a list; `fields` names what contains the text. */
export function ContainedText(fields: string) {
  return Text({
    minLength: 1,
    maxLength: 200,
    description: `Only items with this text in ${fields}. Capital and small letters from A to Z are the same.`,
  })
}

/**
 * A name that stands in a path. Not `.` and `..`: browsers, proxies and clients remove them from an address, so nobody could
 * name the object there.
 */
export function PathName(
  characters: string,
  maxLength: number,
  options: { description: string; examples: string[]; patternFault?: PatternFault['patternFault'] },
) {
  const name = `[${characters}]{1,${maxLength}}$`
  const values = { maximum: maxLength, characters: characters.match(/\w-\w|./g) ?? [] }
  return Type.String({
    ...checkedPattern(`^(?!\\.{1,2}$)${name}`, `^${name}`, 'not_an_id', values),
    ...options,
  })
}

/** An id made by the platform. Any text of that length is looked up, so that an unknown one is 404. */
export const Id = Text({ minLength: 1, maxLength: 64, description: 'UUIDv7 (RFC 9562).' })

export const IdParams = Fields({ id: Id })

const Values = Type.Record(
  Type.String(),
  Type.Union([Type.String(), Type.Number(), Type.Array(Type.String())]),
  { description: 'What the message says, for programs.' },
)

export const ErrorBody = Fields(
  {
    code: Type.String({
      description: 'Stable; each operation lists its codes.',
      examples: ['validation_failed'],
    }),
    message: Type.String({ description: 'One sentence.' }),
    details: Type.Optional(
      Type.Array(
        Fields({
          path: Type.String({ description: 'Path of the field: `amount_cents`, `items.0.title`.' }),
          code: Type.String({
            description: 'What is wrong; docs/reference/errors.md lists the codes.',
            examples: ['required'],
          }),
          values: Type.Optional(Values),
          message: Type.String({ description: 'What was expected.' }),
        }),
      ),
    ),
    values: Type.Optional({
      ...Values,
      description:
        'What the message says, for programs. `invalid_transition`: `status` and the `allowed` ones; ' +
        '`precondition_failed`: the current `etag`; `order_exists`: the `differing` fields.',
    }),
  },
  { $id: 'Error' },
)
