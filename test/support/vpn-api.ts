import type { Role } from '../../src/kernel/identity.ts'
import type { Route } from '../../src/wire/route.ts'
import { startRouteServer } from './route-server.ts'
import type { VpnStoreWorld } from './vpn-store.ts'

export type Body = Readonly<Record<string, unknown>>

/** Serves the routes to the user `olga`, who has the role that each call names. */
export async function serveRoutes(world: VpnStoreWorld, routes: readonly Route[], isReadOnly = false) {
  const { store, clock } = world
  const server = await startRouteServer({ store, clock, routes, user: 'olga', isReadOnly })
  return {
    async call(method: string, path: string, role: Role = 'devops') {
      const response = await server.send(method, path, { role })
      const text = await response.text()
      return { status: response.status, body: (text === '' ? {} : JSON.parse(text)) as Body }
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}
