import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from '../test/support/loopback.ts'
import { startRobots, type RobotDoubles } from '../test/support/robots.ts'
import type { Bench } from './support/bench.ts'
import { openDatabase } from './support/database.ts'
import { requireSuccess } from './support/load-contestants.ts'
import { startLoadGenerator, type LoadGenerator } from './support/load-generator.ts'
import { SEQUENCE, type LoadTarget } from './support/load.ts'
import { figures, ratio, type Measure } from './support/measure.ts'
import { CONNECTIONS, LOCAL_TOOL, postOrders } from './support/order-load.ts'
import { startPlatform } from './support/platform-server.ts'
import { interleave, type Round, type RoundOptions } from './support/rounds.ts'
import { diskDirectory } from './support/servers.ts'

const ALERTS = 1_000

interface Sample {
  readonly rate: number
  readonly p99: number
  /** From the last report to the decision on the last notification. */
  readonly decidedAfterSeconds: number
  /** Messages that the robot refused because of its limit. */
  readonly refused: number
}

/** A storm of reports with a robot attached, against orders at the same platform. */
export const alerts: Bench = {
  name: 'alerts',
  title: 'P13: a storm of alerts',
  summary:
    'reports of 1,000 alerts with a robot attached, against POST /orders; the robot; the last decision',

  async run(options) {
    return measuresOf(await stormRounds(options))
  },
}

interface World {
  readonly port: number
  readonly database: DatabaseSync
  readonly generator: LoadGenerator
  readonly robots: RobotDoubles
}

async function stormRounds(options: RoundOptions): Promise<Round<Sample>[]> {
  await using stack = new AsyncDisposableStack()
  const port = await freePort()
  const robots = stack.use(await startRobots())
  const { path: dataDir } = stack.use(diskDirectory())
  const env = { ALERT_ROBOT_KIND: 'generic', ALERT_ROBOT_URL: robots.url('generic') }
  stack.use(await startPlatform({ dataDir, port, modules: 'all', env }))
  const database = stack.use(openDatabase(dataDir))
  const world = { port, robots, database, generator: stack.use(startLoadGenerator()) }
  let storms = 0
  const contestants = [
    { name: 'orders', run: (forMs: number) => load(world, postOrders(port), forMs) },
    { name: 'reports', run: (forMs: number) => load(world, postReports(port, `storm-${++storms}`), forMs) },
  ]
  return await interleave(contestants, options)
}

/** Repeated reports of the same alerts; each storm has its own alerts. */
function postReports(port: number, storm: string): LoadTarget {
  const alarm = `${storm}-${SEQUENCE}`
  const body = JSON.stringify({ source: storm, title: 'Disk full', level: 'ERROR', alarm_id: alarm })
  const target = { port, connections: CONNECTIONS, method: 'POST', path: '/alerts/report' }
  return { ...target, headers: LOCAL_TOOL, body, numbers: ALERTS }
}

async function load(world: World, target: LoadTarget, forMs: number): Promise<Sample> {
  const { generator, database, robots } = world
  const requests = robots.requests.length - robots.posted.length
  const { rate, p99 } = requireSuccess('the platform', await generator.apply(target, forMs))
  const end = performance.now()
  await untilDecided(database)
  const decidedAfterSeconds = (performance.now() - end) / 1_000
  return { rate, p99, decidedAfterSeconds, refused: robots.requests.length - robots.posted.length - requests }
}

const LOOK_EVERY_MS = 20

async function untilDecided(database: DatabaseSync): Promise<void> {
  const pending = database.prepare(`select 1 from alert_notifications where outcome = 'pending' limit 1`)
  while (pending.get()) await pause(LOOK_EVERY_MS)
}

// docs/performance.md, P13: a storm of alerts
const RATE = { must: { atLeast: 0.5 } }
const DECIDED = { must: { atMost: 5 } }
const REFUSED = { must: { atMost: 0 } }

function measuresOf(rounds: readonly Round<Sample>[]): Measure[] {
  const rate = (sample: Sample) => sample.rate
  const p99 = (sample: Sample) => sample.p99
  const decided = (sample: Sample) => sample.decidedAfterSeconds
  const refused = (sample: Sample) => sample.refused
  return [
    { what: 'rate of reports ÷ rate of orders', values: ratio(rounds, 'reports', 'orders', rate), ...RATE },
    {
      what: 'last report to last decision',
      unit: 's',
      values: figures(rounds, 'reports', decided),
      ...DECIDED,
    },
    {
      what: 'messages above the limit of the robot',
      unit: 'messages',
      values: figures(rounds, 'reports', refused),
      ...REFUSED,
    },
    { what: 'reports', unit: 'requests/s', values: figures(rounds, 'reports', rate) },
    { what: 'orders', unit: 'requests/s', values: figures(rounds, 'orders', rate) },
    { what: 'reports, p99', unit: 'ms', values: figures(rounds, 'reports', p99) },
    { what: 'orders, p99', unit: 'ms', values: figures(rounds, 'orders', p99) },
  ]
}
