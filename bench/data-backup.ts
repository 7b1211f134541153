import { execFile } from 'node:child_process'
import { existsSync, rmSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { freePort } from '../test/support/loopback.ts'
import { callPlatform } from '../test/support/platform.ts'
import type { Bench } from './support/bench.ts'
import { sqliteIn } from './support/database.ts'
import { p99Of, rateOf } from './support/load-contestants.ts'
import { startLoadGenerator, type LoadGenerator } from './support/load-generator.ts'
import { figures, ratio, type Measure } from './support/measure.ts'
import { orderDuring, secondsSince, type OrdersDuring } from './support/orders-during.ts'
import { startPlatform } from './support/platform-server.ts'
import { interleave, type Contestant, type Round } from './support/rounds.ts'
import { seedOrders } from './support/seed.ts'
import { diskDirectory } from './support/servers.ts'

/** Orders with their events: 5 GB in the full size. */
const ORDERS = { full: 4_000_000, small: 500 }

/** A snapshot of a large database while orders are written, against a plain copy of the file. */
export const dataBackup: Bench = {
  name: 'data-backup',
  title: 'P14: a data backup while orders are written',
  summary: 'POST /orders during a backup of 5 GB and without one; the snapshot against cp of the file',

  async run(options) {
    await using stack = new AsyncDisposableStack()
    const { path: dataDir } = stack.use(diskDirectory())
    await seedOrders(dataDir, { orders: options.small ? ORDERS.small : ORDERS.full, events: true }, options)
    const port = await freePort()
    stack.use(await startPlatform({ dataDir, port, modules: 'api,worker' }))
    const world = { dataDir, port, generator: stack.use(startLoadGenerator()) }
    const rounds = await interleave(contestantsOf(world), options)
    return measuresOf(rounds, statSync(sqliteIn(dataDir).path).size)
  },
}

interface World {
  readonly dataDir: string
  readonly port: number
  readonly generator: LoadGenerator
}

function contestantsOf(world: World): Contestant<OrdersDuring>[] {
  return [
    { name: 'alone', run: (forMs) => orderDuring(world, forMs, () => Promise.resolve(0)) },
    { name: 'backup', run: (forMs) => orderDuring(world, forMs, () => backUp(world)) },
    { name: 'cp', run: (forMs) => orderDuring(world, forMs, () => copy(world)) },
  ]
}

const LOOK_EVERY_MS = 20

interface Backup {
  readonly id: string
  readonly status: string
  readonly error: string | null
}

async function backUp({ dataDir, port }: World): Promise<number> {
  const call = async (method: string, path: string): Promise<Backup> =>
    (await (await callPlatform(`http://127.0.0.1:${port}`, method, path)).json()) as Backup
  const begin = performance.now()
  const { id } = await call('POST', '/data/backups')
  const [unverified, verified] = [`${id}.db.unplaced`, `${id}.db`].map((name) =>
    join(dataDir, 'backups', name),
  )
  const isWritten = () => [unverified, verified].some((path = '') => existsSync(path))
  let backup = await call('GET', `/data/backups/${id}`)
  while (!isWritten() && backup.status === 'running') {
    await pause(LOOK_EVERY_MS)
    backup = await call('GET', `/data/backups/${id}`)
  }
  const seconds = secondsSince(begin)
  while (backup.status === 'running') {
    await pause(LOOK_EVERY_MS)
    backup = await call('GET', `/data/backups/${id}`)
  }
  if (backup.status !== 'completed') throw new Error(`the backup has failed: ${backup.error}`)
  await callPlatform(`http://127.0.0.1:${port}`, 'DELETE', `/data/backups/${id}`)
  return seconds
}

const run = promisify(execFile)

/** A copy of the file alone; it is no backup, and shows what the disk takes. */
async function copy({ dataDir }: World): Promise<number> {
  const target = join(dataDir, 'copy')
  const begin = performance.now()
  await run('cp', [sqliteIn(dataDir).path, target])
  const file = await open(target, 'r')
  await file.sync()
  await file.close()
  const seconds = secondsSince(begin)
  rmSync(target)
  return seconds
}

// docs/performance.md, P14: a data backup while orders are written
const RATE = { must: { atLeast: 0.8 } }
const P99 = { must: { atMost: 2 } }
const SNAPSHOT = { must: { atMost: 1.3 } }

function measuresOf(rounds: readonly Round<OrdersDuring>[], bytes: number): Measure[] {
  const seconds = (sample: OrdersDuring) => sample.seconds
  const total = (sample: OrdersDuring) => sample.totalSeconds
  const size = `${(bytes / 1e9).toPrecision(2)} GB`
  return [
    {
      what: 'rate of orders during a backup ÷ without one',
      values: ratio(rounds, 'backup', 'alone', rateOf),
      ...RATE,
    },
    {
      what: 'p99 of orders during a backup ÷ without one',
      values: ratio(rounds, 'backup', 'alone', p99Of),
      ...P99,
    },
    {
      what: `snapshot of ${size} ÷ cp of the file`,
      values: ratio(rounds, 'backup', 'cp', seconds),
      ...SNAPSHOT,
    },
    { what: 'rate of orders during cp ÷ without it', values: ratio(rounds, 'cp', 'alone', rateOf) },
    { what: 'snapshot', unit: 's', values: figures(rounds, 'backup', seconds) },
    { what: 'cp', unit: 's', values: figures(rounds, 'cp', seconds) },
    { what: 'snapshot and verification', unit: 's', values: figures(rounds, 'backup', total) },
    { what: 'orders alone', unit: 'requests/s', values: figures(rounds, 'alone', rateOf) },
    { what: 'orders during a backup', unit: 'requests/s', values: figures(rounds, 'backup', rateOf) },
    { what: 'orders alone, p99', unit: 'ms', values: figures(rounds, 'alone', p99Of) },
    { what: 'orders during a backup, p99', unit: 'ms', values: figures(rounds, 'backup', p99Of) },
  ]
}
