import type { WaitingClock } from '../../../src/kernel/clock.ts'
import { Secret } from '../../../src/kernel/secret.ts'
import { isRecord, jsonValueOf } from '../../../src/kernel/text.ts'
import { HOUR, SECOND } from '../../../src/kernel/time.ts'
import { AUTHORISE_ANEW, BackupError, type ErrorCode } from '../errors.ts'
import {
  ConnectionError,
  textBody,
  type HttpAnswer,
  type HttpBody,
  type HttpCall,
  type HttpClient,
} from './http.ts'
import type { JsonMembers } from './json-members.ts'
import { CALL_TIMEOUT_MS, TemporaryFailure, withRetries, type RetryDeps } from './retry.ts'
import type { DriveSecrets } from './secrets-file.ts'
import type { RenewedTokens, TokenFile } from './token-file.ts'
import { TokenSession, type ExchangeToken } from './token-session.ts'

/** The drive has refused a call; some callers know how to go on. */
export class DriveRefusal extends BackupError {
  override readonly name = 'DriveRefusal'
  readonly status: number
  /** The code in the answer, such as `NotFound.FileId`; `HTTP_<status>` without one. */
  readonly code: string

  constructor(errorCode: ErrorCode, call: string, status: number, code: string) {
    super(errorCode, `${call}: the drive answered ${status} ${code}`)
    this.status = status
    this.code = code
  }

  /** Whether there is no such file or upload (any more). */
  get isMissing(): boolean {
    return this.status === 404 || this.code.startsWith('NotFound.')
  }
}

export interface DriveApiOptions {
  /** The base address, such as `https://openapi.alipan.com`. */
  readonly apiUrl: string
  /** The path of all calls, such as `/adrive/v1.0`. */
  readonly apiPrefix: string
  readonly secrets: DriveSecrets
  readonly tokenFile: TokenFile
  readonly http: HttpClient
  readonly clock: WaitingClock
  readonly random?: () => number
  /** Ends every call. */
  readonly signal?: AbortSignal | undefined
}

/** A request of the API: the path below the prefix, and a body that may depend on the token. */
export interface ApiRequest {
  readonly path: string
  readonly body: JsonMembers | ((accessToken: string) => JsonMembers | Promise<JsonMembers>)
}

const THROTTLED = 429
export const CONFLICT = 409
const FLOW_CODES = ['ParamFlowException', 'TooManyRequests']

/** The JSON calls of the drive, with token, renewal and repetition. */
export class DriveApi {
  readonly session: TokenSession
  readonly #options: DriveApiOptions

  /** Throws `token_unreadable`. */
  constructor(options: DriveApiOptions) {
    this.#options = options
    const exchange: ExchangeToken = (refreshToken) => this.#exchangeToken(refreshToken)
    this.session = new TokenSession({ file: options.tokenFile, exchange, clock: options.clock })
  }

  get retry(): RetryDeps {
    const { clock, random, signal } = this.#options
    return { clock, signal, ...(random && { random }) }
  }

  /** The JSON object of a success answer. Throws a {@link DriveRefusal} or another `BackupError`. */
  call(request: ApiRequest): Promise<JsonMembers> {
    const name = request.path.slice(request.path.lastIndexOf('/') + 1)
    return this.#authorised(name, async (token, timeoutMs) => {
      const body = typeof request.body === 'function' ? await request.body(token.reveal()) : request.body
      return this.#post(this.#url(request.path), { timeoutMs, token, body })
    })
  }

  /** Posts the bytes of a part with the token. */
  postPart(query: JsonMembers, body: HttpBody): Promise<JsonMembers> {
    const parameters = new URLSearchParams(
      Object.entries(query).map(([name, value]) => [name, String(value)]),
    )
    return this.#authorised('uploadPart', (token, _timeoutMs, moved) =>
      this.#options.http.send({
        method: 'POST',
        url: `${this.#url('openFile/uploadPart')}?${parameters.toString()}`,
        headers: { ...bearer(token), 'Content-Type': 'application/octet-stream' },
        body,
        idleMs: CALL_TIMEOUT_MS,
        onMove: moved,
        signal: this.#options.signal,
      }),
    )
  }

  /** A request to a signed URL, which needs no token. The caller judges the status. */
  send(call: Omit<HttpCall, 'signal'>): Promise<HttpAnswer> {
    return this.#options.http.send({ ...call, signal: this.#options.signal })
  }

  #url(path: string): string {
    const { apiUrl, apiPrefix } = this.#options
    return `${withoutEndSlashes(apiUrl)}/${withoutEndSlashes(apiPrefix).replace(/^\/+/, '')}/${path}`
  }

  /** After 401 the token is renewed once, and the call repeated once. */
  #authorised(
    name: string,
    send: (token: Secret, timeoutMs: number, moved: () => void) => Promise<HttpAnswer>,
  ): Promise<JsonMembers> {
    let isRenewed = false
    const attempt = async (timeoutMs: number, moved: () => void): Promise<JsonMembers> => {
      const token = await this.session.accessToken()
      const answer = await orTemporaryFailure(name, () => send(token, timeoutMs, moved))
      if (answer.status === 401 && !isRenewed) {
        isRenewed = true
        answer.discard()
        await this.session.renew(token)
        return attempt(timeoutMs, moved)
      }
      return readMembers(name, answer)
    }
    return withRetries(this.retry, ({ timeoutMs, moved }) => attempt(timeoutMs, moved))
  }

  #post(url: string, { timeoutMs, token, body }: { timeoutMs: number; token?: Secret; body: JsonMembers }) {
    return this.#options.http.send({
      method: 'POST',
      url,
      headers: {
        ...(token && bearer(token)),
        'Content-Type': 'application/json',
        Accept: 'application/json',
      },
      body: textBody(JSON.stringify(body)),
      timeoutMs,
      idleMs: timeoutMs,
      signal: this.#options.signal,
    })
  }

  async #exchangeToken(refreshToken: Secret): Promise<RenewedTokens | 'used'> {
    const { apiUrl, secrets } = this.#options
    const name = 'access_token'
    const body = {
      grant_type: 'refresh_token',
      refresh_token: refreshToken.reveal(),
      client_id: secrets.clientId,
      client_secret: secrets.clientSecret.reveal(),
    }
    try {
      const members = await withRetries(this.retry, async ({ timeoutMs }) => {
        const url = `${withoutEndSlashes(apiUrl)}/oauth/access_token`
        return readMembers(name, await orTemporaryFailure(name, () => this.#post(url, { timeoutMs, body })))
      })
      return parseTokens(members)
    } catch (error) {
      if (error instanceof DriveRefusal && /^RefreshToken(?:Invalid|Expired)$/.test(error.code)) return 'used'
      throw refreshFailure(error)
    }
  }
}

