import { emptyAnswer, errorAnswer, cacheableJson, noStoreJson, type Answer } from './answers.ts'
import { authorize, endSession } from './authorize.ts'
import { PATHS, type EndpointName } from './endpoint-names.ts'
import { parseForm } from './parameters.ts'
import { formOf, type EndpointRequest, type Provider } from './provider.ts'
import { GRANT_TYPES } from './token-exchange.ts'
import { token } from './token.ts'

export interface Endpoint {
  readonly name: EndpointName
  readonly methods: readonly string[]
  answer(provider: Provider, request: EndpointRequest): Answer | Promise<Answer>
}

const READ = ['GET', 'HEAD']
// OpenID Connect Core 1.0, sections 3.1.2.1 and 5.3.1
const READ_OR_POST = [...READ, 'POST']

const ENDPOINTS: readonly Endpoint[] = [
  { name: 'discovery', methods: READ, answer: discovery },
  { name: 'authorize', methods: READ_OR_POST, answer: authorize },
  { name: 'token', methods: ['POST'], answer: token },
  { name: 'userinfo', methods: READ_OR_POST, answer: userinfo },
  { name: 'jwks', methods: READ, answer: jwks },
  { name: 'end_session', methods: READ_OR_POST, answer: endSession },
]

/** The endpoint of a request, or the error answer if none takes it. */
export type Route =
  | { readonly endpoint: Endpoint; readonly answer?: undefined }
  | { readonly endpoint?: Endpoint | undefined; readonly answer: Answer }

export type Router = (method: string, path: string) => Route

/** Endpoints are also served below the path of the issuer. */
export function createRouter(issuer: string): Router {
  const base = new URL(issuer).pathname.replace(/\/$/, '')
  const byPath = new Map(
    ENDPOINTS.flatMap((endpoint) => {
      const path = PATHS[endpoint.name]
      return [path, `${base}${path}`].map((each) => [each, { endpoint }] as const)
    }),
  )
  return (method, path) => {
    const match = byPath.get(path)
    return match?.endpoint.methods.includes(method)
      ? match
      : { ...match, answer: unroutedAnswer(method, match?.endpoint) }
  }
}

/** For a request that no endpoint takes. docs/specification.md, Mock provider: PUT is 405 on every path. */
function unroutedAnswer(method: string, endpoint: Endpoint | undefined): Answer {
  const allow = (endpoint?.methods ?? [...READ, 'POST']).concat('OPTIONS').join(', ')
  if (!endpoint && method !== 'PUT') return NOT_FOUND
  if (method === 'OPTIONS') return emptyAnswer(204, { Allow: allow })
  return errorAnswer(
    405,
    { check: 'method', error: 'method_not_allowed' },
    `the allowed methods are ${allow}`,
    {
      Allow: allow,
    },
  )
}

const NOT_FOUND = errorAnswer(
  404,
  { check: 'path', error: 'not_found' },
  `the paths are ${Object.values(PATHS).join(', ')}`,
)

/** `GET /.well-known/openid-configuration` (OIDC Discovery, section 3). */
function discovery({ issuer }: Provider): Answer {
  const at = (path: string) => `${issuer.replace(/\/$/, '')}${path}`
  return cacheableJson(
    JSON.stringify({
      issuer,
      authorization_endpoint: at(PATHS.authorize),
      token_endpoint: at(PATHS.token),
      userinfo_endpoint: at(PATHS.userinfo),
      jwks_uri: at(PATHS.jwks),
      end_session_endpoint: at(PATHS.end_session),
      scopes_supported: ['openid', 'profile', 'email', 'offline_access'],
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: GRANT_TYPES,
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
      token_endpoint_auth_methods_supported: ['client_secret_post', 'client_secret_basic'],
      code_challenge_methods_supported: ['S256'],
      claims_supported: ['iss', 'sub', 'aud', 'iat', 'exp', 'auth_time', 'nonce', 'at_hash'],
    }),
  )
}

/** `GET /jwks`: the public keys of the id_tokens. */
async function jwks({ keys }: Provider): Promise<Answer> {
  return cacheableJson(await keys.jwks())
}

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
function userinfo({ grants, userJson }: Provider, request: EndpointRequest): Answer {
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
