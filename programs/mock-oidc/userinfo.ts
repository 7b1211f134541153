import { privateJson, type Answer } from './answers.ts'
import type { EndpointRequest, Provider } from './provider.ts'

// RFC 6750, section 2.1: the name of the scheme in any case, one space, and this alphabet
const BEARER = /^bearer ([A-Za-z0-9._~+/-]+=*)$/i

// contract, section 6
const MISS_HEADERS = {
  'Content-Type': 'application/json; charset=utf-8',
  'Cache-Control': 'no-store',
  'WWW-Authenticate': 'Bearer error="invalid_token"',
}
const MISS_CODE = 20005

const STATES = {
  unknown: 'there is no such access token',
  expired: 'this access token has expired',
} as const

/** `GET /userinfo`: the identity, for an access token that was issued here. */
export function userinfo({ grants, userJson }: Provider, { headers }: EndpointRequest): Answer {
  const { authorization } = headers
  if (authorization === undefined) return miss('the Authorization header is missing')
  const accessToken = BEARER.exec(authorization)?.[1]
  if (accessToken === undefined)
    return miss('the Authorization header must be Bearer, a space and an access token')
  const state = grants.accessTokenState(accessToken)
  return state === 'good' ? privateJson(userJson) : miss(STATES[state])
}

function miss(because: string): Answer {
  return {
    status: 401,
    headers: MISS_HEADERS,
    body: JSON.stringify({ code: MISS_CODE, msg: `access_token: ${because}` }),
    refusal: { check: 'access_token', error: 'invalid_token', code: MISS_CODE },
  }
}
