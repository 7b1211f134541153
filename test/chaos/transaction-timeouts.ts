import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { systemClock } from '../../src/kernel/clock.ts'
import { silentLogger } from '../../src/kernel/logger.ts'
import { noMetrics } from '../../src/kernel/metrics.ts'
import { Secret } from '../../src/kernel/secret.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'
import type { Chance } from '../support/random.ts'
import { createTestDatabase } from '../support/postgres.ts'
import type { Figures, Trial } from './support/scenario.ts'

const LIMITS = { transactionMs: 600, idleMs: 300 }
const TRANSACTIONS = 6
const STEPS = 6
// The transactions of a round that always time out.
const IDLE = 0
const SLOW = 1

/** Milliseconds: what a transaction waits for before a step, and how long the statement of the step takes. */
interface Step {
  readonly idleMs: number
  readonly statementMs: number
}

/**
 * Transactions time out at random steps, and their callbacks go on: of each transaction all steps are committed, or
 * none. The first two of a round always time out: between two statements, and while a statement runs.
 */
export async function timeOutTransactions(trial: Trial): Promise<Figures> {
  const { rounds, chance, scope, signal, show } = trial
  const { url, drop } = await createTestDatabase()
  scope.defer(drop)
  const database = { kind: 'postgres', url: new Secret(url) } as const
  const parts = { clock: systemClock, metrics: noMetrics, logger: silentLogger, limits: LIMITS }
  const store = await openStore({ database, ...parts })
  scope.defer(() => store.close())
  await store.write(({ db }) =>
    sql`create table steps (transaction_id integer not null, step integer not null)`.execute(db),
  )
  const committed: number[] = []
  for (let round = 1; round <= rounds; round++) {
    signal.throwIfAborted()
    show(`round ${round} of ${rounds}`)
    const plans = Array.from({ length: TRANSACTIONS }, (_, index) => planOf(chance, index))
    const outcomes = await Promise.all(
      plans.map((plan, index) => isCommitted(store, round * TRANSACTIONS + index, plan)),
    )
    assert.deepEqual([outcomes[IDLE], outcomes[SLOW]], [false, false], 'both must time out')
    committed.push(...outcomes.flatMap((done, index) => (done ? round * TRANSACTIONS + index : [])))
  }
  await requireWholeTransactions(store, committed)
  const total = rounds * TRANSACTIONS
  return {
    transactions: total,
    committed: committed.length,
    'timed out': total - committed.length,
    partial: 0,
  }
}

function planOf(chance: Chance, index: number): Step[] {
  // A callback that pauses nowhere sends its next statement before the answer to a rollback.
  const most = index === SLOW ? 0 : 50
  const steps = Array.from({ length: STEPS }, () => ({
    idleMs: chance.between(0, most),
    statementMs: chance.between(0, 100),
  }))
  const at = chance.between(1, STEPS - 2)
  if (index === IDLE) return steps.with(at, { idleMs: 2 * LIMITS.idleMs, statementMs: 0 })
  if (index === SLOW) return steps.with(at, { idleMs: 0, statementMs: 1.5 * LIMITS.transactionMs })
  return steps
}

/** Runs the transaction until its callback has ended, which may be after its timeout. */
async function isCommitted(store: Store, id: number, plan: readonly Step[]): Promise<boolean> {
  let ended: Promise<void> = Promise.resolve()
  const write = store.write(({ db }) => {
    const run = async () => {
      for (const [step, { idleMs, statementMs }] of plan.entries()) {
        if (idleMs > 0) await pause(idleMs)
        await sql`
          with slept as (select pg_sleep(${statementMs / 1_000}))
          insert into steps (transaction_id, step) select ${id}::integer, ${step}::integer from slept`.execute(
          db,
        )
      }
    }
    ended = run()
    return ended
  })
  const isDone = await write.then(
    () => true,
    (error: unknown) => {
      assert.equal((error as { code?: unknown }).code, 'store_unavailable', String(error))
      return false
    },
  )
  await ended.catch(() => undefined)
  return isDone
}

async function requireWholeTransactions(store: Store, committed: readonly number[]): Promise<void> {
  const { rows } = await sql<{ id: number; steps: number }>`
    select transaction_id as id, cast(count(*) as integer) as steps from steps group by transaction_id order by 1
  `.execute(store.read.db)
  assert.deepEqual(
    rows,
    committed.map((id) => ({ id, steps: STEPS })),
    'a transaction that timed out has committed a statement, or an acknowledged one was lost',
  )
}
