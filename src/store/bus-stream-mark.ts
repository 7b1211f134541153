import { first, type Reads, type Tx } from './store.ts'
import { statement } from './tables.ts'

/** A row that never expires and that nobody takes: which stream of the bus has confirmed the messages, if one has. */
const STREAM = 'bus-stream'

const read = statement<{ name: string }, { holder: string }>((db, value) =>
  db.selectFrom('leases').select('holder').where('name', '=', value('name')),
)

const save = statement<{ name: string; holder: string }>((db, value) =>
  db
    .insertInto('leases')
    .values({ name: value('name'), holder: value('holder'), expires_at: Number.MAX_SAFE_INTEGER })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ holder: value('holder') })),
)

/** The stream to which messages are delivered. Times are epoch milliseconds. */
export interface BusStreamMark {
  /** When the bus made it; undefined before there was one. */
  readonly madeAt?: number | undefined
  /** Since when the bus confirms messages without a stream; undefined while it stores them. */
  readonly unstoredSince?: number | undefined
  /** When the bus confirmed messages that the stream lacks, until somebody sends them again. */
  readonly lost?: LostSpan | undefined
}

export interface LostSpan {
  readonly since: number
  readonly until: number
  /** No stream has ever had them; else a stream that was made anew has lost them. */
  readonly isUnstored?: boolean | undefined
}

/** Undefined before messages were delivered to a stream. The schema must be current. */
export async function readBusStream(reads: Reads): Promise<BusStreamMark | undefined> {
  const row = await first(reads, read, { name: STREAM })
  return row && (JSON.parse(row.holder) as BusStreamMark)
}

/** May be repeated. */
export async function recordBusStream(tx: Tx, mark: BusStreamMark): Promise<void> {
  await tx.change(save, { name: STREAM, holder: JSON.stringify(mark) })
}
