import { SEQUENCE, type LoadTarget } from './load.ts'

/** Connections of every load of docs/performance.md. */
export const CONNECTIONS = 64

/** A caller who is known by headers. */
export const LOCAL_TOOL = { 'x-user-id': 'bench', 'x-user-roles': 'service' }

/** Makes a new order with each call. */
export function postOrders(
  port: number,
  headers: Readonly<Record<string, string>> = LOCAL_TOOL,
  path = '/orders',
): LoadTarget {
  const body = JSON.stringify({ order_id: `bench-${SEQUENCE}`, platform: 'live', amount_cents: 4_990 })
  return { port, connections: CONNECTIONS, method: 'POST', path, headers, body }
}
