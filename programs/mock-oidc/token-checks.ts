import type { Refusal } from './answers.ts'
import { FORM_TYPE, JSON_TYPE } from '../mock-server/media-type.ts'
import { type TokenExchange, GRANT_TYPES, isGrantType } from './token-exchange.ts'
import type { TokenMode } from './env.ts'
import type { CredentialsProblem } from './client-credentials.ts'
import type { GrantState, Authorization } from './grants.ts'
import { hash } from 'node:crypto'

/** One check of a request to `/token`. */
export interface TokenCheck {
  /** The first word of `error_description` when it fails. */
  readonly name: string
  /** Undefined when the request passes. */
  run(exchange: TokenExchange): CheckFailure | undefined
}

export interface CheckFailure {
  readonly status: number
  readonly error: Refusal['error']
  readonly code?: number | undefined
  /** RFC 6749, section 5.2: no quotes or backslashes. Never contains client input. */
  readonly reason: string
}

/** `code` is Feishu's number for the error. A wrong client is 401 (RFC 6749, section 5.2). */
const checkFailure =
  (status: number, error: Refusal['error']) =>
  (reason: string, code?: number): CheckFailure => ({ status, error, code, reason })

const invalidRequest = checkFailure(400, 'invalid_request')
const invalidGrant = checkFailure(400, 'invalid_grant')
const invalidClient = checkFailure(401, 'invalid_client')
const missingParameter = (name: string): CheckFailure => invalidRequest(`${name} is missing`, 20001)

const unsupportedMediaType = checkFailure(415, 'invalid_request')
const unsupportedGrantType = checkFailure(400, 'unsupported_grant_type')
const serverError = checkFailure(500, 'server_error')

const TOKEN_MODE_FAILURES: Record<TokenMode, CheckFailure | undefined> = {
  ok: undefined,
  idp_error: invalidGrant('MOCK_TOKEN_MODE is idp_error'),
  http500: serverError('MOCK_TOKEN_MODE is http500', 20050),
}

export const scenario: TokenCheck = {
  name: 'scenario',
  run: ({ config }) => TOKEN_MODE_FAILURES[config.tokenMode],
}

export const contentType: TokenCheck = {
  name: 'content_type',
  run({ config, contentType: type, contentEncoding }) {
    if (contentEncoding !== 'identity') return unsupportedMediaType('the body must have no Content-Encoding')
    if (type === FORM_TYPE) return undefined
    if (type !== JSON_TYPE) return unsupportedMediaType(`the body must be ${FORM_TYPE} or ${JSON_TYPE}`)
    if (config.requireForm)
      return unsupportedMediaType(`MOCK_REQUIRE_FORM is 1, the body must be ${FORM_TYPE}`)
    return undefined
  },
}

export const body: TokenCheck = {
  name: 'body',
  run({ parameters: { problem, repeated } }) {
    if (problem !== undefined) return invalidRequest(problem, 20063)
    const [name] = repeated
    return name === undefined ? undefined : invalidRequest(`${name} must not be repeated`, 20063)
  },
}

export const grantType: TokenCheck = {
  name: 'grant_type',
  run(exchange) {
    const type = exchange.parameter('grant_type')
    if (type === undefined) return missingParameter('grant_type')
    if (isGrantType(type)) return undefined
    return unsupportedGrantType(`it must be ${GRANT_TYPES.join(' or ')}`, 20036)
  },
}

const CREDENTIALS_PROBLEMS: Record<CredentialsProblem, CheckFailure> = {
  other_scheme: invalidClient('the scheme of the Authorization header must be Basic', 20002),
  malformed: invalidRequest(
    'the Authorization header must be Basic with the base64 of id:secret, both form-encoded',
    20063,
  ),
  two_methods: invalidRequest(
    'send the secret in the Authorization header or in the body, not in both',
    20070,
  ),
  two_clients: invalidRequest(
    'client_id in the body differs from the one in the Authorization header',
    20063,
  ),
}

export const clientAuthentication: TokenCheck = {
  name: 'client_authentication',
  run: ({ client: { problem } }) => problem && CREDENTIALS_PROBLEMS[problem],
}

