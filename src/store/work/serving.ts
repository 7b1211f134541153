import type { Clock } from '../../kernel/clock.ts'
import type { Job } from '../../kernel/job.ts'
import { MINUTE } from '../../kernel/time.ts'
import type { Reads, Store } from '../store.ts'
import { statement } from '../tables.ts'
import { isDeadHolder, newHolder } from './holder.ts'

// Rows that nobody takes; the column of the holder has what the process says of itself.
const SERVING = 'serving:'
const SAID_EVERY_MS = MINUTE
const GONE_AFTER_MS = 3 * MINUTE

const list = statement<{ pattern: string }, { name: string; holder: string; expires_at: number }>(
  (db, value) =>
    db
      .selectFrom('leases')
      .select(['name', 'holder', 'expires_at'])
      .where('name', 'like', value('pattern'))
      .orderBy('name'),
)

const save = statement<{ name: string; holder: string; expires: number }>((db, value) =>
  db
    .insertInto('leases')
    .values({ name: value('name'), holder: value('holder'), expires_at: value('expires') })
    .onConflict((conflict) =>
      conflict.column('name').doUpdateSet({ holder: value('holder'), expires_at: value('expires') }),
    ),
)

const remove = statement<{ name: string }>((db, value) =>
  db.deleteFrom('leases').where('name', '=', value('name')),
)

const prune = statement<{ pattern: string; before: number }>((db, value) =>
  db.deleteFrom('leases').where('name', 'like', value('pattern')).where('expires_at', '<', value('before')),
)

/** What a process that serves a database says of itself. It has no secret. */
export interface ServingProcess {
  readonly host: string
  readonly processId: number
  readonly version: string
  readonly modules: readonly string[]
  readonly startedAt: number
  readonly dataDir: string
  /** Without credentials. */
  readonly bus: string
  /** A code of the address and secrets of each receiver of notifications. */
  readonly receivers: Readonly<Record<string, string>>
}

/** Says each minute that a process serves the database. */
export class ServingRecord {
  readonly #name = `${SERVING}${newHolder()}`
  readonly #store: Store
  readonly #clock: Clock
  readonly #facts: ServingProcess
  readonly job: Job = { name: 'serving-record', everyMs: SAID_EVERY_MS, run: () => this.#save() }

  constructor(store: Store, clock: Clock, facts: ServingProcess) {
    this.#store = store
    this.#clock = clock
    this.#facts = facts
  }

  async #save(): Promise<void> {
    const now = this.#clock.now()
    await this.#store.write(async (tx) => {
      await tx.change(prune, { pattern: `${SERVING}%`, before: now })
      await tx.change(save, {
        name: this.#name,
        holder: JSON.stringify(this.#facts),
        expires: now + GONE_AFTER_MS,
      })
    })
  }

  /** The process stops in order. */
  async remove(): Promise<void> {
    await this.#store.write((tx) => tx.change(remove, { name: this.#name }))
  }
}

/** Who holds a lease: the record of a process has its holder in its name. */
export function holderOf({ name, holder }: { readonly name: string; readonly holder: string }): string {
  return name.startsWith(SERVING) ? name.slice(SERVING.length) : holder
}

/** The processes that serve the database now, as far as they have said so within three minutes and have not ended. */
export async function listServing(reads: Reads, now: number): Promise<ServingProcess[]> {
  const rows = await reads.run(list, { pattern: `${SERVING}%` })
  return rows
    .filter(({ name, holder, expires_at }) => {
      // A clock that was ahead and set back has left a time that no process says now.
      const leftMs = expires_at - now
      return (
        leftMs > 0 && leftMs <= GONE_AFTER_MS + SAID_EVERY_MS && !isDeadHolder(holderOf({ name, holder }))
      )
    })
    .map(({ holder }) => JSON.parse(holder) as ServingProcess)
}
