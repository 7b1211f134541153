import type { PageRequest } from '../kernel/page.ts'
import { HOUR } from '../kernel/time.ts'
import { statement } from './statement.ts'
import type { Reads } from './store.ts'

// Rows are created in the order of `seq`, except if the clock of a process was set back.
const CLOCK_TOLERANCE_MS = HOUR

type Times = Pick<PageRequest, 'createdFrom' | 'createdTo'>

/** The bounds of a time range: of the time of creation, and of the `seq` that belongs to it. A missing bound is open. */
export interface CreatedRange extends Times {
  readonly firstSeq?: number
  readonly endSeq?: number
}

/**
 * Finds the bounds of time ranges of a table. `column` contains the time of creation, and needs no index: a binary search
 * finds the range of `seq`, so that a page reads no rows outside it. Rows that were created with a clock that was wrong by
 * more than an hour may be missing.
 */
export class CreatedRanges {
  readonly #lastRow
  readonly #firstRowFrom

  constructor(table: string, column: string) {
    this.#lastRow = statement(({ db }) => db.selectFrom(table).select('seq').orderBy('seq', 'desc').limit(1))
    this.#firstRowFrom = statement(({ db }, seq: number) =>
      db
        .selectFrom(table)
        .select(['seq', `${column} as at`])
        .where('seq', '>=', seq)
        .orderBy('seq')
        .limit(1),
    )
  }

  async find(reads: Reads, { createdFrom, createdTo }: Times): Promise<CreatedRange> {
    const firstSince = (time: number) => this.#firstSeqSince(reads, time)
    return {
      ...(createdFrom !== undefined && {
        createdFrom,
        firstSeq: await firstSince(createdFrom - CLOCK_TOLERANCE_MS),
      }),
      ...(createdTo !== undefined && { createdTo, endSeq: await firstSince(createdTo + CLOCK_TOLERANCE_MS) }),
    }
  }

  /** The smallest `seq` from which on rows were created at `time` or later. */
  async #firstSeqSince(reads: Reads, time: number): Promise<number> {
    let low = 0
    let high = ((await reads.run(this.#lastRow, []))[0]?.seq ?? 0) + 1
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      const [row] = await reads.run(this.#firstRowFrom, [middle])
      if (row && row.at < time) low = row.seq + 1
      else high = middle
    }
    return low
  }
}
