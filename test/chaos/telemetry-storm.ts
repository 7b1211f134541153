import assert from 'node:assert/strict'
import { readStream, type Arrival } from '../support/bus-reader.ts'
import { startNats } from '../support/nats.ts'
import { startTelemetryClients } from '../support/telemetry-clients.ts'
import type { EngineName } from './support/engine.ts'
import type { Figures, Scenario, Trial } from './support/scenario.ts'
import { killWithClients, LOAD, openStorm } from './support/storm.ts'

const CLIENTS = 8
const SUBJECT = 'telemetry.agent.'

export const telemetryStorm: Scenario = {
  name: 'telemetry-storm',
  row: 'R-1',
  promise: 'kill -9 under load loses no item of telemetry that was answered with 202',
  unit: 'kills',
  rounds: { short: 6, brief: 40, full: 100 },
  parts: [
    { title: 'on SQLite', share: 0.8, run: (trial) => storm(trial, 'sqlite') },
    { title: 'on PostgreSQL', share: 0.2, run: (trial) => storm(trial, 'postgres') },
  ],
}

async function storm(trial: Trial, engineName: EngineName): Promise<Figures> {
  const { chance, scope } = trial
  const nats = await startNats({ jetstream: true })
  scope.defer(() => nats.stop())
  const world = await openStorm(trial, engineName, { BUS_SERVER: nats.url, TELEMETRY_RATE: '1000000' })
  const acknowledged = new Map<string, number>()
  const kills = await world.repeatKills(
    () => `${sum(acknowledged)} items`,
    async (round) => {
      const platform = await world.serve()
      const load = { url: platform.url, clients: CLIENTS, prefix: `r${round}`, chance }
      const clients = startTelemetryClients(load)
      await killWithClients(clients, { round, chance }, () => platform.kill())
      for (const [agent, items] of clients.acknowledged) acknowledged.set(agent, items)
    },
  )
  await world.drain('select pending_items from telemetry_totals')
  const undelivered = 'select count(*) from telemetry_uploads where delivered_at is null'
  assert.equal(await world.engine.count(undelivered), 0)
  assert.ok(sum(acknowledged) >= LOAD, 'the load was too small for a meaningful test')
  const stored = (await readStream(nats.url, 'PLATFORM')).filter(({ subject }) => subject.startsWith(SUBJECT))
  assert.equal(new Set(stored.map(({ id }) => id)).size, stored.length, 'the stream has no item twice')
  requireItems(acknowledged, stored)
  return { kills, 'items acknowledged': sum(acknowledged), lost: 0, items: stored.length }
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
