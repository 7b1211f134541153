import { Compile } from 'typebox/compile'
import type { TSchema } from 'typebox'
import { AppError, type ErrorDetail } from '../../kernel/errors.ts'

/** Checks one part of a request; answers the value as the handler gets it. Throws `validation_failed`. */
export type Validate = (value: unknown) => unknown

/** A body must have the types it should have; a query or a path is text and is converted first. */
export function compileValidation(schema: TSchema, part: 'body' | 'query' | 'params'): Validate {
  const check = Compile(schema)
  const types = memberTypes(schema)
  return (given) => {
    const value = part === 'body' ? given : converted(given as Record<string, unknown>, types)
    if (check.Check(value)) return value
    throw validationFailed(part, check.Errors(value))
  }
}

function memberTypes(schema: TSchema): ReadonlyMap<string, string> {
  const properties = 'properties' in schema ? (schema.properties as Record<string, { type?: string }>) : {}
  return new Map(Object.entries(properties).map(([name, { type }]) => [name, type ?? '']))
}

/** Text that reads as a member's type exactly; anything else stays as it is and fails the check. */
function converted(
  given: Record<string, unknown>,
  types: ReadonlyMap<string, string>,
): Record<string, unknown> {
  const value: Record<string, unknown> = {}
  for (const name of Object.keys(given)) value[name] = convertedText(given[name], types.get(name))
  return value
}

function convertedText(text: unknown, type: string | undefined): unknown {
  if (type === 'integer' && typeof text === 'string' && /^-?\d{1,16}$/.test(text)) return Number(text)
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true'
  return text
}

interface SchemaError {
  readonly keyword: string
  readonly instancePath: string
  readonly message: string
  readonly params?: object
}

// More than this tells nobody anything.
const DETAIL_LIMIT = 20

function validationFailed(part: string, errors: readonly SchemaError[]): AppError {
  const details = distinct(errors.flatMap((error) => detailsOf(error))).slice(0, DETAIL_LIMIT)
  const [main] = details
  const message = main
    ? `${main.path === '' ? `The ${part}` : main.path} ${main.message}.`
    : `The ${part} is not valid.`
  return new AppError('invalid', 'validation_failed', message, { details })
}

/** The error of a whole object names its members; each of them becomes a detail of its own. */
function detailsOf({ keyword, instancePath, message, params = {} }: SchemaError): ErrorDetail[] {
  const path = instancePath.slice(1).replaceAll('/', '.')
  const members = (names: unknown, text: string) =>
    (Array.isArray(names) ? names : []).map((name) => ({
      path: path ? `${path}.${name}` : String(name),
      message: text,
    }))
  switch (keyword) {
    case 'required':
      return members('requiredProperties' in params ? params.requiredProperties : [], 'is required')
    case 'additionalProperties':
      return members(
        'additionalProperties' in params ? params.additionalProperties : [],
        'is not a known field',
      )
    // Repeats what additionalProperties says, in the words of the checker.
    case 'boolean':
    case '~guard':
      return []
    case 'enum':
      return [{ path, message: `must be one of ${allowed(params).join(', ')}` }]
    case 'type':
      return [
        {
          path,
          message: message
            .replace(/^must be (?=[aeiou])/, 'must be an ')
            .replace(/^must be (?!an )/, 'must be a '),
        },
      ]
    default:
      return [{ path, message }]
  }
}

function allowed(params: object): unknown[] {
  return 'allowedValues' in params && Array.isArray(params.allowedValues) ? params.allowedValues : []
}

function distinct(details: readonly ErrorDetail[]): ErrorDetail[] {
  const seen = new Map(details.map((detail) => [`${detail.path}\n${detail.message}`, detail]))
  return [...seen.values()]
}
