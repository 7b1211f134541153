import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import type { Kysely } from 'kysely'
import { silentLogger } from '../../src/kernel/logger.ts'
import { noMetrics } from '../../src/kernel/metrics.ts'
import { HOUR, SECOND } from '../../src/kernel/time.ts'
import { defineColumns, text, type RowOf, type TableOf } from '../../src/store/columns.ts'
import { newHolder } from '../../src/store/work/holder.ts'
import { Runner, type RunnerOptions } from '../../src/store/work/runner.ts'
import type { Queries, Store, Tx } from '../../src/store/store.ts'
import { queuedWork, WORK_COLUMNS, WorkQueue } from '../../src/store/work/work-queue.ts'
import { eventually } from '../support/eventually.ts'
import { fakeWaitingClock, type FakeWaitingClock } from '../support/waiting-clock.ts'

const EVERY_MS = 7 * SECOND
const LEASE_MS = 30 * SECOND
const RETRY = { initialMs: SECOND, maximumMs: 60 * SECOND, giveUpAfterMs: 100 * SECOND }

const COLUMNS = defineColumns({ id: text(), result: text(), ...WORK_COLUMNS })
type Item = RowOf<typeof COLUMNS>

const db = (queries: Queries) => queries.db as Kysely<{ runner_items: TableOf<typeof COLUMNS> }>
const queue = new WorkQueue('runner_items', COLUMNS)

type Work = RunnerOptions<Item, string>['work']

interface World {
  readonly store: Store
  readonly clock: FakeWaitingClock
  /** Adds items, and wakes these runners after the commit. */
  add(ids: readonly string[], ...runners: readonly TestRunner[]): Promise<void>
  runner(work: Work, options?: Partial<RunnerOptions<Item, string>>): TestRunner
  item(id: string): Promise<Item>
  /** Resolves when each of these items has that result. */
  haveResult(result: string, ...ids: readonly string[]): Promise<void>
}

type TestRunner = Runner<Item, string>

