import { type FileHandle, open } from 'node:fs/promises'
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError, errorCode } from '../../kernel/errors.ts'
import type { FileContent } from '../../wire/file-content.ts'
import { matchesTag } from '../../wire/entity-tag.ts'
import { errorAnswer } from './errors.ts'
import type { LongResponses } from './stream-response.ts'

const CHUNK_BYTES = 262_144

/**
 * Sends a file, or the part of it that the client asks for. The conditions of the request are judged in the order of RFC
 * 9110, section 13.2.2.
 */
export async function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  content: FileContent,
  longResponses: LongResponses,
): Promise<FastifyReply> {
  const { headers } = request
  const { entityTag, file } = content
  reply.headers({ etag: entityTag, 'accept-ranges': 'bytes' })
  if (headers['if-match'] !== undefined && !matchesTag(headers['if-match'], entityTag, 'strong'))
    return refuse(reply, changed(entityTag))
  if (headers['if-none-match'] !== undefined && matchesTag(headers['if-none-match'], entityTag, 'weak'))
    return reply.code(304).send()
  // A range has a meaning in a GET only (RFC 9110, section 14.2).
  const range = request.method === 'GET' ? requestedRange(request, content) : 'whole'
  if (range === 'unsatisfiable') {
    reply.header('content-range', `bytes */${file.sizeBytes}`)
    return refuse(reply, unsatisfiable(file.sizeBytes))
  }
  if (request.method === 'HEAD') {
    describe(reply, content, range)
    return reply.send(Readable.from([]))
  }
  const handle = await openFile(reply, content)
  describe(reply, content, range)
  return sendBytes(request, reply, handle, { range, longResponses })
}

/** The file may be deleted after the operation has found it. */
async function openFile(reply: FastifyReply, { file: { path, missing } }: FileContent): Promise<FileHandle> {
  try {
    return await open(path, 'r')
  } catch (error) {
    // These headers describe the file, and the answer is an error.
    reply.removeHeader('etag').removeHeader('accept-ranges')
    throw errorCode(error) === 'ENOENT' ? missing() : error
  }
}

function requestedRange({ headers }: FastifyRequest, { entityTag, file: { sizeBytes } }: FileContent) {
  const condition = headers['if-range']
  // A date is no condition for this file, which has none.
  if (condition !== undefined && condition !== entityTag) return 'whole'
  return parseByteRange(headers.range, sizeBytes)
}

function describe(
  reply: FastifyReply,
  { file: { name, sizeBytes } }: FileContent,
  range: ByteRange | 'whole',
): void {
  reply
    .code(range === 'whole' ? 200 : 206)
    .type('application/octet-stream')
    .header('content-disposition', `attachment; filename="${name}"`)
  if (range === 'whole') {
    reply.header('content-length', sizeBytes)
    return
  }
  const { first, last } = range
  reply.headers({
    'content-length': last - first + 1,
    'content-range': `bytes ${first}-${last}/${sizeBytes}`,
  })
}

function sendBytes(
  request: FastifyRequest,
  reply: FastifyReply,
  handle: FileHandle,
  { range, longResponses }: { readonly range: ByteRange | 'whole'; readonly longResponses: LongResponses },
): FastifyReply {
  const part = range === 'whole' ? {} : { start: range.first, end: range.last }
  // The stream closes the handle, also when the client leaves.
  const stream = handle.createReadStream({ ...part, highWaterMark: CHUNK_BYTES })
  // The length was announced: closing the connection shows the client that the file is incomplete.
  const remove = longResponses.add(request.raw, () => reply.raw.destroy())
  reply.raw.once('close', remove)
  return reply.send(stream)
}

function refuse(
  reply: FastifyReply,
  { status, body, headers }: ReturnType<typeof errorAnswer>,
): FastifyReply {
  return reply
    .code(status)
    .headers(headers ?? {})
    .send(body)
}

function changed(entityTag: string) {
  const message = `The file has changed; its ETag is ${entityTag} now.`
  return errorAnswer(new AppError('precondition_failed', 'precondition_failed', message))
}

function unsatisfiable(sizeBytes: number) {
  const message = `The file has ${sizeBytes} bytes, and the range begins behind them.`
  return errorAnswer(new AppError('range_not_satisfiable', 'range_not_satisfiable', message))
}

/** The bytes from `first` to `last`, both included. */
export interface ByteRange {
  readonly first: number
  readonly last: number
}

const SINGLE_RANGE = /^bytes=[ \t]*(?:(\d+)-(\d*)|-(\d+))[ \t]*$/i

/**
 * The part of a file that a `Range` header asks for (RFC 9110, section 14.1.2). `whole`: the header is malformed, of another
 * unit, or names several ranges, so it is ignored, as RFC 9110 allows.
 */
export function parseByteRange(
  header: string | undefined,
  sizeBytes: number,
): ByteRange | 'whole' | 'unsatisfiable' {
  const [, first, last, suffix] = SINGLE_RANGE.exec(header ?? '') ?? []
  if (suffix !== undefined) return suffixRange(Number(suffix), sizeBytes)
  if (first === undefined || last === undefined) return 'whole'
  if (last !== '' && BigInt(last) < BigInt(first)) return 'whole'
  if (Number(first) >= sizeBytes) return 'unsatisfiable'
  return { first: Number(first), last: last === '' ? sizeBytes - 1 : Math.min(Number(last), sizeBytes - 1) }
}

function suffixRange(length: number, sizeBytes: number): ByteRange | 'unsatisfiable' {
  if (length === 0 || sizeBytes === 0) return 'unsatisfiable'
  return { first: Math.max(0, sizeBytes - length), last: sizeBytes - 1 }
}
