import type { Slice } from './load.ts'

/** One of the servers that are compared; a sample has the figures of one slice of time. */
export interface Contestant<S = Slice> {
  readonly name: string
  /** Runs for about that time, in milliseconds. */
  run(forMs: number): Promise<S>
}

export interface RoundOptions {
  readonly rounds: number
  readonly sliceMs: number
  /** Sizes that only show that a benchmark works, without peers. */
  readonly small: boolean
  readonly signal: AbortSignal
  /** Called before each slice, and before other long steps. */
  readonly onSlice: (text: string) => void
  /** Adds a note for the reader of the figures, such as a peer that could not be measured. */
  readonly note: (text: string) => void
}

/** The samples of one round, by the names of the contestants. */
export type Round<S = Slice> = ReadonlyMap<string, S>

// Code that is compiled at run time takes a few seconds to reach its speed.
const WARM_UP_ROUNDS = 2

/**
 * Runs the contestants in turns, so that a slow phase of the machine slows all of them; figures are compared only within a
 * round. Their order changes from round to round, so that none always follows the same neighbour.
 */
export async function interleave<S>(
  contestants: readonly Contestant<S>[],
  { rounds, sliceMs, small, signal, onSlice }: RoundOptions,
): Promise<Round<S>[]> {
  const done: Round<S>[] = []
  for (let number = small ? 1 : 1 - WARM_UP_ROUNDS; number <= rounds; number++) {
    const label = number < 1 ? 'warming up' : `round ${number} of ${rounds}`
    const round = new Map<string, S>()
    for (const contestant of inOrderOfRound(contestants, number)) {
      signal.throwIfAborted()
      onSlice(`${label}: ${contestant.name}`)
      round.set(contestant.name, await contestant.run(sliceMs))
    }
    if (number >= 1) done.push(round)
  }
  return done
}

/** Each round begins with another one, and every other round goes backwards. */
function inOrderOfRound<T>(list: readonly T[], round: number): T[] {
  const start = Math.abs(round) % list.length
  const rotated = [...list.slice(start), ...list.slice(0, start)]
  return round % 2 === 0 ? rotated : rotated.reverse()
}
