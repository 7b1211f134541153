import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { DatabaseSync } from 'node:sqlite'
import { join } from 'node:path'
import { startNats } from '../support/nats.ts'
import { runPlatform, servePlatform, temporaryDirectory, type ServedPlatform } from '../support/platform.ts'
import { openEngine, type Engine, type EngineName } from './support/engine.ts'
import type { Figures, Scenario, Trial } from './support/scenario.ts'
import { percentile } from './support/watch.ts'

// One order in ten is due.
const ORDERS_PER_DUE = 10
// docs/reliability.md, Results: 60 s, which a busy machine may exceed.
const TIMEOUT_S = 900
const POLL_MS = 250
const CALL_EVERY_MS = 10

export const massExpiry: Scenario = {
  name: 'mass-expiry',
  row: 'R-9',
  promise:
    'when very many orders are due at once, each expires once with one event and one alert, and the API responds',
  unit: 'due orders, among ten times as many',
  rounds: { short: 2_000, full: 100_000 },
  parts: [
    { title: 'on SQLite', run: (trial) => expireMany(trial, 'sqlite') },
    // Each order takes several round trips to the server, so fewer of them take the same time.
    { title: 'on PostgreSQL', share: 0.1, run: (trial) => expireMany(trial, 'postgres') },
  ],
}

async function expireMany(trial: Trial, engineName: EngineName): Promise<Figures> {
  const { rounds: due, scope, show, signal } = trial
  const dataDir = scope.use(temporaryDirectory()).path
  const engine = await openEngine(engineName, dataDir, scope)
  const nats = await startNats({ jetstream: true })
  scope.defer(() => nats.stop())
  const env = { BUS_SERVER: nats.url, LOG_LEVEL: 'warn', ...engine.env }
  show(`creating ${due * ORDERS_PER_DUE} orders`)
  await runPlatform(['db', 'migrate'], { dataDir, env })
  await seed(engine, dataDir, due)

  // The test reads the line `listening` in its log.
  const platform = scope.use(await servePlatform({ dataDir, env: { ...env, LOG_LEVEL: 'info' } }))
  const start = performance.now()
  const callers = startCallers(platform, due)
  scope.defer(async () => void (await callers.stop().catch(() => undefined)))
  const left = () =>
    engine.count(`select count(*) from orders where status = 'pending' and expires_at < ${SEEDED_AT}`)
  const pending = () => engine.count(`select count(*) from messages where status = 'pending'`)
  const elapsed = () => (performance.now() - start) / 1_000
  await untilNone(left, (count) => show(`${count} orders are due`), signal)
  const expiredAfter = elapsed()
  const during = await callers.stop()
  await untilNone(pending, (count) => show(`${count} messages are pending`), signal)
  const deliveredAfter = elapsed()

  await requireExpiredOnce(engine, due)
  assert.equal(await platform.stop(), 0)
  return {
    due,
    'expired after s': Math.round(expiredAfter * 10) / 10,
    'delivered after s': Math.round(deliveredAfter * 10) / 10,
    'events each': 1,
    'alerts each': 1,
    'API calls meanwhile': during.length,
    'p50 ms': Math.round(percentile(during, 50)),
    'p99 ms': Math.round(percentile(during, 99)),
  }
}

const SEEDED_AT = Date.UTC(2026, 0, 1)

/** Inserts the due orders first; the others are completed, or due tomorrow. */
async function seed(engine: Engine, dataDir: string, due: number): Promise<void> {
  const [numbers, id] =
    engine.name === 'sqlite'
      ? [
          `with recursive numbers(n) as (select 0 union all select n + 1 from numbers where n + 1 < ${due * ORDERS_PER_DUE})`,
          `printf('seed-%08d', n)`,
        ]
      : [
          `with numbers(n) as (select generate_series(0, ${due * ORDERS_PER_DUE - 1}))`,
          `'seed-' || lpad(n::text, 8, '0')`,
        ]
  const tomorrow = Date.now() + 86_400_000
  const status = `case when n < ${due} or n % 2 = 0 then 'pending' else 'completed' end`
  const expiry = `case when n < ${due} then ${SEEDED_AT - due} + n else ${tomorrow} end`
  const statement = `insert into orders
    (order_id, platform, amount_cents, status, expires_at, created_at, created_by, updated_at, version)
    ${numbers} select ${id}, 'live', 4990, ${status}, ${expiry}, ${SEEDED_AT}, 'seed', ${SEEDED_AT}, 1 from numbers`
  if (engine.name === 'postgres') return void (await engine.rows(statement))
  using database = new DatabaseSync(join(dataDir, 'platform.db'))
  database.exec(statement)
}

/** Reads and writes while the worker is busy; `stop` returns the durations of the calls. */
function startCallers(platform: ServedPlatform, due: number) {
  const took: number[] = []
  let stopping = false
  const timed = async (call: () => Promise<Response>, expected: number) => {
    const start = performance.now()
    const answer = await call()
    assert.equal(answer.status, expected, await answer.text())
    took.push(performance.now() - start)
  }
  const run = async () => {
    for (let number = 0; !stopping; number++) {
      const body = { order_id: `new-${number}`, platform: 'live', amount_cents: 1 }
      await timed(() => platform.call('POST', '/orders', { body }), 201)
      const known = `seed-${String(due + (number % due)).padStart(8, '0')}`
      await timed(() => platform.call('GET', `/orders/${known}`), 200)
      await pause(CALL_EVERY_MS)
    }
  }
  const running = run()
  // `stop` returns the rejection.
  running.catch(() => undefined)
  return {
    async stop(): Promise<readonly number[]> {
      stopping = true
      await running
      return took
    },
  }
}

async function untilNone(
  count: () => Promise<number>,
  show: (count: number) => void,
  signal: AbortSignal,
): Promise<void> {
  const deadline = performance.now() + TIMEOUT_S * 1_000
  for (;;) {
    signal.throwIfAborted()
    const left = await count()
    if (left === 0) return
    assert.ok(performance.now() < deadline, `${left} are left after ${TIMEOUT_S} s`)
    show(left)
    await pause(POLL_MS)
  }
}

async function requireExpiredOnce({ count }: Engine, due: number): Promise<void> {
  const figures = {
    expired: await count(`select count(*) from orders where status = 'expired'`),
    changes: await count(`select count(*) from order_history where to_status = 'expired'`),
    events: await count(
      `select count(*) from messages where subject = 'order.timeout' and status = 'delivered'`,
    ),
    alerts: await count(`select count(*) from alerts where source = 'platform.orders' and count = 1`),
    raised: await count(
      `select count(*) from messages where subject = 'alert.raised' and status = 'delivered'`,
    ),
  }
  assert.deepEqual(figures, { expired: due, changes: due, events: due, alerts: due, raised: due })
}
