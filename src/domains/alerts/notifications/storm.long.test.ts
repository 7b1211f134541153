import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CompiledQuery } from 'kysely'
import { receiverWorld } from '../../../../test/support/receiver-world.ts'
import { ROBOT_FAULTS, startRobots } from '../../../../test/support/robots.ts'
import { RobotWebhook } from '../../../infra/robots/robot-webhook.ts'
import { HOUR, MINUTE, SECOND } from '../../../kernel/time.ts'
import { Secret } from '../../../kernel/secret.ts'

const KINDS = ['feishu', 'dingtalk', 'wecom', 'slack'] as const
type Kind = (typeof KINDS)[number]
const DOWN: Kind = 'dingtalk'
const UP = KINDS.filter((kind) => kind !== DOWN)

const SOURCES = 50
const ALERTS = 5_000
const ALERTS_EACH_SECOND = 100
const CRITICAL_EACH = 100
// What one source raises within a second is one message, and the test looks every three seconds.
const STEP_MS = 3 * SECOND

/** The time from its report to its arrival for each alert, by receiver. */
type Delays = ReadonlyMap<Kind, ReadonlyMap<number, number>>

/** Four robots with their documented limits; one may be away for an hour. */
async function openStorm(isAway: () => boolean) {
  const scope = new AsyncDisposableStack()
  let now = Date.now
  const arrivals: number[] = []
  const robots = scope.use(
    await startRobots({ now: () => now(), signed: true, onPosted: () => void arrivals.push(now()) }),
  )
  let refusedWhileAway = 0
  robots.behaveOn(({ kind }) => {
    if (kind !== DOWN || !isAway()) return undefined
    refusedWhileAway++
    return ROBOT_FAULTS['answers 500']
  })
  const world = scope.use(
    await receiverWorld('sqlite', {
      names: KINDS,
      defaultReceivers: KINDS,
      channelOf: (name, clock) =>
        new RobotWebhook({
          kind: name as Kind,
          url: new Secret(robots.url(name as Kind)),
          secret: new Secret(robots.secrets[name as Kind]),
          clock,
        }),
    }),
  )
  now = world.clock.now
  return {
    ...world,
    robots,
    arrivals,
    refusedWhileAway: () => refusedWhileAway,
    [Symbol.asyncDispose]: () => scope.disposeAsync(),
  }
}

type Storm = Awaited<ReturnType<typeof openStorm>>

const weightOf = (number: number) => (number % CRITICAL_EACH === 0 ? 'CRITICAL' : 'ERROR')

/** Reports the alerts, and lets time pass until the receivers that answer have got all of them. */
async function report(storm: Storm): Promise<readonly number[]> {
  const reportedAt: number[] = []
  for (let number = 0; number < ALERTS; number++) {
    reportedAt.push(storm.clock.now())
    const source = `source-${number % SOURCES}`
    const alarmId = `alarm-${number}`
    await storm.report({ source, alarmId, title: `Alert #${number}.`, level: weightOf(number) })
    if ((number + 1) % ALERTS_EACH_SECOND === 0) await storm.pass(SECOND, SECOND)
  }
  return reportedAt
}

function delaysOf({ robots, arrivals }: Storm, reportedAt: readonly number[]): Delays {
  const delays = new Map(KINDS.map((kind) => [kind, new Map<number, number>()]))
  for (const [index, { kind }] of robots.posted.entries())
    for (const [, digits] of (robots.shown[index] ?? '').matchAll(/#(\d+)\./g)) {
      const [number, of] = [Number(digits), delays.get(kind as Kind)]
      assert.ok(of && !of.has(number), `${kind} was told twice of alert ${number}`)
      of.set(number, (arrivals[index] ?? NaN) - (reportedAt[number] ?? NaN))
    }
  return delays
}

async function passUntilTold(storm: Storm, kinds: readonly Kind[], reportedAt: readonly number[]) {
  const isNotified = () => {
    const delays = delaysOf(storm, reportedAt)
    return kinds.every((kind) => delays.get(kind)?.size === ALERTS)
  }
  for (let steps = 0; !isNotified(); steps++) {
    assert.ok(steps < 4 * 60, `not within 4 hours: ${kinds.join(', ')}`)
    await storm.pass(MINUTE, SECOND)
  }
}

async function runStorm(awayMs: number): Promise<Delays> {
  let isAway = awayMs > 0
  await using storm = await openStorm(() => isAway)
  const start = storm.clock.now()
  const reportedAt = await report(storm)
  await passUntilTold(storm, awayMs > 0 ? UP : KINDS, reportedAt)
  await storm.pass(Math.max(0, start + awayMs - storm.clock.now()), MINUTE)
  isAway = false
  await passUntilTold(storm, KINDS, reportedAt)
  const { robots } = storm
  assert.equal(robots.requests.length, robots.posted.length + storm.refusedWhileAway(), 'no limit is broken')
  assert.equal(storm.refusedWhileAway() > 0, awayMs > 0)
  const lost = `select channel from alert_notifications where outcome in ('pending', 'failed')`
  assert.deepEqual((await storm.store.read.db.executeQuery(CompiledQuery.raw(lost))).rows, [])
  return delaysOf(storm, reportedAt)
}

const longest = (delays: ReadonlyMap<number, number> = new Map(), isCounted: (number: number) => boolean) =>
  Math.max(...[...delays].flatMap(([number, delay]) => (isCounted(number) ? [delay] : [])))

test('a storm of 5,000 alerts with a receiver that is away for an hour: nobody else is later, nothing is lost', async () => {
  const without = await runStorm(0)
  const outage = await runStorm(HOUR)
  for (const kind of UP) {
    const isCritical = (number: number) => weightOf(number) === 'CRITICAL'
    assert.ok(longest(outage.get(kind), isCritical) <= MINUTE, `CRITICAL reaches ${kind} within a minute`)
    // The alert about the receiver that fails is one message more.
    const [before, after] = [longest(without.get(kind), () => true), longest(outage.get(kind), () => true)]
    assert.ok(
      after <= before + 2 * STEP_MS,
      `${kind} got the last alert after ${after} ms, else ${before} ms`,
    )
  }
})
