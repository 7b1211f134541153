import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { AppError, validationFailed, fieldFault } from '../../kernel/errors.ts'
import { countMembers, pathAt, scanJson, type JsonScan } from './json-scan.ts'

// Deeper than any thing of the platform; more than many readers of JSON on the bus take.
const DEPTH_LIMIT = 64
// An object of many more takes longer to read than all the rest of a request (docs/specification.md, Limits).
const MEMBER_LIMIT = 20_000

/** A body is JSON or nothing; no body at all is left to the route's schema. */
export function acceptJsonOnly(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    try {
      const checkSchema = request.getValidationFunction('body')
      done(null, parseBody(request.headers, body as Buffer, checkSchema))
    } catch (error) {
      done(error as Error)
    }
  })
}

/** A body is bytes, whatever its media type. */
export function acceptBytes(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
}

/** Returns a fault as `error`. */
type CheckSchema = (value: unknown) => unknown

function parseBody(headers: IncomingHttpHeaders, body: Buffer, checkSchema?: CheckSchema): unknown {
  const codingError = codingFault(headers, body)
  if (codingError) throw codingError
  if (body.length === 0) return undefined
  const text = withoutByteOrderMark(body.toString())
  const scan = scanJson(text)
  // Checked before parsing, which takes the longest.
  if (scan.mostMembers > MEMBER_LIMIT)
    throw validationFailed([fieldFault('', 'too_many_fields', { maximum: MEMBER_LIMIT })])
  const value = parseJson(text)
  const fault = valueFault(value, scan) ?? inexactNumber(text, scan, () => checkSchema?.(value))
  if (fault) throw fault
  return value
}

function withoutByteOrderMark(text: string): string {
  return text.startsWith('\ufeff') ? text.slice(1) : text
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw malformedJson('The body is not JSON.', error)
  }
}

// JavaScript gives these names a meaning of their own.
const DANGEROUS_MEMBER = validationFailed([
  fieldFault('', 'invalid', {
    reason: 'must not have a member __proto__, nor a member prototype of constructor',
  }),
])

/** The error for a body that is not UTF-8 as it was sent. */
function codingFault(headers: IncomingHttpHeaders, body: Buffer): AppError | undefined {
  const coding = headers['content-encoding']
  if (coding !== undefined && coding.toLowerCase() !== 'identity') {
    const message = 'The body must be sent without a Content-Encoding.'
    return new AppError('unsupported_media_type', 'unsupported_media_type', message)
  }
  return isUtf8(body) ? undefined : malformedJson('The body is not JSON in UTF-8.')
}

/**
 * JSON that two readers could understand differently: nested without end, or with a duplicate member.
 */
function valueFault(value: unknown, { members, depth }: JsonScan): AppError | undefined {
  if (depth > DEPTH_LIMIT) return validationFailed([fieldFault('', 'too_deep', { maximum: DEPTH_LIMIT })])
  // Without a member there is nothing to compare.
  let isDangerous = false
  const visit = (name: string, member: unknown) => {
    if (name === '__proto__' || (name === 'constructor' && hasPrototype(member))) isDangerous = true
  }
  const kept = members === 0 ? 0 : countMembers(value, visit)
  if (isDangerous) return DANGEROUS_MEMBER
  // The value has kept one of the members with the same name.
  return members > kept ? malformedJson('The body names a member of an object twice.') : undefined
}

/** A number that no double represents could not be passed on as it came. A field with a limit of its own names that one. */
function inexactNumber(text: string, { lostAt }: JsonScan, checkSchema: () => unknown): Error | undefined {
  if (lostAt === undefined) return undefined
  const checked = checkSchema()
  if (typeof checked === 'object' && checked !== null && 'error' in checked) return checked.error as Error
  return validationFailed([fieldFault(pathAt(text, lostAt).join('.'), 'not_exact')])
}

function hasPrototype(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, 'prototype')
}

function malformedJson(message: string, cause?: unknown): AppError {
  return new AppError('invalid', 'malformed_json', message, { cause })
}