export const clientId: TokenCheck = {
  name: 'client_id',
  run({ client: { id }, config }) {
    if (id === undefined) return missingParameter('client_id')
    return id === config.clientId ? undefined : invalidClient('unknown client', 20048)
  },
}

export const clientSecret: TokenCheck = {
  name: 'client_secret',
  run({ client: { secret }, config }) {
    if (secret === undefined) return missingParameter('client_secret')
    return secret === config.clientSecret.reveal() ? undefined : invalidClient('wrong secret', 20002)
  },
}

const invalidScope = checkFailure(400, 'invalid_scope')

const CODE_STATES: Record<GrantState, CheckFailure | undefined> = {
  good: undefined,
  used: invalidGrant('this code was already used', 20065),
  expired: invalidGrant('this code has expired after 10 minutes', 20004),
}

export const code: TokenCheck = {
  name: 'code',
  run(exchange) {
    if (exchange.parameter('code') === undefined) return missingParameter('code')
    if (!exchange.grant) return invalidGrant('unknown code', 20003)
    return CODE_STATES[exchange.grants.stateOf(exchange.grant)]
  },
}

const REFRESH_TOKEN_STATES: Record<GrantState, CheckFailure | undefined> = {
  good: undefined,
  used: invalidGrant('this refresh token was already used; its response contained a new one', 20073),
  expired: invalidGrant('this refresh token has expired', 20037),
}

export const refreshToken: TokenCheck = {
  name: 'refresh_token',
  run(exchange) {
    if (exchange.parameter('refresh_token') === undefined) return missingParameter('refresh_token')
    if (!exchange.grant) return invalidGrant('unknown refresh token', 20064)
    return REFRESH_TOKEN_STATES[exchange.grants.stateOf(exchange.grant)]
  },
}

export const issuedTo: TokenCheck = {
  name: 'issued_to',
  run({ client, grant }) {
    const issued = grant?.authorization.clientId
    if (issued === client.id) return undefined
    return invalidGrant(
      issued === undefined
        ? '/authorize was called without client_id'
        : 'the code was issued to another client_id',
      20024,
    )
  },
}

export const redirectUri: TokenCheck = {
  name: 'redirect_uri',
  run({ grant, parameter }) {
    const requested = parameter('redirect_uri')
    if (requested === grant?.authorization.redirectUri) return undefined
    if (requested !== undefined) return invalidGrant('it differs from the one at /authorize', 20071)
    return grant?.authorization.hasRedirectUri ? missingParameter('redirect_uri') : undefined
  },
}

export const scope: TokenCheck = {
  name: 'scope',
  run({ grant, parameter }) {
    const granted = new Set(grant?.authorization.scope.split(' '))
    const isGranted = parameter('scope')
      ?.split(' ')
      .every((each) => granted.has(each))
    return isGranted === false ? invalidScope('it exceeds the scope of /authorize', 20068) : undefined
  },
}

// RFC 7636, section 4.1
const CODE_VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/

export const pkce: TokenCheck = {
  name: 'pkce',
  run({ grant, parameter }) {
    const reason = pkceProblem(grant?.authorization, parameter('code_verifier'))
    return reason === undefined ? undefined : invalidGrant(reason, 20049)
  },
}

function pkceProblem(
  authorization: Authorization | undefined,
  verifier: string | undefined,
): string | undefined {
  if (authorization?.codeChallenge === undefined) {
    // RFC 9700, section 4.8.2: an attacker may have removed the challenge.
    return verifier === undefined ? undefined : 'code_verifier without a code_challenge at /authorize'
  }
  if (authorization.codeChallengeMethod !== 'S256') return 'code_challenge_method at /authorize must be S256'
  if (verifier === undefined) return 'code_verifier is missing; /authorize had a code_challenge'
  if (!CODE_VERIFIER.test(verifier))
    return 'code_verifier must be 43 to 128 characters of A-Z a-z 0-9 - . _ ~'
  if (hash('sha256', verifier, 'base64url') === authorization.codeChallenge) return undefined
  return 'code_verifier does not match the code_challenge at /authorize'
}
