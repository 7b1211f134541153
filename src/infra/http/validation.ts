import type { FastifySchemaCompiler } from 'fastify'
import { Compile } from 'typebox/compile'
import type { TSchema } from 'typebox'
import { validationFailed, fieldFault, type ErrorDetail, type FaultCode } from '../../kernel/errors.ts'
import type { PatternFault } from '../../wire/schemas.ts'
import { schemaErrors, type SchemaError } from './schema-errors.ts'
import { isRecord } from '../../kernel/text.ts'

/** Checks one part of a request; returns the value for the handler. Throws `validation_failed`. */
export type Validate = (value: unknown) => unknown

/** The members of a query or a path are text, so they are converted first. */
function compileValidation(schema: TSchema, part: 'body' | 'query' | 'params'): Validate {
  const check = Compile(schema)
  const types = part === 'body' ? new Map<string, MemberType>() : memberTypes(schema)
  let describe: ReturnType<typeof schemaErrors> | undefined
  return (input) => {
    const value = part === 'body' ? input : convertTexts(input as Record<string, unknown>, types)
    if (check.Check(value)) return value
    describe ??= schemaErrors(schema)
    const details = describe(value, '').flatMap((error) => detailsOf(schema, error))
    throw invalidPart(
      part,
      uniqueDetails(part === 'query' ? details.map((detail) => ofParameter(detail, input, types)) : details),
    )
  }
}

/** The fault of a parameter of a query; a fault of one value of a list counts for the whole list. */
function ofParameter(
  detail: ErrorDetail,
  query: unknown,
  types: ReadonlyMap<string, MemberType>,
): ErrorDetail {
  const { path, code } = detail
  if (code === 'unknown_field') return fieldFault(path, 'unknown_parameter')
  const list = path.replace(/\.\d+$/, '')
  const name = types.get(list)?.isCommaList ? list : path
  if (Array.isArray((query as Record<string, unknown>)[name]) && code !== 'too_many_items')
    return fieldFault(name, 'repeated_parameter')
  return name === path ? withPlusHint(detail, query) : { ...detail, path: name }
}

/** In a query a plus sign stands for a space, which is the usual mistake in a time with an offset. */
function withPlusHint(detail: ErrorDetail, query: unknown): ErrorDetail {
  const text = (query as Record<string, unknown>)[detail.path]
  if (typeof text !== 'string' || !/^\d{4}-.* \d{2}:\d{2}$/.test(text)) return detail
  return { ...detail, message: `${detail.message}; write + as %2B` }
}

/** {@link compileValidation} in the form of the framework: errors are returned as `error`. */
export const compileValidator: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  const part = httpPart === 'body' || httpPart === 'params' ? httpPart : 'query'
  // Compiled by the first call; compiling all schemas would delay the start.
  let validate: Validate | undefined
  return (value: unknown) => {
    try {
      validate ??= compileValidation(schema, part)
      return { value: validate(value) }
    } catch (error) {
      return { error: error as Error }
    }
  }
}

/** An operation without a body accepts an empty object, but no fields, which it would ignore. */
export function refuseFields(body: unknown): void {
  if (body === undefined) return
  const names = isRecord(body) ? Object.keys(body) : undefined
  if (names?.length === 0) return
  throw invalidPart(
    'body',
    names?.map((path) => fieldFault(path, 'unknown_field')) ?? [fieldFault('', 'left_out')],
  )
}

interface MemberType {
  readonly type?: string
  readonly isCommaList?: true
}

function memberTypes(schema: TSchema): ReadonlyMap<string, MemberType> {
  const properties = 'properties' in schema ? (schema.properties as Record<string, MemberType>) : {}
  return new Map(Object.entries(properties))
}

/** Converts text that is a valid value of the member's type; other text stays as it is and fails the check. */
function convertTexts(
  texts: Record<string, unknown>,
  types: ReadonlyMap<string, MemberType>,
): Record<string, unknown> {
  // From entries: assigning a member named __proto__ would lose it.
  return Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [name, convertedText(text, types.get(name))]),
  )
}

function convertedText(text: unknown, { type, isCommaList }: MemberType = {}): unknown {
  // A list that is repeated becomes a list in a list, and fails the check.
  if (isCommaList) return typeof text === 'string' ? text.split(',') : [text]
  if (type === 'integer' && typeof text === 'string' && /^-?\d{1,16}$/.test(text)) return Number(text)
  // A parameter that may be repeated stands once.
  if (type === 'array' && typeof text === 'string') return [text]
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true'
  return text
}

