import { Type } from 'typebox'
import { createHttpServer } from '../../src/infra/http/server.ts'
import { tunnelsPageRoutes } from '../../src/infra/http/pages/pages.ts'
import { AppError } from '../../src/kernel/errors.ts'
import { silentLogger } from '../../src/kernel/logger.ts'
import { noMetrics } from '../../src/kernel/metrics.ts'
import { ok, type Route, type RouteRequest, routeOf } from '../../src/wire/route.ts'
import { tunnelsAnswer } from './tunnels-sample.ts'
import type { TunnelsAnswer } from '../../console/pages/tunnels/tunnel-state.ts'

const route = routeOf('Double')

/** A gateway that serves the page, and beside it what a test tells it to answer. */
export interface TunnelsDouble extends AsyncDisposable {
  /** `http://127.0.0.1:port` */
  readonly url: string
  /** What `/tunnels/state` answers from now on. */
  state: TunnelsAnswer
  /** Instead of a state; null for none. */
  refusal: AppError | null
  /** How often the state was asked for. */
  readonly reads: number
}

export const READER = { username: 'ada', password: 'correct horse battery' }
/** Tokens of a reader who may see the tunnels, and of one who may not; signed by nobody. */
export const TOKENS = { reader: tokenOf('ada', ['auditor']), stranger: tokenOf('sam', ['service']) }

export async function startTunnelsDouble(directory?: string): Promise<TunnelsDouble> {
  const scripted = { state: tunnelsAnswer([]), refusal: null as AppError | null, reads: 0 }
  const server = await createHttpServer({
    routes: [...tunnelsPageRoutes(directory), ...doubleRoutes(scripted)],
    identify: () => undefined,
    logger: silentLogger,
    metrics: noMetrics,
    version: '0',
    readOnly: false,
    rateLimitPerMinute: 0,
  })
  const address = await server.listen({ host: '127.0.0.1', port: 0 })
  return Object.assign(scripted, {
    url: `http://${address}`,
    [Symbol.asyncDispose]: () => server.close(),
  })
}

interface ScriptedTunnels {
  readonly state: TunnelsAnswer
  readonly refusal: AppError | null
  reads: number
}

function doubleRoutes(scripted: ScriptedTunnels): Route[] {
  const answers = { 200: { description: 'As the test sets it.', schema: Type.Any() } }
  return [
    route({
      method: 'GET',
      path: '/tunnels/state',
      operation: 'getTunnelsState',
      summary: 'As the test sets it',
      access: 'public',
      answers,
      read: ({ headers }) => {
        scripted.reads += 1
        if (scripted.refusal) throw scripted.refusal
        requireReader(headers)
        return ok(scripted.state)
      },
    }),
    route({
      method: 'POST',
      path: '/auth/login',
      operation: 'login',
      summary: 'Knows one reader',
      access: 'public',
      body: Type.Object({ username: Type.String(), password: Type.String() }),
      answers,
      read: ({ body }) => {
        if (body.username !== READER.username || body.password !== READER.password) {
          throw new AppError('unauthenticated', 'invalid_credentials', 'The name or the password is wrong.')
        }
        return ok({ access_token: TOKENS.reader, token_type: 'Bearer', expires_in: 3_600 })
      },
    }),
  ]
}

function requireReader({ authorization }: RouteRequest<unknown, unknown, unknown>['headers']): void {
  if (authorization === `Bearer ${TOKENS.stranger}`) {
    throw new AppError('forbidden', 'forbidden', 'The call needs one of the roles admin, devops, auditor.')
  }
  if (authorization !== `Bearer ${TOKENS.reader}`) {
    throw new AppError('unauthenticated', 'unauthenticated', 'The token is not valid.')
  }
}

function tokenOf(name: string, roles: readonly string[]): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  return `${part({ alg: 'HS256' })}.${part({ sub: name, name, roles })}.signature`
}
