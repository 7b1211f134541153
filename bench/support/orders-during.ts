import { requireSuccess, p99Of, rateOf } from './load-contestants.ts'
import type { LoadGenerator } from './load-generator.ts'
import type { Slice } from './load.ts'
import { postOrders } from './order-load.ts'

export interface OrdersDuring {
  /** A second. */
  readonly rate: number
  /** Milliseconds. */
  readonly p99: number
  /** What the task has answered. */
  readonly seconds: number
  /** Until the task ended. */
  readonly totalSeconds: number
}

/** Orders until the task has ended, in slices of that time. */
export async function orderDuring(
  { generator, port }: { readonly generator: LoadGenerator; readonly port: number },
  sliceMs: number,
  task: () => Promise<number>,
): Promise<OrdersDuring> {
  const begin = performance.now()
  let totalSeconds = 0
  const seconds = task().finally(() => (totalSeconds = secondsSince(begin)))
  // The answer below rejects with it.
  seconds.catch(() => undefined)
  const slices: Slice[] = []
  do slices.push(requireSuccess('orders', await generator.apply(postOrders(port), sliceMs)))
  while (totalSeconds === 0)
  const mean = (figure: (slice: Slice) => number) =>
    slices.reduce((sum, slice) => sum + figure(slice), 0) / slices.length
  return { rate: mean(rateOf), p99: mean(p99Of), seconds: await seconds, totalSeconds }
}

export function secondsSince(begin: number): number {
  return (performance.now() - begin) / 1_000
}
