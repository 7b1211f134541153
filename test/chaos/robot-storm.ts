import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import type { ServedPlatform } from '../support/platform.ts'
import { ROBOT_FAULTS, startRobots, type RobotDoubles } from '../support/robots.ts'
import type { EngineName } from './support/engine.ts'
import type { Figures, Scenario, Trial } from './support/scenario.ts'
import { isUnderLoad, LOAD, openStorm } from './support/storm.ts'

const CLIENTS = 4
const SOURCES = 10
const MAX_LOAD_MS = 400
// A notification is gathered for a second before it is sent.
const MAX_MESSAGE_MS = 2_000
/** How often a kill waits for a message to arrive, and how often the robot fails instead. */
const KILLS_AT_MESSAGE = 0.25
const FAULTS = 0.15

export const robotStorm: Scenario = {
  name: 'robot-storm',
  row: 'R-30',
  promise: 'kill -9 loses no notification of an acknowledged alert, and repeats at most one message',
  unit: 'kills',
  rounds: { short: 5, brief: 40, full: 100 },
  parts: [
    { title: 'on SQLite', share: 0.8, run: (trial) => storm(trial, 'sqlite') },
    { title: 'on PostgreSQL', share: 0.2, run: (trial) => storm(trial, 'postgres') },
  ],
}

async function storm(trial: Trial, engineName: EngineName): Promise<Figures> {
  const { chance, scope } = trial
  let onMessage: (() => Promise<void>) | undefined
  const robots = scope.use(await startRobots({ onPosted: () => onMessage?.() }))
  const world = await openStorm(trial, engineName, {
    ALERT_ROBOT_KIND: 'generic',
    ALERT_ROBOT_URL: robots.url('generic'),
  })
  const acknowledged: number[] = []
  const kills = await world.repeatKills(
    () => `${acknowledged.length} alerts`,
    async (round) => {
      const platform = await world.serve()
      robots.behave(chance.number() < FAULTS ? chance.pick(Object.values(REPAIRABLE)) : undefined)
      // Some kills come after a message has arrived and before the platform knows it.
      const isAtMessage = chance.number() < KILLS_AT_MESSAGE
      if (isAtMessage) onMessage = () => platform.kill()
      const load = startReports(platform, acknowledged)
      if (isUnderLoad(round, chance)) await Promise.race([load.begun, platform.ended])
      const limitMs = isAtMessage ? MAX_MESSAGE_MS : chance.between(0, MAX_LOAD_MS)
      await Promise.race([pause(limitMs), platform.ended])
      await platform.kill()
      await load.stop()
      onMessage = undefined
    },
  )
  robots.behave(undefined)
  await world.drain(`select count(*) from alert_notifications where outcome = 'pending'`)
  assert.ok(acknowledged.length > 0, 'the load was too small for a meaningful test')
  return { kills, ...requireNotifications(robots, acknowledged, kills) }
}

/** Faults after which the same message may be sent again. */
const REPAIRABLE = {
  away: ROBOT_FAULTS['resets the connection'],
  hanging: ROBOT_FAULTS['accepts and says nothing'],
  refusing: ROBOT_FAULTS['answers 500'],
}

let lastNumber = 0

/** Clients that report new alerts; the numbers of those that were answered are added to `acknowledged`. */
function startReports(platform: ServedPlatform, acknowledged: number[]) {
  const before = acknowledged.length
  let stopping = false
  const begun = Promise.withResolvers<void>()
  const client = async () => {
    while (!stopping) {
      const number = ++lastNumber
      if (!(await report(platform, number))) continue
      acknowledged.push(number)
      if (acknowledged.length - before >= LOAD) begun.resolve()
    }
  }
  const running = Promise.all(Array.from({ length: CLIENTS }, client))
  return {
    begun: begun.promise,
    async stop(): Promise<void> {
      stopping = true
      await running
    },
  }
}

/** Whether the report was acknowledged; a killed platform gives no answer, and a stalled one gives up the request. */
async function report(platform: ServedPlatform, number: number): Promise<boolean> {
  const body = { source: `source-${number % SOURCES}`, title: `Alert #${number}.`, level: 'ERROR' }
  const answer = await platform.call('POST', '/alerts/report', { body }).catch(() => undefined)
  if (!answer) return pause(1, false)
  assert.ok([201, 408].includes(answer.status), await answer.text().catch(() => 'no body'))
  return answer.status === 201
}

/** Requires that each acknowledged alert is in a message, and that only repeated messages name one again. */
function requireNotifications(robots: RobotDoubles, acknowledged: readonly number[], kills: number): Figures {
  const posted = robots.posted.map(
    ({ body }) => JSON.parse(body) as { key: string; text: string; title: string },
  )
  const messages = new Map(posted.map((message) => [message.key, `${message.title}\n${message.text}`]))
  const named = [...messages.values()].flatMap((text) =>
    [...text.matchAll(/#(\d+)\./g)].map(([, digits]) => Number(digits)),
  )
  const missing = new Set(acknowledged).difference(new Set(named))
  assert.deepEqual([...missing], [], 'alerts without a notification')
  assert.equal(new Set(named).size, named.length, 'no alert is in two messages')
  const repeated = posted.length - messages.size
  assert.ok(repeated <= kills, `${repeated} repeated messages`)
  return {
    'alerts acknowledged': acknowledged.length,
    lost: 0,
    messages: messages.size,
    'sent again': repeated,
  }
}
