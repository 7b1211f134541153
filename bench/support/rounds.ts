import type { Slice } from './load.ts'

/** One of those that are compared; a sample is what one slice of time told of it. */
export interface Contestant<S = Slice> {
  readonly name: string
  /** Runs for about that time, in milliseconds. */
  run(forMs: number): Promise<S>
}

export interface RoundOptions {
  readonly rounds: number
  readonly sliceMs: number
  /** Sizes that show that a benchmark works, and say nothing about the program; without peers. */
  readonly small: boolean
  readonly signal: AbortSignal
  /** Told before each slice, and of whatever else takes its time. */
  readonly onSlice: (text: string) => void
  /** What a reader of the figures must know: something could not be measured here. */
  readonly note: (text: string) => void
}

/** The samples of one round, by the names of the contestants. */
export type Round<S = Slice> = ReadonlyMap<string, S>

// What is compiled while it runs takes a few seconds to reach its speed.
const WARM_UP_ROUNDS = 2

/**
 * Runs the contestants in turns, so that whatever the machine does to one of them it does to the others too; figures
 * are compared only within a round. Their order changes from round to round, so that none always follows the same
 * neighbour.
 */
export async function interleave<S>(
  contestants: readonly Contestant<S>[],
  { rounds, sliceMs, small, signal, onSlice }: RoundOptions,
): Promise<Round<S>[]> {
  const done: Round<S>[] = []
  for (let number = small ? 1 : 1 - WARM_UP_ROUNDS; number <= rounds; number++) {
    const label = number < 1 ? 'warming up' : `round ${number} of ${rounds}`
    const round = new Map<string, S>()
    for (const contestant of ordered(contestants, number)) {
      signal.throwIfAborted()
      onSlice(`${label}: ${contestant.name}`)
      round.set(contestant.name, await contestant.run(sliceMs))
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
