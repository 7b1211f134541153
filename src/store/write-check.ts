import type { Clock } from '../kernel/clock.ts'
import { AppError } from '../kernel/errors.ts'
import { statement } from './statement.ts'
import type { Store, Work } from './store.ts'
import { within } from './time-limit.ts'

const probe = statement<{ now: number }>((db, value) =>
  db
    .insertInto('leases')
    .values({ name: 'store-check', holder: '', expires_at: value('now') })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ expires_at: value('now') })),
)

/**
 * The same store, whose check knows of writes too: a database on a full disk answers every question and takes no
 * change. Nothing is written as long as writing works.
 */
export function withCheckOfWrites(store: Store, clock: Clock, limitMs: number): Store {
  let refused = false

  const write: Store['write'] = async (work, options) => {
    try {
      return await store.write(work, options)
    } catch (error) {
      refused ||= error instanceof AppError && error.code === 'store_unavailable'
      throw error
    }
  }

  const writeProbe: Work<unknown> = (tx) => tx.run(probe, { now: clock.now() })

  const check = async () => {
    await store.check()
    if (!refused) return
    await store.write(writeProbe)
    refused = false
  }

  return { ...store, write, check: () => within(limitMs, check(), () => silent(limitMs)) }
}

function silent(limitMs: number): AppError {
  return new AppError(
    'unavailable',
    'store_unavailable',
    `The database has not answered within ${limitMs} ms; try again.`,
  )
}