/** What a `Runner` and a `WorkQueue` promise on any engine. `openStore` gives a store with nothing but its schema. */
export function describeRunnerContract(openStore: () => Promise<{ store: Store } & AsyncDisposable>): void {
  const inWorld = (run: (world: World) => Promise<void>) => async () => {
    await using opened = await openStore()
    const runners: TestRunner[] = []
    try {
      await run(await createWorld(opened.store, runners))
    } finally {
      await Promise.all(runners.map((runner) => runner.stop()))
    }
  }

  test(
    'two runners work on each item once',
    inWorld(async ({ add, runner, haveResult }) => {
      const worked: string[] = []
      const work: Work = async ({ id }) => (worked.push(id), 'done')
      const runners = [runner(work), runner(work)]
      const ids = Array.from({ length: 40 }, (_, number) => `item ${number}`)
      await Promise.all([add(ids.slice(0, 20), ...runners), add(ids.slice(20), ...runners)])
      await haveResult('done', ...ids)
      assert.deepEqual(worked.sort(), ids.sort())
    }),
  )

  test(
    'no more items are worked on at a time than the concurrency allows',
    inWorld(async ({ add, runner, haveResult }) => {
      let running = 0
      let most = 0
      const one = runner(async () => {
        most = Math.max(most, ++running)
        await new Promise((resolve) => setImmediate(resolve))
        running--
        return 'done'
      })
      const ids = Array.from({ length: 20 }, (_, number) => `item ${number}`)
      await add(ids, one)
      await haveResult('done', ...ids)
      assert.ok(most > 1 && most <= 4, `${most} at a time`)
    }),
  )

  test(
    'an item that woke no runner is found by the period',
    inWorld(async ({ add, clock, runner, haveResult, item }) => {
      runner(async () => 'done')
      await clock.pending(EVERY_MS)
      await add(['a'])
      assert.equal((await item('a')).attempts, 0)
      clock.advance(EVERY_MS)
      await haveResult('done', 'a')
    }),
  )

  test(
    'an item that was settled is never claimed again',
    inWorld(async ({ add, clock, runner, haveResult, item, store }) => {
      const one = runner(async () => 'done')
      await add(['a'], one)
      await haveResult('done', 'a')
      const { dueAt, leaseHolder } = await item('a')
      assert.deepEqual({ dueAt, leaseHolder }, { dueAt: null, leaseHolder: null })
      const claim = {
        holder: 'x',
        now: clock.now() + 1e12,
        until: clock.now() + 2e12,
        longestPauseMs: 1e13,
        limit: 10,
        except: [],
      }
      assert.deepEqual(await store.write((tx) => queue.claim(tx, claim)), [])
    }),
  )

  test(
    'an item of a process that has died is worked on when its lease has expired',
    inWorld(async ({ add, clock, runner, store, haveResult, item }) => {
      await add(['a'])
      const now = clock.now()
      const claim = { holder: 'dead', now, until: now + LEASE_MS, longestPauseMs: HOUR, limit: 1, except: [] }
      assert.equal((await store.write((tx) => queue.claim(tx, claim))).length, 1)
      const one = runner(async () => 'done')
      await clock.pending(EVERY_MS)
      clock.advance(LEASE_MS - 1)
      await clock.pending(EVERY_MS)
      assert.equal((await item('a')).leaseHolder, 'dead')
      clock.advance(1)
      one.wake()
      await haveResult('done', 'a')
      assert.equal((await item('a')).attempts, 2)
    }),
  )

  test(
    'the items of a process that has ended on this host can be claimed at once, those of others cannot',
    inWorld(async ({ add, clock, store }) => {
      const ended = newHolder().replace(/\/\d+\//, `/${spawnSync('true').pid}/`)
      const claimAs = (holder: string) => {
        const now = clock.now()
        const claim = { holder, now, until: now + LEASE_MS, longestPauseMs: HOUR, limit: 1, except: [] }
        return store.write((tx) => queue.claim(tx, claim))
      }
      await add(['a', 'b'])
      const [ofEnded] = await claimAs(ended)
      await claimAs(newHolder())
      await store.write((tx) => queue.expireDead(tx, clock.now()))
      assert.deepEqual(
        (await claimAs('next')).map(({ id }) => id),
        [ofEnded?.id],
      )
      assert.deepEqual(await claimAs('next'), [])
    }),
  )

  test(
    'a lease is extended while the work goes on, so no other runner begins it',
    inWorld(async ({ add, clock, runner, haveResult }) => {
      let begun = 0
      const end = Promise.withResolvers<string>()
      const work: Work = () => (begun++, end.promise)
      const runners = [runner(work), runner(work)]
      await add(['a'], ...runners)
      await eventually('the work has begun', () => begun === 1)
      for (let third = 0; third < 6; third++) {
        await clock.pass(LEASE_MS / 3)
        await clock.pending(LEASE_MS / 3)
        for (const each of runners) each.wake()
      }
      end.resolve('done')
      await haveResult('done', 'a')
      assert.equal(begun, 1)
    }),
  )

  test(
    'a runner that was suspended for longer than its lease goes on with its item, and does not begin it again',
    inWorld(async ({ add, clock, runner, haveResult, item }) => {
      let begun = 0
      const end = Promise.withResolvers<string>()
      const one = runner(() => (begun++, end.promise))
      await add(['a'], one)
      await eventually('the work has begun', () => begun === 1)
      await clock.pending(EVERY_MS)
      // The runner looks for work before it extends the lease.
      one.wake()
      clock.advance(LEASE_MS + 1)
      await clock.pending(LEASE_MS / 3)
      await add(['b'], one)
      await eventually('the other item has begun', () => begun === 2)
      end.resolve('done')
      await haveResult('done', 'a', 'b')
      assert.deepEqual([(await item('a')).attempts, begun], [1, 2])
    }),
  )

  test(
    'an item that its holder has claimed again is not changed by the earlier attempt',
    inWorld(async ({ add, clock, item, store }) => {
      await add(['a'])
      const claim = async () => {
        const now = clock.now()
        const request = {
          holder: 'same',
          now,
          until: now + LEASE_MS,
          longestPauseMs: HOUR,
          limit: 1,
          except: [],
        }
        const [claimed] = await store.write((tx) => queue.claim(tx, request))
        return claimed ?? assert.fail('nothing was claimed')
      }
      const earlier = await claim()
      clock.advance(LEASE_MS)
      const later = await claim()
      const renew = (attempt: Item) =>
        store.write((tx) => queue.renew(tx, attempt, { holder: 'same', until: clock.now() + 2 * LEASE_MS }))
      const release = (attempt: Item) =>
        store.write((tx) => queue.release(tx, attempt, { holder: 'same', dueAt: null }))
      assert.deepEqual([await renew(earlier), await release(earlier)], [false, false])
      assert.deepEqual(await item('a'), later)
      assert.deepEqual([await renew(later), await release(later)], [true, true])
    }),
  )

  test(
    'work whose lease was lost is aborted, and its outcome is dropped',
    inWorld(async ({ add, clock, runner, item, store }) => {
      const begun = Promise.withResolvers<AbortSignal>()
      const one = runner(async (_item, signal) => {
        begun.resolve(signal)
        await once(signal, 'abort')
        return 'too late'
      })
      await add(['a'], one)
      const signal = await begun.promise
      await store.write((tx) => db(tx).updateTable('runner_items').set({ lease_holder: 'other' }).execute())
      await clock.pass(LEASE_MS / 3)
      await eventually('the work is aborted', () => signal.aborted)
      await one.stop()
      const { leaseHolder, result } = await item('a')
      assert.deepEqual({ leaseHolder, result }, { leaseHolder: 'other', result: '' })
    }),
  )

  test(
    'work is aborted before its lease expires when the database cannot extend it',
    inWorld(async ({ add, clock, runner, store }) => {
      const begun = Promise.withResolvers<AbortSignal>()
      let isAway = false
      const write: Store['write'] = (work, options) =>
        isAway ? Promise.reject(new Error('away')) : store.write(work, options)
      const one = runner(
        async (_item, signal) => {
          begun.resolve(signal)
          await once(signal, 'abort')
          return 'too late'
        },
        { store: { ...store, write } },
      )
      await add(['a'], one)
      const signal = await begun.promise
      isAway = true
      await clock.pass(LEASE_MS / 3)
      await clock.pending(LEASE_MS / 3)
      assert.equal(signal.aborted, false)
      await clock.pass(LEASE_MS / 3)
      await eventually('the work is aborted', () => signal.aborted)
      isAway = false
    }),
  )

  test(
    'a runner that is stopped gives its items back at once, and claims no more',
    inWorld(async ({ add, runner, item, haveResult }) => {
      const begun = Promise.withResolvers<void>()
      const first = runner(async (_item, signal) => {
        begun.resolve()
        await once(signal, 'abort')
        throw new Error('stopped')
      })
      await add(['a'], first)
      await begun.promise
      await Promise.all([first.stop(), first.stop()])
      assert.equal((await item('a')).leaseHolder, null)
      await add(['b'], first)
      const second = runner(async () => 'second')
      second.wake()
      await haveResult('second', 'a', 'b')
    }),
  )

  test(
    'a claim during which the runner is stopped is rolled back',
    inWorld(async ({ add, runner, item, haveResult }) => {
      const claimed = Promise.withResolvers<void>()
      const stopped = Promise.withResolvers<void>()
      const worked: string[] = []
      const first = runner(async ({ id }) => (worked.push(id), 'first'), {
        async claim(tx, claim) {
          const items = await queue.claim(tx, claim)
          if (items.length > 0) claimed.resolve()
          if (items.length > 0) await stopped.promise
          return items
        },
      })
      await add(['a'], first)
      await claimed.promise
      const stopping = first.stop()
      stopped.resolve()
      await stopping
      assert.deepEqual([(await item('a')).attempts, worked], [0, []])
      runner(async () => 'second').wake()
      await haveResult('second', 'a')
    }),
  )

  test(
    'work that a stop interrupts is counted as interrupted, and causes no warning',
    inWorld(async ({ add, runner, item }) => {
      const counts = new Map<unknown, number>()
      const increment = ({ outcome }: { readonly outcome?: unknown } = {}, by = 1) =>
        void counts.set(outcome, (counts.get(outcome) ?? 0) + by)
      const warnings: string[] = []
      const begun = Promise.withResolvers<void>()
      const one = runner(
        async (_item, signal) => {
          begun.resolve()
          await once(signal, 'abort')
          throw new Error('stopped')
        },
        {
          metrics: { ...noMetrics, counter: () => ({ increment }) },
          logger: { ...silentLogger, warn: (_fields, message) => void warnings.push(message) },
        },
      )
      await add(['a'], one)
      await begun.promise
      await one.stop()
      const { dueAt, leaseHolder } = await item('a')
      assert.ok(dueAt !== null && leaseHolder === null)
      assert.deepEqual([counts.get('interrupted'), counts.get('retry'), warnings], [1, undefined, []])
    }),
  )

  test(
    'what has failed is retried after growing pauses',
    inWorld(async ({ add, clock, runner, item, haveResult }) => {
      const attempts: number[] = []
      const one = runner(async ({ attempts: attempt }) => {
        attempts.push(attempt)
        if (attempt < 5) throw new Error('not yet')
        return 'done'
      })
      await add(['a'], one)
      for (const pauseMs of [SECOND, 2 * SECOND, 4 * SECOND, 8 * SECOND]) {
        const { dueAt } = await eventually('the retry is planned', async () => {
          const { leaseHolder, ...rest } = await item('a')
          return leaseHolder === null && rest.dueAt !== null && rest.dueAt > clock.now() ? rest : undefined
        })
        const waitMs = (dueAt ?? 0) - clock.now()
        assert.ok(waitMs >= pauseMs / 2 && waitMs <= pauseMs, `${waitMs} of ${pauseMs} ms`)
        await clock.pending(waitMs)
        clock.advance(waitMs)
      }
      await haveResult('done', 'a')
      assert.deepEqual(attempts, [1, 2, 3, 4, 5])
    }),
  )

  test(
    'an item that fails for too long is given up',
    inWorld(async ({ add, clock, runner, haveResult, item }) => {
      const one = runner(async () => {
        clock.advance(RETRY.giveUpAfterMs)
        throw new Error('never')
      })
      await add(['a'], one)
      await haveResult('failed: never', 'a')
      assert.equal((await item('a')).dueAt, null)
    }),
  )

  test(
    'an item that is due later than any pause was written before the clock was set back, and is due now',
    inWorld(async ({ add, clock, item, store }) => {
      await add(['a'])
      const now = clock.now()
      const claimAt = (time: number) => {
        const claim = {
          holder: 'x',
          now: time,
          until: time + LEASE_MS,
          longestPauseMs: HOUR,
          limit: 1,
          except: [],
        }
        return store.write((tx) => queue.claim(tx, claim))
      }
      assert.equal((await claimAt(now - HOUR)).length, 0)
      assert.equal((await claimAt(now - 8 * HOUR)).length, 1)
      assert.equal((await item('a')).dueAt, now - 8 * HOUR + LEASE_MS)
    }),
  )

  test(
    'an item during which processes die is given up without another attempt',
    inWorld(async ({ add, clock, runner, store, haveResult }) => {
      await add(['a'])
      const now = clock.now()
      await store.write((tx) =>
        queue.claim(tx, { holder: 'dead', now, until: now + 1, longestPauseMs: HOUR, limit: 1, except: [] }),
      )
      clock.advance(RETRY.giveUpAfterMs)
      let begun = 0
      runner(async () => `${++begun}`)
      await haveResult('failed: The item was given up: its last attempt has not ended.', 'a')
      assert.equal(begun, 0)
    }),
  )

  test(
    'an outcome that cannot be recorded is recorded later, without working again',
    inWorld(async ({ add, clock, runner, store, haveResult }) => {
      let begun = 0
      let refusals = 2
      const write: Store['write'] = (work, options) => {
        if (begun > 0 && refusals-- > 0) return Promise.reject(new Error('away'))
        return store.write(work, options)
      }
      const one = runner(async () => `${++begun}`, { store: { ...store, write } })
      await add(['a'], one)
      while (refusals > 0) {
        await eventually('a pause', () => clock.waits().some((milliseconds) => milliseconds <= SECOND))
        clock.advance(SECOND)
      }
      await haveResult('1', 'a')
      assert.equal(begun, 1)
    }),
  )

  test(
    'a runner goes on after the database was away',
    inWorld(async ({ add, clock, runner, store, haveResult }) => {
      let isAway = true
      const write: Store['write'] = (work, options) =>
        isAway ? Promise.reject(new Error('away')) : store.write(work, options)
      runner(async () => 'done', { store: { ...store, write } })
      await add(['a'])
      await clock.pending(EVERY_MS)
      isAway = false
      clock.advance(EVERY_MS)
      await haveResult('done', 'a')
    }),
  )
}

async function createWorld(store: Store, runners: TestRunner[]): Promise<World> {
  const clock = fakeWaitingClock()
  await createTable(store)
  const item = (id: string) =>
    db(store.read)
      .selectFrom('runner_items')
      .select(COLUMNS.all)
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
  return {
    store,
    clock,
    item,
    async add(ids, ...woken) {
      await store.write(async (tx) => {
        for (const id of ids) await insert(tx, { id, result: '', ...queuedWork(clock.now()) })
        tx.afterCommit(() => woken.forEach((runner) => runner.wake()))
      })
    },
    runner(work, options) {
      const runner = new Runner<Item, string>({ ...runnerOptions(store, clock, work), ...options })
      runner.start()
      runners.push(runner)
      return runner
    },
    async haveResult(result, ...ids) {
      for (const id of ids) {
        await eventually(`${id} has the result ${result}`, async () => (await item(id)).result === result)
      }
    },
  }
}

function runnerOptions(store: Store, clock: FakeWaitingClock, work: Work): RunnerOptions<Item, string> {
  return {
    name: 'test',
    store,
    clock,
    logger: silentLogger,
    metrics: noMetrics,
    everyMs: EVERY_MS,
    leaseMs: LEASE_MS,
    concurrency: 4,
    retry: RETRY,
    claim: (tx, claim) => queue.claim(tx, claim),
    renew: (tx, each, lease) => queue.renew(tx, each, lease),
    work,
    async settle(tx, each, holder, outcome) {
      const dueAt = 'at' in outcome ? outcome.at : null
      if (!(await queue.release(tx, each, { holder, dueAt }))) return false
      if (!('at' in outcome)) await setResult(tx, each.id, resultOf(outcome))
      return true
    },
  }
}

function resultOf(
  outcome: { status: 'done'; result: string } | { status: 'failed'; error: unknown },
): string {
  if (outcome.status === 'done') return outcome.result
  return `failed: ${outcome.error instanceof Error ? outcome.error.message : String(outcome.error)}`
}

async function createTable({ capabilities, write }: Store): Promise<void> {
  const { integer, tableSuffix } = capabilities
  await write((tx) =>
    tx.db.schema
      .createTable('runner_items')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('result', 'text', (column) => column.notNull())
      .addColumn('due_at', integer)
      .addColumn('lease_holder', 'text')
      .addColumn('attempts', integer, (column) => column.notNull())
      .addColumn('queued_at', integer, (column) => column.notNull())
      .addColumn('trace', 'text')
      .modifyEnd(tableSuffix)
      .execute(),
  )
}

async function insert(tx: Tx, item: Item): Promise<void> {
  await db(tx).insertInto('runner_items').values(COLUMNS.values(item)).execute()
}

async function setResult(tx: Tx, id: string, result: string): Promise<void> {
  await db(tx).updateTable('runner_items').set({ result }).where('id', '=', id).execute()
}
