import { empty, refused, type Answer } from './answers.ts'
import { authorize } from './authorize.ts'
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

const ENDPOINTS: readonly Endpoint[] = [
  { name: 'discovery', methods: READ, answer: discovery },
  { name: 'authorize', methods: READ, answer: authorize },
  { name: 'token', methods: ['POST'], answer: token },
  { name: 'userinfo', methods: READ, answer: userinfo },
  { name: 'jwks', methods: READ, answer: jwks },
]

/** Where a request goes: to an endpoint, or no further. */
export type Route =
  | { readonly endpoint: Endpoint; readonly answer?: undefined }
  | { readonly endpoint?: Endpoint | undefined; readonly answer: Answer }

export type Router = (method: string, path: string) => Route

/** `issuer`: its path, when it has one, may stand before the path of an endpoint. */
export function createRouter(issuer: string): Router {
  const base = new URL(issuer).pathname.replace(/\/$/, '')
  const byPath = new Map(
    ENDPOINTS.flatMap((endpoint) => {
      const path = PATHS[endpoint.name]
      return [path, `${base}${path}`].map((each) => [each, { endpoint }] as const)
    }),
  )
  return (method, path) => {
    const found = byPath.get(path)
    return found?.endpoint.methods.includes(method)
      ? found
      : { ...found, answer: strayAnswer(method, found?.endpoint) }
  }
}

/** For a request that no endpoint takes. spec: PUT is 405 wherever it goes. */
function strayAnswer(method: string, endpoint: Endpoint | undefined): Answer {
  const allow = (endpoint?.methods ?? [...READ, 'POST']).concat('OPTIONS').join(', ')
  if (!endpoint && method !== 'PUT') return NOT_FOUND
  if (method === 'OPTIONS') return empty(204, { Allow: allow })
  return refused(405, { check: 'method', error: 'method_not_allowed' }, `it must be one of ${allow}`, {
    Allow: allow,
  })
}

const NOT_FOUND = refused(
  404,
  { check: 'path', error: 'not_found' },
  `there are ${Object.values(PATHS).join(', ')} and nothing else`,
)
