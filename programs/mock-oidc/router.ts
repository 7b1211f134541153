import { emptyAnswer, errorAnswer, type Answer } from './answers.ts'
import { authorize, endSession } from './authorize.ts'
import { discovery, jwks } from './discovery.ts'
import { PATHS, type EndpointName } from './endpoint-names.ts'
import type { EndpointRequest, Provider } from './provider.ts'
import { token } from './token.ts'
import { userinfo } from './userinfo.ts'

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
