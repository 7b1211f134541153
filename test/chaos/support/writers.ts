import type { OrderStep } from '../../support/order-clients.ts'
import type { ServedPlatform } from '../../support/platform.ts'

/** The response to the creation of an order. */
export interface Written {
  readonly orderId: string
  readonly status: number
  readonly code: string
  readonly milliseconds: number
}

/** Creates an order; a broken connection has status 0. */
export async function writeOrder(platform: ServedPlatform, orderId: string): Promise<Written> {
  const start = performance.now()
  const answer = (status: number, code: string): Written => ({
    orderId,
    status,
    code,
    milliseconds: performance.now() - start,
  })
  try {
    const body = { order_id: orderId, platform: 'chaos', amount_cents: 1 }
    const response = await platform.call('POST', '/orders', { body })
    const { code = '' } = (await response.json()) as { code?: string }
    return answer(response.status, code)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    return answer(0, 'no answer')
  }
}

/** Creates one order after the other until `enough` returns true. */
export async function writeOrders(
  platform: ServedPlatform,
  prefix: string,
  enough: (written: readonly Written[]) => boolean,
): Promise<Written[]> {
  const written: Written[] = []
  while (!enough(written)) written.push(await writeOrder(platform, `${prefix}-${written.length}`))
  return written
}

export function acknowledgedIn(written: readonly Written[]): Map<string, OrderStep> {
  return new Map(written.filter(({ status }) => status === 201).map(({ orderId }) => [orderId, 'pending']))
}

/** The kinds of responses that are not expected: `201`, `503 store_unavailable`. */
export function unexpectedIn(written: readonly Written[], expected: readonly string[]): string[] {
  const kinds = new Set(written.map(({ status, code }) => `${status} ${code}`.trim()))
  return [...kinds].filter((kind) => !expected.includes(kind))
}

export const REFUSED = '503 store_unavailable'
export const DONE = '201'