/** A drive that cannot be reached stays that; everything else is a failed renewal. */
function refreshFailure(error: unknown): unknown {
  if (!(error instanceof DriveRefusal)) return error
  const advice =
    error.status < 500 && error.status !== THROTTLED
      ? `; check the client id and secret, or ${AUTHORISE_ANEW}`
      : ''
  return new BackupError(
    'token_refresh_failed',
    `The tokens could not be renewed: ${error.message}${advice}.`,
    {
      cause: error,
    },
  )
}

function parseTokens(members: JsonMembers): RenewedTokens {
  const { access_token: access, refresh_token: refresh, expires_in: seconds } = members
  const isGood = typeof access === 'string' && access !== '' && typeof refresh === 'string' && refresh !== ''
  if (!isGood)
    throw new BackupError(
      'token_refresh_failed',
      `The drive renewed the tokens without naming them; ${AUTHORISE_ANEW}.`,
    )
  const lifetime = Number(seconds)
  return {
    accessToken: new Secret(access),
    refreshToken: new Secret(refresh),
    // docs/specification.md, Nightly backup: two hours
    expiresInMs: lifetime > 0 ? lifetime * SECOND : 2 * HOUR,
  }
}

/** A failed connection may succeed later. */
export async function orTemporaryFailure<T>(name: string, send: () => Promise<T>): Promise<T> {
  try {
    return await send()
  } catch (error) {
    if (!(error instanceof ConnectionError)) throw error
    throw new TemporaryFailure(
      new BackupError('drive_unreachable', `${name}: ${error.message}`, { cause: error }),
    )
  }
}

/** The body of a success answer. Throttling, server errors and half a body are temporary. */
async function readMembers(name: string, answer: HttpAnswer): Promise<JsonMembers> {
  const text = await orTemporaryFailure(name, () => answer.text())
  const value = jsonValueOf(text)
  const members = isRecord(value) ? value : undefined
  if (answer.status >= 200 && answer.status < 300 && members) return members
  const code = codeIn(members) ?? `HTTP_${answer.status}`
  if (isTemporary(answer.status, code)) {
    const failure = new DriveRefusal('drive_unreachable', name, answer.status, code)
    throw new TemporaryFailure(failure, retryAfterMs(answer))
  }
  if (answer.status < 300)
    throw new TemporaryFailure(
      new BackupError('drive_unreachable', `${name}: the answer is not a JSON object`),
    )
  throw new DriveRefusal('drive_rejected', name, answer.status, code)
}

// The lookbehind lets the search for the end of the text begin once in a row of slashes.
function withoutEndSlashes(text: string): string {
  return text.replace(/(?<!\/)\/+$/, '')
}

export function isTemporary(status: number, code: string): boolean {
  return status === THROTTLED || status >= 500 || FLOW_CODES.includes(code)
}

/** The header of the drive counts milliseconds, the one of HTTP seconds. */
export function retryAfterMs(answer: HttpAnswer): number {
  const own = Number(answer.header('x-retry-after') ?? Number.NaN)
  const seconds = Number(answer.header('retry-after') ?? Number.NaN)
  const milliseconds = Number.isFinite(own) ? own : seconds * SECOND
  return Number.isFinite(milliseconds) && milliseconds > 0 ? milliseconds : 0
}

/** A member that looks like a code; other text of a response could repeat a token. */
function codeIn(members: JsonMembers | undefined): string | undefined {
  const code = members?.['code']
  return typeof code === 'string' && /^[A-Za-z]\w{0,40}(?:\.\w{1,40})?$/.test(code) ? code : undefined
}

function bearer(token: Secret): Record<string, string> {
  return { Authorization: `Bearer ${token.reveal()}` }
}
