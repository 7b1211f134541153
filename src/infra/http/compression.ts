import type { IncomingHttpHeaders } from 'node:http'
import { promisify } from 'node:util'
import { constants, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { JsonText } from '../../kernel/text.ts'
import { preferredOffer } from '../../wire/preferred-offer.ts'
import type { Answer, Route } from '../../wire/route.ts'

const compress = promisify(gzip)
// docs/specification.md, HTTP API; a shorter text fits in one packet anyway.
const SHORTEST = 1_024
// Twice as quick as the usual level, for a list that is hardly larger.
const QUICK = { level: constants.Z_BEST_SPEED }

/**
 * Whether answers of the operation may be compressed: to reads. Secrets are in answers to changes alone, and how much a text
 * with one shrinks would tell something of it to whoever chooses another part of the text (BREACH).
 */
export function isCompressible({ method }: Pick<Route, 'method'>): boolean {
  return method === 'GET'
}

/**
 * The answer as a client gets it who may take it compressed. One with a tag stays as it is: the tag names its bytes, and a
 * change sends it back (RFC 9110, section 8.8.3.3).
 */
export async function compressedFor(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  answer: Answer,
): Promise<Answer> {
  const json = jsonOf(answer.body)
  const text = json?.text ?? answer.body
  const isWhole = answer.status === 200 && answer.headers?.['etag'] === undefined
  if (!isWhole || typeof text !== 'string' || text.length < SHORTEST) return answer
  varyBy(reply, 'accept-encoding')
  if (!acceptsGzip(headers)) return json ? { ...answer, body: json } : answer
  const type = json && { 'content-type': 'application/json; charset=utf-8' }
  return {
    ...answer,
    headers: { ...type, ...answer.headers, 'content-encoding': 'gzip' },
    body: await compress(text, QUICK),
  }
}

function jsonOf(body: unknown): JsonText | undefined {
  if (body instanceof JsonText) return body
  const isData = typeof body === 'object' && body !== null && !Buffer.isBuffer(body)
  return isData ? new JsonText(JSON.stringify(body)) : undefined
}

/** RFC 9110, section 12.5.3 */
export function acceptsGzip(headers: IncomingHttpHeaders): boolean {
  return preferredOffer(headers['accept-encoding'], ['gzip']) !== undefined
}

/** Says that the answer depends on a header of the request. */
export function varyBy(reply: FastifyReply, header: string): void {
  reply.header('vary', [reply.getHeader('vary') ?? [], header].flat().join(', '))
}
