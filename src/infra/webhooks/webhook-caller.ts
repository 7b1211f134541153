import { isIP, type LookupFunction } from 'node:net'
import type { Dispatcher } from 'undici'
import { systemClock, type Clock } from '../../kernel/clock.ts'
import { AppError, errorCode } from '../../kernel/errors.ts'
import { parseRetryAfter, SECOND } from '../../kernel/time.ts'
import type { WebhookCall, WebhookCaller, WebhookFailure, WebhookReply } from '../../ports/webhook-caller.ts'
import { type AddressRules, createHostResolver, type Resolve, type ResolvedAddress } from './addresses.ts'

// docs/specification.md, Webhooks
const TIMEOUT_MS = 15 * SECOND
/**
 * How long an address has to answer before the next one of its name is tried. Node.js gives it up after half a second: too soon
 * where it is far away, or its first packet is lost, which is sent again after one second (RFC 6298, section 2).
 */
const ATTEMPT_MS = 2 * SECOND
const KEPT_BYTES = 1_024
// A connection is used again when its answer was read to the end; a longer answer closes it.
const READ_BYTES = 65_536
const KEPT_HEADERS = 64

class AddressRefused extends Error {
  readonly code = 'ADDRESS_REFUSED'

  constructor(name: string) {
    super(`The name ${name} leads to no address that may be called.`)
  }
}

/**
 * Connections to endpoints, each to an address that was checked when it was resolved. Uses no proxy. The client is loaded
 * with the first call: it takes memory that an installation without webhooks does not need.
 */
export class HttpWebhookCaller implements WebhookCaller {
  readonly #rules: AddressRules
  readonly #resolve: Resolve
  readonly #timeoutMs: number
  readonly #clock: Pick<Clock, 'now'>
  readonly #agents = new Map<string, Dispatcher>()

  constructor(
    rules: AddressRules,
    resolve: Resolve = createHostResolver(),
    timeoutMs = TIMEOUT_MS,
    clock: Pick<Clock, 'now'> = systemClock,
  ) {
    this.#rules = rules
    this.#resolve = resolve
    this.#timeoutMs = timeoutMs
    this.#clock = clock
  }

  refusal(url: string): AppError | undefined {
    const { protocol, hostname } = new URL(url)
    const isEncrypted = protocol === 'https:'
    const address = literalOf(hostname)
    if (address !== undefined)
      return this.#rules.allows(address, isEncrypted) ? undefined : refusalError(addressReason(isEncrypted))
    return isEncrypted || this.#rules.allowsPrivate ? undefined : refusalError(addressReason(false))
  }

