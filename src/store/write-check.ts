import type { Clock } from '../kernel/clock.ts'
import { AppError } from '../kernel/errors.ts'
import type { Logger } from '../kernel/logger.ts'
import { createOutage } from '../kernel/outage.ts'
import { statement } from './tables.ts'
import type { Store, Work } from './store.ts'
import { withTimeout } from './timeout.ts'

export interface WriteCheckOptions {
  readonly clock: Clock
  readonly logger: Logger
  /** For the answer to a check, in milliseconds. */
  readonly limitMs: number
}

const probe = statement<{ now: number }>((db, value) =>
  db
    .insertInto('leases')
    .values({ name: 'store-check', holder: '', expires_at: value('now') })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ expires_at: value('now') })),
)

/**
 * The same store, whose check knows of writes too: a database on a full disk answers every question and takes no
 * change. Nothing is written as long as writing works. The log is told once of what is refused, with its cause.
 */
export function withCheckOfWrites(store: Store, { clock, logger, limitMs }: WriteCheckOptions): Store {
  const outage = createOutage(
    logger,
    { part: 'database' },
    {
      fails: 'the database refused a change; callers are answered 503 until it takes one again',
      worksAgain: 'the database takes changes again',
    },
  )
  let refused = false

  const write: Store['write'] = async (work, options) => {
    try {
      const answer = await store.write(work, options)
      refused = false
      outage.works()
      return answer
    } catch (error) {
      if (error instanceof AppError && error.code === 'store_unavailable') {
        refused = true
        outage.fails(error)
      }
      throw error
    }
  }

  const writeProbe: Work<unknown> = (tx) => tx.run(probe, { now: clock.now() })

  const check = async () => {
    await store.check()
    if (refused) await write(writeProbe)
  }

  return { ...store, write, check: () => withTimeout(limitMs, check(), () => silent(limitMs)) }
}

function silent(limitMs: number): AppError {
  return new AppError(
    'unavailable',
    'store_unavailable',
    `The database has not answered within ${limitMs} ms; try again.`,
  )
}
