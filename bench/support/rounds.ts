import type { Slice } from './load.ts'

/** One of those that are compared. */
export interface Contestant {
  readonly name: string
  /** Takes load for that time, in milliseconds. */
  run(forMs: number): Promise<Slice>
}

export interface RoundOptions {
  readonly rounds: number
  readonly sliceMs: number
  readonly signal: AbortSignal
  /** Told before each slice. */
  readonly onSlice: (text: string) => void
}

/** The slices of one round, by the names of the contestants. */
export type Round = ReadonlyMap<string, Slice>

// What is compiled while it runs takes a few seconds to reach its speed.
const WARM_UP_ROUNDS = 2

/**
 * Loads the contestants in turns, so that whatever the machine does to one of them it does to the others too; figures
 * are compared only within a round. Their order changes from round to round, so that none always follows the same
 * neighbour.
 */
export async function interleave(
  contestants: readonly Contestant[],
  { rounds, sliceMs, signal, onSlice }: RoundOptions,
): Promise<Round[]> {
  const done: Round[] = []
  for (let number = 1 - WARM_UP_ROUNDS; number <= rounds; number++) {
    const label = number < 1 ? 'warming up' : `round ${number} of ${rounds}`
    const round = new Map<string, Slice>()
    for (const contestant of ordered(contestants, number)) {
      signal.throwIfAborted()
      onSlice(`${label}: ${contestant.name}`)
      round.set(contestant.name, succeeded(contestant.name, await contestant.run(sliceMs)))
    }
    if (number >= 1) done.push(round)
  }
  return done
}

/** Each round begins with another one, and every other round goes backwards. */
function ordered<T>(list: readonly T[], round: number): T[] {
  const start = Math.abs(round) % list.length
  const rotated = [...list.slice(start), ...list.slice(0, start)]
  return round % 2 === 0 ? rotated : rotated.reverse()
}

/** A refusal is quicker than an answer, so a run with refusals measures nothing. */
function succeeded(name: string, slice: Slice): Slice {
  const others = Object.entries(slice.statuses).filter(([status]) => !status.startsWith('2'))
  if (others.length === 0) return slice
  const list = others.map(([status, count]) => `${count} × ${status}`).join(', ')
  throw new Error(`${name} gave answers other than 2xx: ${list}`)
}