  async call(call: WebhookCall, stop: AbortSignal): Promise<WebhookReply | { failure: WebhookFailure }> {
    // The rules may have changed since the address was taken.
    if (this.refusal(call.url)) return { failure: 'address_refused' }
    const signal = AbortSignal.any([stop, AbortSignal.timeout(this.#timeoutMs)])
    try {
      const answer = await endedBy(signal, this.#request(call, signal))
      const names = Object.keys(answer.headers).slice(0, KEPT_HEADERS)
      const retryAfterMs = parseRetryAfter(answer.headers['retry-after']?.toString(), this.#clock.now())
      return {
        status: answer.statusCode,
        headers: names,
        body: await readStart(answer.body),
        ...(retryAfterMs !== undefined && { retryAfterMs }),
      }
    } catch (error) {
      return { failure: failureOf(error) }
    }
  }

  async #request({ url, headers, body }: WebhookCall, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const { request } = await import('undici')
    return request(url, {
      method: 'POST',
      headers,
      body,
      signal,
      dispatcher: await this.#agent(new URL(url).protocol),
      headersTimeout: 0,
      bodyTimeout: 0,
    })
  }

  async close(): Promise<void> {
    await Promise.all([...this.#agents.values()].map((agent) => agent.destroy()))
  }

  async #agent(protocol: string): Promise<Dispatcher> {
    const { Agent } = await import('undici')
    return this.#agents.getOrInsertComputed(
      protocol,
      () =>
        new Agent({
          connect: {
            timeout: this.#timeoutMs,
            lookup: this.#lookup(protocol === 'https:'),
            autoSelectFamilyAttemptTimeout: ATTEMPT_MS,
          },
        }),
    )
  }

  #lookup(isEncrypted: boolean): LookupFunction {
    return (name, { all = false }, done) => {
      void this.#answerLookup(name, isEncrypted, (error, allowed) => {
        const [first] = allowed
        if (error !== null || !first) done(error ?? new AddressRefused(name), '', 0)
        else if (all) done(null, [...allowed])
        else done(null, first.address, first.family)
      })
    }
  }

  /** Resolves a name and checks its addresses. The socket connects to these: no second resolution comes between. */
  async #answerLookup(
    name: string,
    isEncrypted: boolean,
    answer: (error: Error | null, allowed: readonly ResolvedAddress[]) => void,
  ): Promise<void> {
    const resolved = await settle(this.#resolve(name))
    if (resolved instanceof Error) return answer(resolved, [])
    answer(
      null,
      resolved.filter(({ address }) => this.#rules.allows(address, isEncrypted)),
    )
  }
}

/** Rejects when the signal is aborted: the request by itself waits for its connection first, however long that takes. */
async function endedBy<T>(signal: AbortSignal, request: Promise<T>): Promise<T> {
  const { promise: ended, reject } = Promise.withResolvers<never>()
  const end = () => reject(signal.reason)
  if (signal.aborted) end()
  signal.addEventListener('abort', end)
  try {
    return await Promise.race([request, ended])
  } finally {
    signal.removeEventListener('abort', end)
  }
}

async function settle<T>(promise: Promise<T>): Promise<T | Error> {
  try {
    return await promise
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

function literalOf(hostname: string): string | undefined {
  const address = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
  return isIP(address) === 0 ? undefined : address
}

function addressReason(isEncrypted: boolean): string {
  return isEncrypted
    ? 'is not public'
    : 'is without TLS, which only the networks of webhooks.allow_private may be'
}

function refusalError(reason: string): AppError {
  return new AppError(
    'invalid',
    'url_refused',
    `url: the address ${reason}; give a public https address, or name its network in webhooks.allow_private.`,
  )
}

/** The first bytes as text; a status without a complete body is an answer too. */
async function readStart(body: AsyncIterable<unknown>): Promise<string> {
  const kept: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of body) {
      const piece = chunk as Buffer
      if (bytes < KEPT_BYTES) kept.push(piece.subarray(0, KEPT_BYTES - bytes))
      bytes += piece.length
      if (bytes > READ_BYTES) break
    }
  } catch {
    // The rest of the body never comes.
  }
  return new TextDecoder().decode(Buffer.concat(kept), { stream: true }).replaceAll('\0', '')
}

const FAILURES: Readonly<Record<string, WebhookFailure>> = {
  ADDRESS_REFUSED: 'address_refused',
  ENOTFOUND: 'name_not_resolved',
  EAI_AGAIN: 'name_not_resolved',
  ENODATA: 'name_not_resolved',
  EREFUSED: 'name_not_resolved',
  ESERVFAIL: 'name_not_resolved',
  ETIMEOUT: 'name_not_resolved',
  ECONNREFUSED: 'connection_refused',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
}

function failureOf(error: unknown): WebhookFailure {
  if (error instanceof Error && error.name === 'TimeoutError') return 'timeout'
  const code = codeOf(error)
  const known = FAILURES[code]
  if (known) return known
  if (code.startsWith('HPE_') || code.startsWith('UND_ERR_HEADERS') || code === 'UND_ERR_RESPONSE')
    return 'invalid_answer'
  return isTlsFault(code) ? 'tls_failed' : 'connection_failed'
}

function isTlsFault(code: string): boolean {
  return (
    code.startsWith('ERR_TLS_') ||
    code.startsWith('ERR_SSL_') ||
    code.startsWith('CERT_') ||
    TLS_CODES.has(code)
  )
}

// Codes of OpenSSL's verification (node:tls, X509 certificate error codes).
const TLS_CODES = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'HOSTNAME_MISMATCH',
])

/** The code of an error; where several addresses were tried, of the first one. */
function codeOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0])
  return errorCode(error) ?? ''
}
