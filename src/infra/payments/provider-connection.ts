import type { IncomingHttpHeaders } from 'node:http'
import { type Dispatcher, Agent, request } from 'undici'
import { type ChannelSettings, ChannelError } from '../../ports/payments.ts'
import type { Clock } from '../../kernel/clock.ts'
import { SECOND } from '../../kernel/time.ts'
import { errorCode } from '../../kernel/errors.ts'

export interface ChannelDeps {
  readonly clock: Clock
  /** Whose days a bill is of, where the provider has no days of its own: Stripe. UTC by default. */
  readonly timeZone?: string
  /** Replaces the connections of the channel; the caller closes it. */
  readonly dispatcher?: Dispatcher
}

/** The value of a variable of the secrets file. The configuration has checked that each is there. */
export function secretOf({ name, secrets }: ChannelSettings, variable: string): string {
  const value = secrets[variable]
  if (value === undefined || value === '')
    throw new Error(`payments.channels.${name}: expected ${variable} in its secrets file, found none`)
  return value
}

interface ProviderRequest {
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

export interface ProviderAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

// docs/specification.md, Payments: a call lasts at most 10 seconds.
const TIMEOUT_MS = 10 * SECOND
// The size of one response. A page of 100 balance transactions has some 400 KiB.
const MAX_ANSWER_BYTES = 8 * 1_024 ** 2

/** The HTTP connections to a provider. An error never has the address, a header or a body: they have secrets and names. */
export class ProviderConnection {
  readonly #name: string
  readonly #ownAgent: Agent | undefined
  readonly #dispatcher: Dispatcher
  readonly #timeoutMs: number

  constructor({ name }: ChannelSettings, { dispatcher }: ChannelDeps, timeoutMs = TIMEOUT_MS) {
    this.#name = name
    this.#ownAgent = dispatcher ? undefined : new Agent({ connect: { timeout: timeoutMs } })
    this.#dispatcher = dispatcher ?? (this.#ownAgent as Dispatcher)
    this.#timeoutMs = timeoutMs
  }

  /** The whole answer, of any status. @throws ChannelError `unclear` */
  async send(call: ProviderRequest): Promise<ProviderAnswer> {
    const signal = AbortSignal.timeout(this.#timeoutMs)
    try {
      const { statusCode, headers, body } = await this.#request(call, signal)
      return { status: statusCode, headers, body: await readAll(body) }
    } catch (error) {
      throw this.#unclearError(error)
    }
  }

  /** A file of any size. Each piece of it comes within the time of a call. @throws ChannelError `unclear` */
  async *download(call: ProviderRequest): AsyncGenerator<Buffer> {
    try {
      const { statusCode, body } = await this.#request(call)
      if (statusCode !== 200) {
        await body.dump()
        const message = `${this.#name}: the download of the bill has the status ${statusCode}`
        throw new ChannelError(message, 'unclear', String(statusCode))
      }
      for await (const chunk of body) yield chunk as Buffer
    } catch (error) {
      throw error instanceof ChannelError ? error : this.#unclearError(error)
    }
  }

  async end(): Promise<void> {
    await this.#ownAgent?.close()
  }

  #request({ method, url, headers, body }: ProviderRequest, signal?: AbortSignal) {
    return request(url, {
      method,
      ...(headers && { headers }),
      body: body ?? null,
      signal: signal ?? null,
      dispatcher: this.#dispatcher,
      headersTimeout: this.#timeoutMs,
      bodyTimeout: this.#timeoutMs,
    })
  }

  /** With the code of the system only: the messages of undici may have addresses. */
  #unclearError(error: unknown): ChannelError {
    const code =
      error instanceof Error && error.name === 'TimeoutError' ? 'timeout' : (errorCode(error) ?? 'failed')
    return new ChannelError(`${this.#name}: the provider gave no complete answer (${code})`, 'unclear', code)
  }
}

async function readAll(body: AsyncIterable<unknown>): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body) {
    chunks.push(chunk as Buffer)
    bytes += (chunk as Buffer).length
    if (bytes > MAX_ANSWER_BYTES) throw Object.assign(new Error('too large'), { code: 'answer_too_large' })
  }
  return Buffer.concat(chunks, bytes)
}

/** Whether an answer says nothing about the outcome: the provider is busy, or failed in the middle of the call. */
export function isUnclear(status: number): boolean {
  return status === 429 || status >= 500
}

/** An answer that is not what a call promises. */
export function unusableAnswer(name: string, what: string): ChannelError {
  const message = `${name}: expected ${what} in the answer of the provider`
  return new ChannelError(message, 'unclear', 'unusable_answer')
}

/** Whether the provider has refused a call, with one of the codes if there are any. */
export function isRefusal(error: unknown, ...codes: readonly string[]): error is ChannelError {
  if (!(error instanceof ChannelError) || error.outcome !== 'refused') return false
  return codes.length === 0 || codes.includes(error.code ?? '')
}

/** The answer of a call; undefined where the provider refuses it with one of these codes. */
export async function unlessRefused<T>(call: Promise<T>, codes: readonly string[]): Promise<T | undefined> {
  try {
    return await call
  } catch (error) {
    if (isRefusal(error, ...codes)) return undefined
    throw error
  }
}
