import { traceHeaders } from '../../kernel/trace.ts'
import type { RobotReply, RobotRequest } from './adapter.ts'

// Replies of robots are a fraction of this.
const MAX_REPLY_BYTES = 64 * 1_024

/** The reply, or why there is none; neither contains the address. */
export type PostResult =
  | { readonly reply: RobotReply }
  /** `isUncertain`: the request may have arrived. */
  | { readonly failure: string; readonly isUncertain: boolean }

export interface PostLimits {
  /** For the connection, the request and the whole reply together. */
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
}

/** Sends a request and reads the reply within the time limit. Follows no redirect. */
export async function post(request: RobotRequest, { timeoutMs, signal }: PostLimits): Promise<PostResult> {
  const control = new AbortController()
  const timer = setTimeout(() => control.abort(`no answer within ${timeoutMs / 1_000} s`), timeoutMs)
  const stop = () => control.abort('interrupted')
  if (signal?.aborted) stop()
  signal?.addEventListener('abort', stop, { once: true })
  try {
    const response = await fetch(request.url, {
      method: 'POST',
      headers: { ...request.headers, ...traceHeaders() },
      body: request.body,
      redirect: 'manual',
      signal: control.signal,
    })
    return {
      reply: { status: response.status, headers: response.headers, body: await limitedText(response) },
    }
  } catch (error) {
    return control.signal.aborted
      ? { failure: String(control.signal.reason), isUncertain: true }
      : networkFailure(error)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', stop)
  }
}

async function limitedText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  const body: ReadableStream<Uint8Array> | null = response.body
  if (body === null) return ''
  // Leaving the loop cancels the rest of the reply.
  for await (const chunk of body) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > MAX_REPLY_BYTES) break
  }
  return Buffer.concat(chunks).toString('utf8', 0, MAX_REPLY_BYTES)
}

/** Failures before anything was sent. */
const NEVER_CONNECTED = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]

/** The code of the error: its message would name the host. */
function networkFailure(error: unknown): { failure: string; isUncertain: boolean } {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'no code'
  return { failure: `not reached (${code})`, isUncertain: !NEVER_CONNECTED.includes(code) }
}
