import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { fakeClock } from '../../test/support/clock.ts'
import { testStore } from '../../test/support/store.ts'
import { systemClock, type Clock } from '../kernel/clock.ts'
import { silentLogger } from '../kernel/logger.ts'
import { noMetrics } from '../kernel/metrics.ts'
import { WriteQueue, type GroupConnection } from './write-queue.ts'
import { openSqlite } from './dialects/sqlite.ts'
import type { Tx } from './store.ts'
import { STORE_LIMITS } from './unavailable.ts'
import { changeRows } from './tables.ts'

const SURROUNDINGS = {
  readOnly: false,
  clock: systemClock,
  metrics: noMetrics,
  logger: silentLogger,
  limits: STORE_LIMITS.sqlite,
}

const put = changeRows((db, name: string) =>
  db.insertInto('leases').values({ name, holder: 'me', expires_at: 1 }),
)

/** Records the calls of the queue to its connection; `refuse` makes a step fail. */
function recorder(
  refuse: { begin?: number; commit?: boolean; rollback?: boolean; rolledBack?: boolean } = {},
  clock: Clock = systemClock,
) {
  const steps: string[] = []
  let busy = refuse.begin ?? 0
  const connection: GroupConnection = {
    begin() {
      if (busy-- > 0) return false
      steps.push('begin')
      return true
    },
    changes: 0,
    get isOpen() {
      return !refuse.rolledBack
    },
    savepoint: () => void steps.push('savepoint'),
    release: () => void steps.push('release'),
    undo() {
      steps.push('undo')
      return !refuse.rolledBack
    },
    commit() {
      if (refuse.commit) throw new Error('the disk is gone')
      steps.push('commit')
    },
    rollback() {
      if (refuse.rollback) throw new Error('the connection is broken')
      steps.push('rollback')
    },
    transaction: () => ({ tx: {} as Tx, end: () => undefined }),
  }
  const unavailable = (cause: unknown) => new Error('unavailable', { cause })
  const surroundings = { clock, metrics: noMetrics, logger: silentLogger, unavailable, transactionMs: 5_000 }
  return { steps, queue: new WriteQueue({ connection, ...surroundings }) }
}

test('writes that arrive in one turn of the event loop share one commit', async () => {
  const { steps, queue } = recorder()
  await Promise.all([queue.write(async () => 1), queue.write(async () => 2)])
  assert.deepEqual(steps, ['begin', 'commit'])
  await queue.write(async () => 3)
  assert.deepEqual(steps.slice(2), ['begin', 'commit'])
})

/** Writes of one group: what each answered, or why it failed. */
async function outcomesOf(writes: Promise<unknown>[]): Promise<unknown[]> {
  return (await Promise.allSettled(writes)).map((each) =>
    each.status === 'fulfilled' ? each.value : (each.reason as Error).message,
  )
}

test('a write that fails before any change does not repeat its group', async () => {
  await using world = await testStore('sqlite')
  const runs = { first: 0, refused: 0 }
  const outcomes = await outcomesOf([
    world.store.write((tx) => (runs.first++, put(tx, 'a'))),
    world.store.write(async () => {
      runs.refused++
      throw new Error('refused')
    }),
  ])
  assert.deepEqual([outcomes, runs], [[1, 'refused'], { first: 1, refused: 1 }])
})

test('a write that fails after a change is undone, and the others of its group are kept', async () => {
  await using world = await testStore('sqlite')
  const committed: string[] = []
  const outcomes = await outcomesOf([
    world.store.write((tx) => {
      tx.afterCommit(() => committed.push('a'))
      return put(tx, 'a')
    }),
    world.store.write(async (tx) => {
      tx.afterCommit(() => committed.push('b'))
      await put(tx, 'b')
      throw new Error('after a change')
    }),
    world.store.write((tx) => put(tx, 'c')),
  ])
  assert.deepEqual(outcomes, [1, 'after a change', 1])
  assert.deepEqual(committed, ['a'])
  const rows = await world.store.read.db.selectFrom('leases').select('name').orderBy('name').execute()
  assert.deepEqual(
    rows.map(({ name }) => name),
    ['a', 'c'],
  )
})

test('a write that is alone and fails after a change is undone, and not repeated', async () => {
  await using world = await testStore('sqlite')
  let runs = 0
  const write = world.store.write(async (tx) => {
    runs++
    await put(tx, 'a')
    throw new Error('after a change')
  })
  assert.deepEqual([await outcomesOf([write]), runs], [['after a change'], 1])
  assert.deepEqual(await world.store.read.db.selectFrom('leases').select('name').execute(), [])
})

