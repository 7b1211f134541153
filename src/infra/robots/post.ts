import type { RobotReply, RobotRequest } from './adapter.ts'

// What a robot has to say fits into a fraction of this.
const MAX_REPLY_BYTES = 64 * 1_024

/** What came back, or why nothing did, in words without the address. */
export type PostResult = { readonly reply: RobotReply } | { readonly failure: string }

export interface PostLimits {
  /** For everything: the connection, the request and the whole reply. */
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
}

/** Sends a request and reads the reply, follows no redirection, and never takes longer than it was given. */
export async function post(request: RobotRequest, { timeoutMs, signal }: PostLimits): Promise<PostResult> {
  const control = new AbortController()
  const timer = setTimeout(() => control.abort(`no answer within ${timeoutMs / 1_000} s`), timeoutMs)
  const stop = () => control.abort('interrupted')
  if (signal?.aborted) stop()
  signal?.addEventListener('abort', stop, { once: true })
  try {
    const response = await fetch(request.url, {
      method: 'POST',
      headers: request.headers,
      body: request.body,
      redirect: 'manual',
      signal: control.signal,
    })
    return {
      reply: { status: response.status, headers: response.headers, body: await limitedText(response) },
    }
  } catch (error) {
    return { failure: control.signal.aborted ? String(control.signal.reason) : networkFailure(error) }
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
  // Leaving the loop cancels what is still to come.
  for await (const chunk of body) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > MAX_REPLY_BYTES) break
  }
  return Buffer.concat(chunks).toString('utf8', 0, MAX_REPLY_BYTES)
}

/** Messages of network errors name the host; their codes tell as much. */
function networkFailure(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'no code'
  return `not reached (${code})`
}
