import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { readStream, type Arrival } from '../support/bus-reader.ts'
import { eventually } from '../support/eventually.ts'
import { startNats } from '../support/nats.ts'
import { servePlatform, temporaryDirectory, type ServedPlatform } from '../support/platform.ts'
import type { Chance } from '../support/random.ts'
import { startTelemetryClients } from '../support/telemetry-clients.ts'
import { openEngine, requireIntegrity, type EngineName } from './support/engine.ts'
import type { Figures, Scenario, Trial } from './support/scenario.ts'

const CLIENTS = 8
const MAX_LOAD_MS = 300
const DRAIN_MS = 60_000
const SUBJECT = 'telemetry.agent.'

export const telemetryStorm: Scenario = {
  name: 'telemetry-storm',
  row: 'R-1',
  promise: 'kill -9 under load loses no item of telemetry that was answered with 202',
  unit: 'kills',
  rounds: { short: 12, full: 100 },
  parts: [
    { title: 'on SQLite', share: 0.8, run: (trial) => storm(trial, 'sqlite') },
    { title: 'on PostgreSQL', share: 0.2, run: (trial) => storm(trial, 'postgres') },
  ],
}

async function storm(trial: Trial, engineName: EngineName): Promise<Figures> {
  const { chance, rounds, wantsMore, scope, signal, show } = trial
  const dataDir = scope.use(temporaryDirectory()).path
  const engine = await openEngine(engineName, dataDir, scope)
  const nats = await startNats({ jetstream: true })
  scope.defer(() => nats.stop())
  const env = { BUS_SERVER: nats.url, TELEMETRY_RATE: '1000000', ...engine.env }
  const serve = async () => scope.use(await servePlatform({ dataDir, env }))

  const acknowledged = new Map<string, number>()
  let round = 0
  while (wantsMore(round)) {
    round++
    signal.throwIfAborted()
    show(`kill ${round} of ${rounds}, ${sum(acknowledged)} items acknowledged`)
    const now = await loadAndKill(await serve(), `r${round}`, chance)
    for (const [agent, items] of now) acknowledged.set(agent, items)
    if (engineName === 'sqlite') requireIntegrity(dataDir, `kill ${round}`)
  }

  const last = await serve()
  const pending = () => engine.count('select pending_items from telemetry_totals')
  await eventually('everything to be delivered', async () => (await pending()) === 0, { timeoutMs: DRAIN_MS })
  assert.equal(await engine.count('select count(*) from telemetry_uploads where delivered_at is null'), 0)
  assert.equal(await last.stop(), 0)

  assert.ok(sum(acknowledged) > round, 'the load was too small for a meaningful test')
  const stored = (await readStream(nats.url, 'PLATFORM')).filter(({ subject }) => subject.startsWith(SUBJECT))
  assert.equal(new Set(stored.map(({ id }) => id)).size, stored.length, 'the stream has no item twice')
  requireItems(acknowledged, stored)
  return { kills: round, 'items acknowledged': sum(acknowledged), lost: 0, items: stored.length }
}

/** Kills the platform under load; returns how many items of each agent it had acknowledged before. */
async function loadAndKill(
  platform: ServedPlatform,
  prefix: string,
  chance: Chance,
): Promise<ReadonlyMap<string, number>> {
  const clients = startTelemetryClients({ url: platform.url, clients: CLIENTS, prefix, chance })
  // Most kills happen under load, some during the first calls.
  if (chance.number() < 0.8) await eventually('some load', () => clients.acknowledged.size > 0)
  await pause(chance.between(0, MAX_LOAD_MS))
  await platform.kill()
  await clients.stop()
  assert.deepEqual(clients.unexpected, [], prefix)
  return clients.acknowledged
}

/** Requires of each agent all its items in order, and no part of a batch whose acknowledgement is unknown. */
function requireItems(acknowledged: ReadonlyMap<string, number>, stored: readonly Arrival[]): void {
  const byAgent = Map.groupBy(stored, ({ subject }) => subject.slice(SUBJECT.length))
  for (const [agent, count] of acknowledged) {
    const arrived = byAgent.get(agent) ?? []
    assert.ok(
      arrived.length >= count,
      `${agent}: ${arrived.length} items arrived, ${count} were acknowledged`,
    )
  }
  for (const [agent, arrivals] of byAgent) {
    const wrong = arrivals.findIndex((arrival, index) => numberIn(arrival) !== index)
    assert.equal(wrong, -1, `${agent}: item ${wrong} is out of order or missing`)
  }
}

function numberIn({ payload }: Arrival): number {
  return (JSON.parse(payload) as { data: { data: { n: number } } }).data.data.n
}

function sum(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((total, count) => total + count, 0)
}
