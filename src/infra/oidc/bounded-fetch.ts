import type { CustomFetchOptions } from 'openid-client'
import { errorMessage } from '../../kernel/errors.ts'
import type { EndpointRules } from './endpoint-rules.ts'

/** No answer came, or not the whole of it. A TypeError, because the library passes these on unchanged. */
export class ProviderUnreachable extends TypeError {
  override readonly name = 'ProviderUnreachable'
}

// The metadata and the keys of large providers have up to 20 KiB.
const LARGEST_ANSWER_BYTES = 262_144

/**
 * A `fetch` for the requests of the library: it calls only addresses that the rules allow, and reads the whole answer, so
 * that the time limit of the request covers it. Throws {@link ProviderUnreachable}.
 */
export function createBoundedFetch(rules: EndpointRules) {
  return async (address: string, options: CustomFetchOptions): Promise<Response> => {
    rules.require(address)
    const response = await fetch(address, { ...options, body: formOf(options), redirect: 'manual' }).catch(
      unreachable,
    )
    const body = await readBody(response)
    return new Response(hasBody(response) ? body : null, {
      status: response.status,
      headers: response.headers,
    })
  }
}

/** The library sends forms only. */
function formOf({ body }: CustomFetchOptions): URLSearchParams | null {
  return body instanceof URLSearchParams ? body : null
}

async function readBody({ body }: Response): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  // The stream is cancelled when the loop is left.
  for await (const chunk of body ? chunksOf(body) : []) {
    bytes += chunk.length
    if (bytes > LARGEST_ANSWER_BYTES)
      throw new TypeError(`an answer has more than ${LARGEST_ANSWER_BYTES} bytes`)
    chunks.push(chunk)
  }
  return new Uint8Array(Buffer.concat(chunks, bytes))
}

async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body) yield chunk
  } catch (error) {
    unreachable(error)
  }
}

/** A response with one of these statuses must not be given a body. */
function hasBody({ status }: Response): boolean {
  return ![204, 205, 304].includes(status)
}

function unreachable(error: unknown): never {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
  throw new ProviderUnreachable(errorMessage(cause), { cause: error })
}
