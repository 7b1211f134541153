import { noStoreJson, type Answer } from './answers.ts'
import { parseForm } from './parameters.ts'
import { formOf, type EndpointRequest, type Provider } from './provider.ts'

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

const FORM_PARAMETERS: ReadonlySet<string> = new Set(['access_token'])

/** `/userinfo`: the identity, for a valid access token in the header or, by POST, in a form (RFC 6750, section 2.2). */
export function userinfo({ grants, userJson }: Provider, request: EndpointRequest): Answer {
  const { authorization } = request.headers
  const inForm = parseForm(formOf(request) ?? '', FORM_PARAMETERS)
  const formToken = inForm.repeated.size === 0 ? inForm.values.get('access_token') : undefined
  if (authorization === undefined && formToken === undefined)
    return miss('the Authorization header is missing')
  const accessToken = authorization === undefined ? formToken : BEARER.exec(authorization)?.[1]
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
