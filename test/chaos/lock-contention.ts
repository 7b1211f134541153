import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { Client } from 'pg'
import { eventually } from '../support/eventually.ts'
import { servePlatform, temporaryDirectory, type ServedPlatform } from '../support/platform.ts'
import { openEngine, type Engine, type EngineName } from './support/engine.ts'
import { requireOrders } from './support/order-invariants.ts'
import type { Figures, Scenario, Trial } from './support/scenario.ts'
import { timeOutTransactions } from './transaction-timeouts.ts'
import { percentile, slowest, watchHealth } from './support/watch.ts'
import { acknowledgedIn, DONE, REFUSED, unexpectedIn, writeOrder, type Written } from './support/writers.ts'

const WRITERS = 4
// docs/reliability.md, R-25: locks: requests wait up to 5 s; a busy machine adds to that.
const LOCK_TIMEOUT_MS = 5_000
const ANSWER_LIMIT_MS = 20_000
const LONG_MS = 8_000

export const lockContention: Scenario = {
  name: 'lock-contention',
  row: 'R-25',
  promise:
    'while another program holds the write lock, reads go on and changes wait five seconds; ' +
    'a transaction that times out commits nothing',
  unit: 'locks of 0.1 to 10 s, and groups of transactions of which some time out',
  rounds: { short: 2, brief: 6, full: 20 },
  parts: [
    { title: 'on SQLite', run: (trial) => contend(trial, 'sqlite') },
    { title: 'on PostgreSQL', run: (trial) => contend(trial, 'postgres') },
    { title: 'transactions that time out on PostgreSQL', run: timeOutTransactions },
  ],
}

async function contend(trial: Trial, engineName: EngineName): Promise<Figures> {
  const { rounds, chance, scope, signal, requireTime, show } = trial
  const dataDir = scope.use(temporaryDirectory()).path
  const engine = await openEngine(engineName, dataDir, scope)
  const platform = scope.use(await servePlatform({ dataDir, modules: 'api', env: engine.env }))
  const hold = engineName === 'sqlite' ? holdSqlite(dataDir) : await holdPostgres(engine, scope)
  const watch = watchHealth(platform.url)
  scope.defer(() => watch.stop())
  const written: Written[] = [await writeOrder(platform, 'first')]
  for (let round = 1; round <= rounds; round++) {
    signal.throwIfAborted()
    // Changes time out under a long lock.
    const lengthMs = round % 2 === 0 ? chance.between(LONG_MS, 10_000) : chance.between(100, 3_000)
    show(`lock ${round} of ${rounds}, for ${lengthMs} ms`)
    const underLock = await writeUnderLock(platform, `r${round}`, hold, lengthMs)
    requireTime('an answer', slowest(underLock), ANSWER_LIMIT_MS)
    written.push(...underLock)
  }
  await watch.stop()
  await requireOrders(engine, acknowledgedIn(written))
  assert.equal(await platform.stop(), 0)
  const times = watch.answers.map(({ milliseconds }) => milliseconds)
  return {
    locks: rounds,
    done: written.filter(({ status }) => status === 201).length,
    refused: written.filter(({ status }) => status === 503).length,
    lost: 0,
    'slowest answer ms': slowest(written),
    'health p99 ms': Math.round(percentile(times, 99)),
  }
}

type Hold = () => Promise<() => Promise<void>>

/** Writes and reads while the lock is held for that time; returns the outcomes of the writes. */
async function writeUnderLock(
  platform: ServedPlatform,
  prefix: string,
  hold: Hold,
  lengthMs: number,
): Promise<Written[]> {
  const release = await hold()
  const waiting = Promise.all(
    Array.from({ length: WRITERS }, (_, writer) => writeOrder(platform, `${prefix}-${writer}`)),
  )
  const end = performance.now() + lengthMs
  while (performance.now() < end) {
    const answer = await platform.call('GET', '/orders/first')
    assert.equal(answer.status, 200, await answer.text())
    await pause(50)
  }
  await release()
  const written = await waiting
  assert.deepEqual(unexpectedIn(written, [DONE, REFUSED]), [])
  if (lengthMs >= LONG_MS)
    assert.deepEqual(unexpectedIn(written, [REFUSED]), [], 'the lock was held too long')
  else if (slowest(written) < LOCK_TIMEOUT_MS) assert.deepEqual(unexpectedIn(written, [DONE]), [])
  const after = await eventually<Written | undefined>('an order to be taken', async () => {
    const next = await writeOrder(platform, `${prefix}-after-${performance.now()}`)
    return next.status === 201 ? next : undefined
  })
  return [...written, after]
}

function holdSqlite(dataDir: string): Hold {
  return async () => {
    const other = new DatabaseSync(join(dataDir, 'platform.db'), { timeout: 5_000 })
    other.exec('begin immediate')
    return async () => {
      other.exec('rollback')
      other.close()
    }
  }
}

async function holdPostgres(engine: Engine, scope: AsyncDisposableStack): Promise<Hold> {
  const other = new Client({ connectionString: engine.env['DATABASE_URL'] })
  await other.connect()
  scope.defer(() => other.end())
  return async () => {
    await other.query('begin')
    await other.query('lock table orders in exclusive mode')
    return async () => void (await other.query('rollback'))
  }
}
