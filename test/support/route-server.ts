import { Changes } from '../../src/infra/http/changes.ts'
import { createHttpServer } from '../../src/infra/http/server.ts'
import type { Clock } from '../../src/kernel/clock.ts'
import { knownRoles, type Role } from '../../src/kernel/identity.ts'
import { silentLogger, type Logger } from '../../src/kernel/logger.ts'
import { noMetrics } from '../../src/kernel/metrics.ts'
import { Secret } from '../../src/kernel/secret.ts'
import { DatabaseIdempotencyKeys } from '../../src/store/idempotency-keys.ts'
import type { Store } from '../../src/store/store.ts'
import type { Route } from '../../src/wire/route.ts'

export interface RouteServerOptions {
  readonly store: Store
  readonly clock: Clock
  readonly routes: readonly Route[]
  /** Id and name of the caller; default `anna`. */
  readonly user?: string
  readonly logger?: Logger
  readonly isReadOnly?: boolean
}

export interface RouteCall {
  /** Sent as JSON. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Default `admin`. */
  readonly role?: Role
}

/** The HTTP server with some routes of a domain, on a free port. */
export interface RouteServer extends AsyncDisposable {
  send(method: string, path: string, call?: RouteCall): Promise<Response>
}

export async function startRouteServer(options: RouteServerOptions): Promise<RouteServer> {
  const { store, clock, routes, user = 'anna', logger = silentLogger, isReadOnly = false } = options
  const keys = new DatabaseIdempotencyKeys({ store, clock, secrets: [new Secret('a key')] })
  const server = await createHttpServer({
    routes,
    identify: ({ headers }) => {
      const roles = knownRoles([String(headers['x-user-roles'])])
      return { id: user, name: user, roles, via: 'headers' }
    },
    changes: new Changes({ store, keys }),
    logger,
    metrics: noMetrics,
    version: '0',
    readOnly: isReadOnly,
    rateLimitPerMinute: 0,
  })
  const address = await server.listen({ host: '127.0.0.1', port: 0 })
  return {
    send: (method, path, { body, headers, role = 'admin' } = {}) =>
      fetch(`http://${address}${path}`, {
        method,
        headers: {
          'x-user-roles': role,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    [Symbol.asyncDispose]: () => server.close(),
  }
}