// More details do not help the caller.
const DETAIL_LIMIT = 20

function invalidPart(part: string, faults: readonly ErrorDetail[]): Error {
  return validationFailed(faults.slice(0, DETAIL_LIMIT).map(shortenDetail), `The ${part}`)
}

/** The faults that the keywords of JSON Schema stand for, and the name of their limit. */
const LIMITS: Readonly<Record<string, readonly [FaultCode, limit: string]>> = {
  minLength: ['too_short', 'minimum'],
  maxLength: ['too_long', 'maximum'],
  minItems: ['too_few_items', 'minimum'],
  maxItems: ['too_many_items', 'maximum'],
  minProperties: ['too_few_fields', 'minimum'],
  maxProperties: ['too_many_fields', 'maximum'],
  minimum: ['too_small', 'minimum'],
  maximum: ['too_large', 'maximum'],
}

type Fault = PatternFault['patternFault']

/** The error of a whole object names its members; each of them becomes a detail of its own. */
function detailsOf(
  schema: TSchema,
  { keyword, instancePath, message, params = {} }: SchemaError,
): ErrorDetail[] {
  const path = memberPath(instancePath)
  const found = (...fault: Fault) => [fieldFault(path, ...fault)]
  switch (keyword) {
    case 'required':
      return textsOf(params, 'requiredProperties').map((name) =>
        fieldFault(path ? `${path}.${name}` : name, 'required'),
      )
    // One error for each unknown field, before the one that summarizes them.
    case 'boolean':
      return found(...(schemaAt(schema, instancePath.replace(/\/[^/]*$/, '')).nameFault ?? UNKNOWN_FIELD))
    case 'additionalProperties':
    case '~guard':
      return []
    case 'enum':
      return found('not_in_list', { allowed: textsOf(params, 'allowedValues') })
    case 'format':
      return found('not_a_time')
    case 'pattern':
      return found(...(schemaAt(schema, instancePath).patternFault ?? wrongForm(params)))
    case 'uniqueItems':
      return found('not_unique')
    case 'type':
      return found('wrong_type', { expected: withArticle(textsOf(params, 'type')) })
  }
  const [code, name] = LIMITS[keyword] ?? []
  return code && name
    ? found(code, { [name]: Number(textsOf(params, 'limit')) })
    : found('invalid', { reason: message })
}

const UNKNOWN_FIELD: Fault = ['unknown_field']

function wrongForm(params: object): Fault {
  return ['wrong_form', { pattern: textsOf(params, 'pattern').join('') }]
}

interface Describing {
  readonly properties?: Readonly<Record<string, Describing>>
  readonly patternProperties?: Readonly<Record<string, Describing>>
  readonly items?: Describing
  readonly patternFault?: Fault
  /** The fault of a name that `patternProperties` does not allow. */
  readonly nameFault?: Fault
}

/** What describes the value at a JSON pointer (RFC 6901). */
function schemaAt(schema: TSchema, pointer: string): Describing {
  return pointer
    .split('/')
    .slice(1)
    .reduce<Describing>(
      ({ properties, patternProperties, items }, name) =>
        properties?.[name] ?? Object.values(patternProperties ?? {})[0] ?? items ?? {},
      schema,
    )
}

/** `['integer', 'null']` → `an integer or null` */
function withArticle([first = '', ...others]: readonly string[]): string {
  return [`${/^[aeiou]/.test(first) ? 'an' : 'a'} ${first}`, ...others].join(' or ')
}

/** `/headers/x~1y` (RFC 6901) → `headers.x/y` */
function memberPath(pointer: string): string {
  const steps = pointer.split('/').slice(1)
  return steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~')).join('.')
}

// A client may send a member name as long as a body; the response must stay short.
const PATH_LIMIT = 256

function shortenDetail(detail: ErrorDetail): ErrorDetail {
  const { path } = detail
  return path.length > PATH_LIMIT ? { ...detail, path: `${path.slice(0, PATH_LIMIT)}…` } : detail
}

/** A parameter of a schema's error, which the library gives alone or as a list. */
function textsOf(params: object, name: string): string[] {
  const value: unknown = (params as Record<string, unknown>)[name]
  return (Array.isArray(value) ? value : [value]).map(String)
}

function uniqueDetails(details: readonly ErrorDetail[]): ErrorDetail[] {
  const seen = new Map(details.map((detail) => [`${detail.path}\n${detail.message}`, detail]))
  return [...seen.values()]
}
