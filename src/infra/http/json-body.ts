import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { AppError } from '../../kernel/errors.ts'

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
      if (error) return done(malformedJson('The body is not JSON.', error))
      done(valueFault(text, value) ?? null, value)
    })
  })
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

/** JSON that could not be passed on as it came: nested without end, or with a number that no double holds. */
function valueFault(text: string, value: unknown): AppError | undefined {
  if (text.length > 2 * DEPTH_LIMIT && isDeeperThan(DEPTH_LIMIT, value)) {
    return invalidBody('', `must not be nested deeper than ${DEPTH_LIMIT} levels`)
  }
  const path = MAYBE_INFINITE.test(text) ? pathOfInfinite(value) : undefined
  return path && invalidBody(path.join('.'), 'must be a number below 1.8e308')
}

function invalidBody(path: string, message: string): AppError {
  const sentence = `${path === '' ? 'The body' : path} ${message}.`
  return new AppError('invalid', 'validation_failed', sentence, { details: [{ path, message }] })
}

function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((member) => isDeeperThan(levels - 1, member))
}

// An exponent of three digits, or as many digits as the largest double has.
const MAYBE_INFINITE = /[eE]\+?\d{3}|\d{309}/

function pathOfInfinite(value: unknown): string[] | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : []
  if (typeof value !== 'object' || value === null) return undefined
  for (const [name, member] of Object.entries(value)) {
    const path = pathOfInfinite(member)
    if (path) return [name, ...path]
  }
  return undefined
}

function malformedJson(message: string, cause?: unknown): AppError {
  return new AppError('invalid', 'malformed_json', message, { cause })
}
