import { Changes } from '../../src/infra/http/changes.ts'
import { createHttpServer } from '../../src/infra/http/server.ts'
import { knownRoles, type Role } from '../../src/kernel/identity.ts'
import { silentLogger } from '../../src/kernel/logger.ts'
import { noMetrics } from '../../src/kernel/metrics.ts'
import type { Route } from '../../src/wire/route.ts'
import type { VpnStoreWorld } from './vpn-store.ts'

export type Body = Readonly<Record<string, unknown>>

/** Serves the routes to the user `olga`, who has the role that each call names. */
export async function serveRoutes(world: VpnStoreWorld, routes: readonly Route[], readOnly = false) {
  const server = await createHttpServer({
    routes,
    identify: ({ headers }) => {
      const roles = knownRoles([String(headers['x-user-roles'])])
      return { id: 'olga', name: 'olga', roles, via: 'headers' }
    },
    changes: new Changes({ store: world.store }),
    logger: silentLogger,
    metrics: noMetrics,
    version: '0',
    readOnly,
    rateLimitPerMinute: 0,
  })
  const address = await server.listen({ host: '127.0.0.1', port: 0 })
  return {
    async call(method: string, path: string, role: Role = 'devops') {
      const response = await fetch(`http://${address}${path}`, { method, headers: { 'x-user-roles': role } })
      const text = await response.text()
      return { status: response.status, body: (text === '' ? {} : JSON.parse(text)) as Body }
    },
    [Symbol.asyncDispose]: () => server.close(),
  }
}