test('each write waits for a lock as long as the limit, whenever it was enqueued', async () => {
  const clock = fakeClock()
  const { queue } = recorder({ begin: Number.POSITIVE_INFINITY }, clock)
  const failed: string[] = []
  const write = (name: string) => queue.write(async () => {}).catch(() => failed.push(name))
  const first = write('first')
  await new Promise((resolve) => setTimeout(resolve, 20))
  clock.advance(3_000)
  const second = write('second')
  clock.advance(2_000)
  await first
  assert.deepEqual(failed, ['first'])
  clock.advance(3_000)
  await second
  assert.deepEqual(failed, ['first', 'second'])
})

/** Writes once in each of that many turns of the event loop; resolves when all are done. */
function burst(queue: WriteQueue, turns: number): Promise<unknown> {
  if (turns === 0) return Promise.resolve()
  const rest = new Promise((resolve) => setImmediate(() => resolve(burst(queue, turns - 1))))
  return Promise.all([queue.write(async () => turns), rest])
}

test('writes that follow each other turn by turn share one commit', async () => {
  const { steps, queue } = recorder()
  await burst(queue, 3)
  assert.deepEqual(steps, ['begin', 'commit'])
})

test('a write does not wait for the end of an endless burst', async () => {
  const { steps, queue } = recorder()
  let ended = false
  const all = burst(queue, 50).then(() => (ended = true))
  await queue.write(async () => 'first')
  assert.ok(!ended)
  await all
  assert.ok(steps.filter((step) => step === 'commit').length > 1)
})

test('a write resolves after the commit, not before', async () => {
  const { steps, queue } = recorder()
  const first = queue.write(async () => {}).then(() => steps.push('resolved'))
  await Promise.all([first, queue.write(async () => {})])
  assert.deepEqual(steps.slice(-2), ['commit', 'resolved'])
})

test('a write waits for a lock held elsewhere without stopping the event loop', async () => {
  const { queue } = recorder({ begin: 5 })
  assert.equal(await queue.write(async () => 'through'), 'through')
})

test('a commit that fails rejects every write of its group', async () => {
  const { steps, queue } = recorder({ commit: true })
  const outcomes = await Promise.allSettled([queue.write(async () => 1), queue.write(async () => 2)])
  assert.deepEqual(
    outcomes.map((outcome) => outcome.status === 'rejected' && String(outcome.reason)),
    ['Error: unavailable', 'Error: unavailable'],
  )
  assert.equal(steps.at(-1), 'rollback')
})

test('a rollback that fails rejects every write of its group, and the queue goes on', async () => {
  const { queue } = recorder({ commit: true, rollback: true })
  const writes = () => outcomesOf([queue.write(async () => 1), queue.write(async () => 2)])
  assert.deepEqual(await writes(), ['unavailable', 'unavailable'])
  assert.deepEqual(await writes(), ['unavailable', 'unavailable'])
  await queue.idle()
})

test('when the engine has rolled back by itself, every write of the group is rejected', async () => {
  const { queue } = recorder({ rolledBack: true })
  const outcomes = await Promise.allSettled([
    queue.write(async () => 'first'),
    queue.write(async () => {
      throw new Error('disk full')
    }),
  ])
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
})

test('a write waits for a lock of another process and then succeeds', async () => {
  await using world = await testStore('sqlite')
  assert.ok(world.address.kind === 'sqlite')
  const other = new DatabaseSync(world.address.path)
  other.exec('begin immediate')
  const write = world.store.write((tx) => put(tx, 'a'))
  let turns = 0
  while (turns < 20) {
    await new Promise((resolve) => setImmediate(resolve))
    turns++
  }
  other.exec('commit')
  other.close()
  await write
})

test('the database is written with full durability, and only its owner can read it', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'platform-'))
  const path = join(directory, 'deep', 'platform.db')
  const store = await openSqlite({ path, ...SURROUNDINGS })
  try {
    const pragma = async (name: string) => {
      const { rows } = await store.read.db.executeQuery<Record<string, unknown>>({
        ...store.read.db.selectNoFrom([]).compile(),
        sql: `pragma ${name}`,
      })
      return Object.values(rows[0] ?? {})[0]
    }
    assert.equal(await pragma('journal_mode'), 'wal')
    assert.equal(await pragma('synchronous'), 2)
    assert.equal(statSync(path).mode & 0o777, 0o600)
    assert.equal(statSync(`${path}-wal`).mode & 0o777, 0o600)
  } finally {
    await store.close()
    rmSync(directory, { recursive: true })
  }
})

test('a path that cannot be a database is rejected with its name', async () => {
  await assert.rejects(openSqlite({ path: '/dev/null/platform.db', ...SURROUNDINGS }), {
    code: 'store_unavailable',
    message: /\/dev\/null\/platform\.db cannot be opened/,
  })
})
