import type { LoadGenerator } from './load-generator.ts'
import type { LoadTarget, Slice } from './load.ts'
import type { Contestant } from './rounds.ts'

/** Servers under load, by their names; an answer other than 2xx fails the benchmark. */
export function loadContestants(
  generator: Pick<LoadGenerator, 'apply'>,
  targets: Readonly<Record<string, LoadTarget>>,
): Contestant[] {
  return Object.entries(targets).map(([name, target]) => ({
    name,
    run: async (forMs) => requireSuccess(name, await generator.apply(target, forMs)),
  }))
}

/** A refusal is quicker than an answer, so a slice with refusals measures nothing. */
export function requireSuccess(name: string, slice: Slice): Slice {
  const others = Object.entries(slice.statuses).filter(([status]) => !status.startsWith('2'))
  if (others.length === 0) return slice
  const list = others.map(([status, count]) => `${count} × ${status}`).join(', ')
  throw new Error(`${name} gave answers other than 2xx: ${list}`)
}

export function rateOf({ rate }: { readonly rate: number }): number {
  return rate
}

export function p99Of({ p99 }: { readonly p99: number }): number {
  return p99
}
