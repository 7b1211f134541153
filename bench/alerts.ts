import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
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
const RECEIVERS = 4

interface Sample {
  readonly rate: number
  readonly p99: number
  /** From the last report to the decision on the last notification. */
  readonly decidedAfterSeconds: number
  /** Messages that the robots refused because of their limits. */
  readonly refused: number
}

/** A storm of reports with a robot attached, against orders at the same platform and reports with four receivers. */
export const alerts: Bench = {
  name: 'alerts',
  title: 'P13: a storm of alerts',
  summary:
    'reports of 1,000 alerts with a robot attached, against POST /orders, and with four; the robots; the last decision',

  async run(options) {
    return measuresOf(await stormRounds(options))
  },
}

interface World {
  readonly port: number
  readonly database: DatabaseSync
  readonly generator: LoadGenerator
  readonly robots: readonly RobotDoubles[]
}

async function stormRounds(options: RoundOptions): Promise<Round<Sample>[]> {
  await using stack = new AsyncDisposableStack()
  const generator = stack.use(startLoadGenerator())
  const one = await startWorld(stack, generator, 1)
  const four = await startWorld(stack, generator, RECEIVERS)
  let storms = 0
  const storm = (world: World) => (forMs: number) =>
    load(world, postReports(world.port, `storm-${++storms}`), forMs)
  const contestants = [
    { name: 'orders', run: (forMs: number) => load(one, postOrders(one.port), forMs) },
    { name: 'reports', run: storm(one) },
    { name: 'four', run: storm(four) },
  ]
  return await interleave(contestants, options)
}

/** A platform that tells of each alert to that many robots. */
async function startWorld(
  stack: AsyncDisposableStack,
  generator: LoadGenerator,
  receivers: number,
): Promise<World> {
  const port = await freePort()
  const { path: dataDir } = stack.use(diskDirectory())
  const robots: RobotDoubles[] = []
  for (let each = 0; each < receivers; each++) robots.push(stack.use(await startRobots()))
  const env = receivers === 1 ? robotSettings(robots) : receiverSettings(dataDir, robots)
  stack.use(await startPlatform({ dataDir, port, modules: 'all', env }))
  return { port, robots, generator, database: stack.use(openDatabase(dataDir)) }
}

function robotSettings(robots: readonly RobotDoubles[]) {
  return { ALERT_ROBOT_KIND: 'generic', ALERT_ROBOT_URL: robots[0]?.url('generic') ?? '' }
}

function receiverSettings(dataDir: string, robots: readonly RobotDoubles[]) {
  const tables = robots.map((robot, each) =>
    [`[receivers.robot-${each}]`, 'kind = "generic"', `url = "${robot.url('generic')}"`].join('\n'),
  )
  const names = robots.map((_, each) => `"robot-${each}"`).join(', ')
  const path = join(dataDir, 'receivers.toml')
  writeFileSync(path, [...tables, '[alerts]', `default_receivers = [${names}]`, ''].join('\n'))
  return { PLATFORM_CONFIG: path }
}

const refusedBy = ({ robots }: World) =>
  robots.reduce((sum, { requests, posted }) => sum + requests.length - posted.length, 0)

/** Repeated reports of the same alerts; each storm has its own alerts. */
function postReports(port: number, storm: string): LoadTarget {
  const alarm = `${storm}-${SEQUENCE}`
  const body = JSON.stringify({ source: storm, title: 'Disk full', level: 'ERROR', alarm_id: alarm })
  const target = { port, connections: CONNECTIONS, method: 'POST', path: '/alerts/report' }
  return { ...target, headers: LOCAL_TOOL, body, numbers: ALERTS }
}

async function load(world: World, target: LoadTarget, forMs: number): Promise<Sample> {
  const { generator, database } = world
  const refused = refusedBy(world)
  const { rate, p99 } = requireSuccess('the platform', await generator.apply(target, forMs))
  const end = performance.now()
  await untilDecided(database)
  const decidedAfterSeconds = (performance.now() - end) / 1_000
  return { rate, p99, decidedAfterSeconds, refused: refusedBy(world) - refused }
}

const LOOK_EVERY_MS = 20

async function untilDecided(database: DatabaseSync): Promise<void> {
  const pending = database.prepare(`select 1 from alert_notifications where outcome = 'pending' limit 1`)
  while (pending.get()) await pause(LOOK_EVERY_MS)
}

// docs/performance.md, P13: a storm of alerts
const RATE = { must: { atLeast: 0.5 } }
const RATE_OF_FOUR = { must: { atLeast: 0.8 } }
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
      what: 'rate of reports with four receivers ÷ with one',
      values: ratio(rounds, 'four', 'reports', rate),
      ...RATE_OF_FOUR,
    },
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
    {
      what: 'messages above the limits of four robots',
      unit: 'messages',
      values: figures(rounds, 'four', refused),
      ...REFUSED,
    },
    { what: 'reports', unit: 'requests/s', values: figures(rounds, 'reports', rate) },
    { what: 'reports, four receivers', unit: 'requests/s', values: figures(rounds, 'four', rate) },
    { what: 'orders', unit: 'requests/s', values: figures(rounds, 'orders', rate) },
    { what: 'reports, p99', unit: 'ms', values: figures(rounds, 'reports', p99) },
    { what: 'orders, p99', unit: 'ms', values: figures(rounds, 'orders', p99) },
  ]
}
