import type { IncomingMessage } from 'node:http'
import { apiError, Refusal } from './answers.ts'
import { Fields, isObject } from './fields.ts'

// docs/specification.md, Mock drive: a list of 10,000 parts is a quarter of this.
const BODY_LIMIT_BYTES = 1_024 ** 2

const JSON_TYPE = 'application/json'
const FORM_TYPE = 'application/x-www-form-urlencoded'

/** The members of a JSON body; with `form` also of a form. Throws a {@link Refusal}. */
export async function readFields(
  request: IncomingMessage,
  content: AsyncIterable<Uint8Array>,
  { form }: { readonly form: boolean },
): Promise<Fields> {
  const type = mediaType(request.headers['content-type'])
  const isForm = form && type === FORM_TYPE
  if (type !== JSON_TYPE && !isForm)
    throw new Refusal(apiError(415, 'UnsupportedMediaType', `The body must be ${JSON_TYPE}.`))
  const text = await readText(content)
  const value: unknown = isForm ? Object.fromEntries(new URLSearchParams(text)) : parseJson(text)
  if (isObject(value)) return new Fields(value)
  throw new Refusal(
    apiError(400, 'InvalidParameter.Body', 'The body must be a JSON object; {} is the empty one.'),
  )
}

/** Drops the parameters, such as `; charset=utf-8`. */
function mediaType(header = ''): string {
  return (header.split(';')[0] ?? '').trim().toLowerCase()
}

async function readText(content: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of content) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > BODY_LIMIT_BYTES)
      throw new Refusal(apiError(413, 'RequestBodyTooLarge', `The limit is ${BODY_LIMIT_BYTES} bytes.`))
  }
  return Buffer.concat(chunks).toString('utf8')
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
