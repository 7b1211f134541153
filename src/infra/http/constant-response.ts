import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ConstantContent } from '../../wire/constant-content.ts'
import type { Answer } from '../../wire/route.ts'
import { matchesTag } from '../../wire/entity-tag.ts'
import { acceptsGzip, varyBy } from './compression.ts'

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
  { status, headers: given = {} }: Answer,
  content: ConstantContent,
): FastifyReply {
  const isCompressed = acceptsGzip(headers)
  reply.headers({
    // The client asks each time whether its copy is still good, unless the answer says more.
    'cache-control': 'no-cache',
    ...given,
    etag: isCompressed ? content.compressedTag : content.entityTag,
  })
  varyBy(reply, 'accept-encoding')
  const known = headers['if-none-match']
  const knownTag = [content.entityTag, content.compressedTag].find(
    (tag) => known !== undefined && matchesTag(known, tag, 'weak'),
  )
  if (knownTag !== undefined) return reply.code(304).header('etag', knownTag).send()
  if (isCompressed) reply.header('content-encoding', 'gzip')
  const bytes = isCompressed ? content.compressed : content.bytes
  shared.add(bytes)
  return reply.code(status).type(content.contentType).send(bytes)
}
