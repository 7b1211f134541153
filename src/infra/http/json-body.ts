import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { AppError } from '../../kernel/errors.ts'
import { countMembers, countWrittenMembers } from './json-scan.ts'

declare global {
  interface JSON {
    /** The third argument is ECMAScript 2026: the text that a primitive value was read from. */
    parse(
      text: string,
      reviver: (name: string, value: unknown, context: { readonly source?: string }) => unknown,
    ): unknown
  }
}

// Deeper than any thing of the platform; more than many readers of JSON on the bus take.
const DEPTH_LIMIT = 64

/** A body is JSON or nothing; no body at all is left to the route's schema. */
export function acceptJsonOnly(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  const parse = app.getDefaultJsonParser('error', 'error')
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    const fault = codingFault(request.headers, body as Buffer)
    if (fault || body.length === 0) return done(fault ?? null, undefined)
    const text = body.toString()
    void parse(request, text, (error, value) => {
      if (error) return done(isJson(text) ? DANGEROUS_MEMBER : malformedJson('The body is not JSON.', error))
      done(valueFault(text, value) ?? null, value)
    })
  })
}

// JavaScript gives these names a meaning of their own.
const DANGEROUS_MEMBER = invalidBody(
  '',
  'must not have a member __proto__, nor a member prototype of constructor',
)

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** What is read as text must be the text that was sent. */
function codingFault(headers: IncomingHttpHeaders, body: Buffer): AppError | undefined {
  const coding = headers['content-encoding']
  if (coding !== undefined && coding.toLowerCase() !== 'identity') {
    return new AppError(
      'unsupported_media_type',
      'unsupported_media_type',
      'The body must be sent without a Content-Encoding.',
    )
  }
  return isUtf8(body) ? undefined : malformedJson('The body is not JSON in UTF-8.')
}

/**
 * JSON that two readers could understand differently, or that could not be passed on as it came: nested without end,
 * with a duplicate member, or with a number that no double represents.
 */
function valueFault(text: string, value: unknown): AppError | undefined {
  if (text.length > 2 * DEPTH_LIMIT && isDeeperThan(DEPTH_LIMIT, value)) {
    return invalidBody('', `must not be nested deeper than ${DEPTH_LIMIT} levels`)
  }
  // Of members with the same name the value has kept one.
  if (countWrittenMembers(text) > countMembers(value))
    return malformedJson('The body names a member of an object twice.')
  const path = MAYBE_LOST.test(text) ? pathOfLost(text) : undefined
  return path && invalidBody(path.join('.'), 'must be an integer up to 2^53 - 1, or a number below 1.8e308')
}

function invalidBody(path: string, message: string): AppError {
  const sentence = `${path === '' ? 'The body' : path} ${message}.`
  return new AppError('invalid', 'validation_failed', sentence, { details: [{ path, message }] })
}

function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((member) => isDeeperThan(levels - 1, member))
}

// An exponent of three digits, or as many digits as the first integer that doubles leave out.
const MAYBE_LOST = /[eE]\+?\d{3}|\d{16}/
const LOST = Symbol('lost')

/** The path of the first number that a double does not represent exactly (RFC 7493, section 2.2). */
function pathOfLost(json: string): string[] | undefined {
  const marked: unknown = JSON.parse(json.replace(/^\ufeff/, ''), (_name, value: unknown, { source = '' }) =>
    typeof value === 'number' && isLost(value, source) ? LOST : value,
  )
  return pathOf(LOST, marked)
}

function isLost(value: number, source: string): boolean {
  return !Number.isFinite(value) || (/^-?\d+$/.test(source) && !Number.isSafeInteger(value))
}

function pathOf(sought: symbol, value: unknown): string[] | undefined {
  if (value === sought) return []
  if (typeof value !== 'object' || value === null) return undefined
  for (const [name, member] of Object.entries(value)) {
    const path = pathOf(sought, member)
    if (path) return [name, ...path]
  }
  return undefined
}

function malformedJson(message: string, cause?: unknown): AppError {
  return new AppError('invalid', 'malformed_json', message, { cause })
}
