import { Type, type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import { USER_NAME_CHARACTERS } from '../../kernel/identity.ts'
import { AppError, errorMessage } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { silentLogger } from '../../kernel/logger.ts'
import type { Secret } from '../../kernel/secret.ts'
import { SECOND } from '../../kernel/time.ts'
import type { UserSource, UserSourceFailure } from '../../ports/user-source.ts'
import type { ApiAnswer } from '../http/api-client/answer-reader.ts'
import { ApiConnection } from '../http/api-client/api-connection.ts'
import type { IdentitySignature } from '../tokens/identity-signature.ts'
import type { Sender } from '../http/api-client/headers-for-api.ts'
import { jsonValueOf } from '../../kernel/text.ts'

interface PrimaryUsersOptions {
  /** Address of the primary's api. */
  readonly url: string
  /** Read for each request; throws when there is none. */
  readonly readToken: () => Secret
  /** How long a request may take, in milliseconds. */
  readonly timeoutMs?: number
}

const TIMEOUT_MS = 5 * SECOND
const NETWORK = '^(?:\\d{1,3}\\.){3}\\d{1,3}/\\d{1,2}$'

// Further fields are ignored: a newer primary may send more.
const Answer = Compile(
  Type.Object({
    revision: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
    full: Type.Boolean(),
    more: Type.Boolean(),
    pool: Type.String({ pattern: NETWORK }),
    items: Type.Array(
      Type.Object({
        id: Type.String({ minLength: 1, maxLength: 64 }),
        name: Type.String({ pattern: `^[${USER_NAME_CHARACTERS}]{1,254}$` }),
        roles: Type.Array(Type.String()),
        enabled: Type.Boolean(),
        token_generation: Type.Integer({ minimum: 0 }),
        deleted: Type.Boolean(),
      }),
    ),
  }),
)

/** The users of the primary over its HTTP API (docs/specification.md, Gateway). */
export class PrimaryUsers implements UserSource {
  readonly #options: PrimaryUsersOptions
  readonly #connection: ApiConnection
  readonly #timeoutMs: number

  constructor(options: PrimaryUsersOptions) {
    this.#options = options
    this.#timeoutMs = options.timeoutMs ?? TIMEOUT_MS
    // The caller logs outages.
    this.#connection = new ApiConnection({
      url: options.url,
      logger: silentLogger,
      timeoutMs: this.#timeoutMs,
    })
  }

  async changesSince(revision: number | undefined, signal: AbortSignal) {
    const token = this.#token()
    if ('outcome' in token) return token
    try {
      const stop = AbortSignal.any([signal, AbortSignal.timeout(this.#timeoutMs)])
      const answer = await this.#ask(revision, token, stop)
      return answer.status === 200 ? toChanges(answer.text) : refusalOf(answer)
    } catch (error) {
      return failureOf(error)
    }
  }

  close(): void {
    this.#connection.close()
  }

  #token(): Secret | UserSourceFailure {
    try {
      return this.#options.readToken()
    } catch {
      return { outcome: 'refused', reason: 'gateway.mirror_token_file contains no usable token' }
    }
  }

  #ask(revision: number | undefined, token: Secret, signal: AbortSignal): Promise<ApiAnswer> {
    const path = revision === undefined ? '/users/mirror' : `/users/mirror?since=${revision}`
    return this.#connection.ask(
      { method: 'GET', path, headers: {}, body: undefined },
      { identity: undefined, requestId: newId(), token },
      signal,
    )
  }
}

function toChanges(text: string): Awaited<ReturnType<UserSource['changesSince']>> {
  const body = jsonValueOf(text)
  if (!Answer.Check(body)) return { outcome: 'unusable', reason: 'the answer of the primary cannot be read' }
  const { revision, full, more, pool } = body
  const items = body.items.map(({ token_generation: tokenGeneration, ...item }) => ({
    ...item,
    tokenGeneration,
  }))
  return { outcome: 'changes', changes: { revision, full, more, pool, items } }
}

const REFUSALS: Readonly<Record<number, string>> = {
  401: 'the primary does not accept the token in gateway.mirror_token_file; write a new one',
  403: 'the token in gateway.mirror_token_file was not issued with --purpose mirror',
  404: 'the primary is of a release without standbys, or gateway.mirror_from is not its api',
}

function refusalOf({ status }: ApiAnswer): UserSourceFailure {
  const reason = REFUSALS[status]
  if (reason !== undefined) return { outcome: 'refused', reason }
  // A primary that starts, stops or has lost its database answers with 5xx, as does a proxy without it.
  return { outcome: status >= 500 ? 'unreachable' : 'unusable', reason: `the primary answers with ${status}` }
}

function failureOf(error: unknown): UserSourceFailure {
  if (error instanceof AppError && error.code !== 'api_unavailable')
    return { outcome: 'unusable', reason: `the answer of the primary cannot be used: ${errorMessage(error)}` }
  return { outcome: 'unreachable', reason: 'the primary does not answer' }
}

interface PrimaryTunnelsOptions {
  /** Address of the primary's api. */
  readonly url: string
  /** Whether the primary is known to be away. */
  readonly isAway: () => boolean
  readonly signature: IdentitySignature
}

const TunnelsSchema = Type.Object({
  gateways: Type.Array(Type.Object({ name: Type.String() })),
  sessions: Type.Array(Type.Object({ connected_at: Type.String() })),
  total: Type.Integer(),
})
const TunnelsAnswer = Compile(TunnelsSchema)

/** Gateways and sessions as `GET /vpn/tunnels` has them, with all their fields. */
export type TunnelsBody = Static<typeof TunnelsSchema>

// The page asks every two seconds, and its own sessions must not wait for the primary.
const TUNNELS_TIMEOUT_MS = SECOND

/** The sessions of the primary, as its api shows them to a caller. */
export class PrimaryTunnels {
  readonly #connection: ApiConnection

  constructor(options: PrimaryTunnelsOptions) {
    this.#connection = new ApiConnection({ ...options, logger: silentLogger, timeoutMs: TUNNELS_TIMEOUT_MS })
  }

  /** Undefined when the primary does not answer. Never rejects. */
  async read(caller: Sender): Promise<TunnelsBody | undefined> {
    const request = { method: 'GET', path: '/vpn/tunnels', headers: {}, body: undefined }
    return this.#connection
      .ask(request, caller, AbortSignal.timeout(TUNNELS_TIMEOUT_MS))
      .then(({ text }) => readTunnels(text))
      .catch(() => undefined)
  }

  close(): void {
    this.#connection.close()
  }
}

function readTunnels(text: string): TunnelsBody | undefined {
  const body: unknown = JSON.parse(text)
  return TunnelsAnswer.Check(body) ? body : undefined
}

/** The tunnels of a standby with those of its primary; `primary` tells whether the primary's sessions are among them. */
export function withPrimaryTunnels<T extends TunnelsBody>(own: T, primary: TunnelsBody | undefined) {
  if (!primary) return { ...own, primary: 'unavailable' as const }
  const names = new Set(own.gateways.map(({ name }) => name))
  return {
    ...own,
    primary: 'included' as const,
    gateways: [...own.gateways, ...primary.gateways.filter(({ name }) => !names.has(name))],
    sessions: [...own.sessions, ...primary.sessions].sort((one, other) =>
      other.connected_at.localeCompare(one.connected_at),
    ),
    total: own.total + primary.total,
  }
}
