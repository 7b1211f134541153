import { noStoreJson, type Answer } from './answers.ts'
import type { EndpointRequest, Provider } from './provider.ts'

// RFC 6750, section 2.1; the scheme is case-insensitive (RFC 9110, section 11.1)
const BEARER = /^bearer ([A-Za-z0-9._~+/-]+=*)$/i

// docs/specification.md, Mock provider
const MISS_HEADERS = {
  'Content-Type': 'application/json; charset=utf-8',
  'Cache-Control': 'no-store',
  'WWW-Authenticate': 'Bearer error="invalid_token"',
}
const MISS_CODE = 20005

const STATES = {
  unknown: 'unknown access token',
  expired: 'this access token has expired',
} as const

/** `GET /userinfo`: the identity, for a valid access token. */
export function userinfo({ grants, userJson }: Provider, { headers }: EndpointRequest): Answer {
  const { authorization } = headers
  if (authorization === undefined) return miss('the Authorization header is missing')
  const accessToken = BEARER.exec(authorization)?.[1]
  if (accessToken === undefined)
    return miss('the Authorization header must be Bearer, one space and an access token')
  const state = grants.accessTokenState(accessToken)
  return state === 'good' ? noStoreJson(userJson) : miss(STATES[state])
}

function miss(reason: string): Answer {
  return {
    status: 401,
    headers: MISS_HEADERS,
    body: JSON.stringify({ code: MISS_CODE, msg: `access_token: ${reason}` }),
    refusal: { check: 'access_token', error: 'invalid_token', code: MISS_CODE },
  }
}
