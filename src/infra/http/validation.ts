import type { FastifySchemaCompiler } from 'fastify'
import { Compile } from 'typebox/compile'
import type { TSchema } from 'typebox'
import { AppError, type ErrorDetail } from '../../kernel/errors.ts'
import { schemaErrors, type SchemaError } from './schema-errors.ts'

/** Checks one part of a request; returns the value for the handler. Throws `validation_failed`. */
export type Validate = (value: unknown) => unknown

/** The members of a query or a path are text, so they are converted first. */
function compileValidation(schema: TSchema, part: 'body' | 'query' | 'params'): Validate {
  const check = Compile(schema)
  const types = memberTypes(schema)
  let describe: ReturnType<typeof schemaErrors> | undefined
  return (given) => {
    const value = part === 'body' ? given : converted(given as Record<string, unknown>, types)
    if (check.Check(value)) return value
    describe ??= schemaErrors(schema)
    const details = distinct(describe(value, '').flatMap(detailsOf))
    throw validationFailed(
      part,
      part === 'query' ? details.map((each) => withPlusHint(each, value)) : details,
    )
  }
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
  const names =
    typeof body === 'object' && body !== null && !Array.isArray(body) ? Object.keys(body) : undefined
  if (names?.length === 0) return
  const details = names?.slice(0, DETAIL_LIMIT).map((path) => ({ path, message: 'is not a known field' }))
  throw validationFailed('body', details ?? [{ path: '', message: 'must be left out' }])
}

function memberTypes(schema: TSchema): ReadonlyMap<string, string> {
  const properties = 'properties' in schema ? (schema.properties as Record<string, { type?: string }>) : {}
  return new Map(Object.entries(properties).map(([name, { type }]) => [name, type ?? '']))
}

/** Converts text that is a valid value of the member's type; other text stays as it is and fails the check. */
function converted(
  given: Record<string, unknown>,
  types: ReadonlyMap<string, string>,
): Record<string, unknown> {
  // From entries: assigning a member named __proto__ would lose it.
  return Object.fromEntries(
    Object.entries(given).map(([name, text]) => [name, convertedText(text, types.get(name))]),
  )
}

function convertedText(text: unknown, type: string | undefined): unknown {
  if (type === 'integer' && typeof text === 'string' && /^-?\d{1,16}$/.test(text)) return Number(text)
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true'
  return text
}

// More details do not help the caller.
const DETAIL_LIMIT = 20

function validationFailed(part: string, faults: readonly ErrorDetail[]): AppError {
  const details = faults.slice(0, DETAIL_LIMIT).map(shortened)
  const [main] = details
  const message = main
    ? `${main.path === '' ? `The ${part}` : main.path} ${main.message}.`
    : `The ${part} is not valid.`
  return new AppError('invalid', 'validation_failed', message, { details })
}

/** The error of a whole object names its members; each of them becomes a detail of its own. */
function detailsOf({ keyword, instancePath, message, params = {} }: SchemaError): ErrorDetail[] {
  const path = memberPath(instancePath)
  const members = (names: unknown, text: string) =>
    (Array.isArray(names) ? names : []).map((name) => ({
      path: path ? `${path}.${name}` : String(name),
      message: text,
    }))
  switch (keyword) {
    case 'required':
      return members('requiredProperties' in params ? params.requiredProperties : [], 'is required')
    // One error for each unknown field, before the one that summarizes them.
    case 'boolean':
      return [{ path, message: 'is not a known field' }]
    case 'additionalProperties':
    case '~guard':
      return []
    case 'enum':
      return [{ path, message: `must be one of ${allowed(params).join(', ')}` }]
    case 'format':
      return [{ path, message: 'must be a time in RFC 3339, such as 2026-01-31T02:00:00Z' }]
    case 'type':
      return [{ path, message: withArticle(message) }]
    default:
      return [{ path, message }]
  }
}

/** `must be either integer or null` → `must be an integer or null` */
function withArticle(message: string): string {
  return message
    .replace(/^must be either /, 'must be ')
    .replace(/^must be (?=[aeiou])/, 'must be an ')
    .replace(/^must be (?!an )/, 'must be a ')
}

/** `/headers/x~1y` (RFC 6901) → `headers.x/y` */
function memberPath(pointer: string): string {
  const steps = pointer.split('/').slice(1)
  return steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~')).join('.')
}

// A client may send a member name as long as a body; the response must stay short.
const PATH_LIMIT = 256

function shortened({ path, message }: ErrorDetail): ErrorDetail {
  return { path: path.length > PATH_LIMIT ? `${path.slice(0, PATH_LIMIT)}…` : path, message }
}

function allowed(params: object): unknown[] {
  return 'allowedValues' in params && Array.isArray(params.allowedValues) ? params.allowedValues : []
}

function distinct(details: readonly ErrorDetail[]): ErrorDetail[] {
  const seen = new Map(details.map((detail) => [`${detail.path}\n${detail.message}`, detail]))
  return [...seen.values()]
}
