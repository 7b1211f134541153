import type { IncomingHttpHeaders } from 'node:http'
import { promisify } from 'node:util'
import { constants, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { JsonText } from '../../kernel/text.ts'
import { preferredOffer } from '../../wire/preferred-offer.ts'
import type { Answer, Route } from '../../wire/route.ts'
import type { ConstantContent } from '../../wire/constant-content.ts'
import { matchesTag } from '../../wire/entity-tag.ts'

const compress = promisify(gzip)
// docs/specification.md, HTTP API; a shorter text fits in one packet anyway.
const SHORTEST = 1_024
// Twice as quick as the usual level, for a list that is hardly larger.
const QUICK = { level: constants.Z_BEST_SPEED }

/**
 * Whether answers of the operation may be compressed: only answers to reads, which have no secrets. The size of a compressed
 * text with a secret tells something of it to whoever chooses another part of the text (BREACH).
 */
export function isCompressible({ method }: Pick<Route, 'method'>): boolean {
  return method === 'GET'
}

/**
 * The answer, compressed if the client accepts that. An answer with a tag stays as it is: the tag names its bytes, and a change
 * sends the tag back (RFC 9110, section 8.8.3.3).
 */
export function compressedFor(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  answer: Answer,
): Answer | Promise<Answer> {
  if (answer.status !== 200 || answer.headers?.['etag'] !== undefined) return answer
  const json = jsonOf(answer.body)
  const text = json?.text ?? answer.body
  // The text of an object is made once, whether or not it is compressed.
  const plain = json ? { ...answer, body: json } : answer
  if (typeof text !== 'string' || text.length < SHORTEST) return plain
  varyBy(reply, 'accept-encoding')
  return acceptsGzip(headers) ? compressed(answer, text, json && JSON_TYPE) : plain
}

async function compressed(answer: Answer, text: string, type: string | undefined): Promise<Answer> {
  return {
    ...answer,
    headers: {
      ...(type !== undefined && { 'content-type': type }),
      ...answer.headers,
      'content-encoding': 'gzip',
    },
    body: await compress(text, QUICK),
  }
}

function jsonOf(body: unknown): JsonText | undefined {
  if (body instanceof JsonText) return body
  const isData = typeof body === 'object' && body !== null && !Buffer.isBuffer(body)
  return isData ? new JsonText(JSON.stringify(body)) : undefined
}

/** RFC 9110, section 12.5.3 */
function acceptsGzip(headers: IncomingHttpHeaders): boolean {
  return preferredOffer(headers['accept-encoding'], ['gzip']) !== undefined
}

/** Says that the answer depends on a header of the request. */
export function varyBy(reply: FastifyReply, header: string): void {
  reply.header('vary', [reply.getHeader('vary') ?? [], header].flat().join(', '))
}

/** Bytes that all responses share, which cost no memory of their own. */
const shared = new WeakSet<object>()

/** The memory that a response needs until its client has read it. */
export function memoryOf(payload: unknown): number {
  if (typeof payload === 'string') return payload.length
  return Buffer.isBuffer(payload) && !shared.has(payload) ? payload.length : 0
}

/** Sends the content compressed if the client accepts that, or 304 if the client has it already. */
export function sendConstant(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  { status, headers: answerHeaders = {} }: Answer,
  content: ConstantContent,
): FastifyReply {
  const isCompressed = acceptsGzip(headers)
  reply.headers({
    // The client asks each time whether its copy is still good, unless the answer says more.
    'cache-control': 'no-cache',
    ...answerHeaders,
    etag: isCompressed ? content.compressedTag : content.entityTag,
  })
  varyBy(reply, 'accept-encoding')
  const knownTags = headers['if-none-match']
  const knownTag = [content.entityTag, content.compressedTag].find(
    (tag) => knownTags !== undefined && matchesTag(knownTags, tag, 'weak'),
  )
  if (knownTag !== undefined) return reply.code(304).header('etag', knownTag).send()
  if (isCompressed) reply.header('content-encoding', 'gzip')
  const bytes = isCompressed ? content.compressed : content.bytes
  shared.add(bytes)
  return reply.code(status).type(content.contentType).send(bytes)
}

export const JSON_TYPE = 'application/json; charset=utf-8'

export function sendAnswer(reply: FastifyReply, { status, body, headers }: Answer): FastifyReply {
  reply.code(status)
  if (headers) reply.headers(headers)
  return body instanceof JsonText ? reply.type(JSON_TYPE).send(toBytes(body)) : reply.send(body)
}

// Node.js encodes a text of this length on the stack, and writes it together with the headers.
const SHORT_TEXT = 16_384

/** A socket would encode a long text more slowly. */
function toBytes({ text }: JsonText): string | Buffer {
  return text.length < SHORT_TEXT ? text : Buffer.from(text)
}
