import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request, type ClientRequest } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { eventually } from '../support/eventually.ts'
import { startNats } from '../support/nats.ts'
import { startOrderClients, type OrderStep } from '../support/order-clients.ts'
import { servePlatform, temporaryDirectory } from '../support/platform.ts'
import { openEngine, requireIntegrity, type EngineName } from './support/engine.ts'
import { requireOrders } from './support/order-invariants.ts'
import type { Figures, Scenario, Trial } from './support/scenario.ts'

const CLIENTS = 8
const HALF_SENT = 10
const MAX_LOAD_MS = 300
// docs/specification.md, Limits: 10 s; the rest is the overhead of a busy machine.
const STOP_LIMIT_MS = 15_000

export const drain: Scenario = {
  name: 'drain',
  row: 'R-23',
  promise: 'after SIGTERM the program finishes the requests in progress, loses nothing, and exits with 0',
  unit: 'stops under load',
  rounds: { short: 4, brief: 30, full: 100 },
  parts: [
    { title: 'on SQLite', share: 0.5, run: (trial) => stopUnderLoad(trial, 'sqlite') },
    { title: 'on PostgreSQL', share: 0.5, run: (trial) => stopUnderLoad(trial, 'postgres') },
  ],
}

async function stopUnderLoad(trial: Trial, engineName: EngineName): Promise<Figures> {
  const { rounds, chance, scope, signal, requireTime, show } = trial
  const dataDir = scope.use(temporaryDirectory()).path
  const engine = await openEngine(engineName, dataDir, scope)
  const nats = await startNats({ jetstream: true })
  scope.defer(() => nats.stop())
  const env = { BUS_SERVER: nats.url, ...engine.env }
  const acknowledged = new Map<string, OrderStep>()
  const stops: number[] = []
  const answers = new Map<number, number>()
  for (let round = 1; round <= rounds; round++) {
    signal.throwIfAborted()
    show(`stop ${round} of ${rounds}`)
    await using platform = await servePlatform({ dataDir, env })
    const clients = startOrderClients({ url: platform.url, clients: CLIENTS, prefix: `r${round}`, chance })
    await eventually('some load', () => clients.acknowledged.size > 0)
    const halves = await Promise.all(
      Array.from({ length: HALF_SENT }, (_, number) => sendHalf(platform.url, `r${round}-half-${number}`)),
    )
    await pause(chance.between(0, MAX_LOAD_MS))

    const start = performance.now()
    const code = platform.stop()
    for (const half of halves) {
      const status = await half.finish()
      answers.set(status, (answers.get(status) ?? 0) + 1)
      if (status === 201) acknowledged.set(half.orderId, 'pending')
    }
    assert.equal(await code, 0)
    stops.push(performance.now() - start)
    await clients.stop()
    assert.deepEqual([...new Set(clients.unexpected)], [])
    for (const [id, status] of clients.acknowledged) acknowledged.set(id, status)
    if (engineName === 'sqlite') requireIntegrity(dataDir, `round ${round}`)
  }
  assert.deepEqual(
    [...answers.keys()].filter((status) => status !== 201 && status !== 503),
    [],
  )
  requireTime('a stop', Math.max(...stops), STOP_LIMIT_MS)
  await requireOrders(engine, acknowledged)
  return {
    stops: rounds,
    'orders acknowledged': acknowledged.size,
    lost: 0,
    'in progress at the stop': [...answers].map(([status, count]) => `${count} × ${status}`).join(', '),
    'slowest stop ms': Math.round(Math.max(...stops)),
  }
}

/** Starts a request; resolves when the server has read its head, while half of the body is still missing. */
async function sendHalf(url: string, orderId: string) {
  const body = JSON.stringify({ order_id: orderId, platform: 'drain', amount_cents: 1 })
  const call: ClientRequest = request(`${url}/orders`, {
    method: 'POST',
    agent: false,
    headers: {
      'x-user-id': 'tester',
      'x-user-roles': 'admin',
      'content-type': 'application/json',
      'content-length': body.length,
      // The server sends 100 Continue after it has read the head.
      expect: '100-continue',
    },
  })
  const answer = new Promise<number>((resolve, reject) => {
    call.on('response', (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0))
    })
    call.on('error', reject)
  })
  // `finish` returns the rejection.
  answer.catch(() => undefined)
  call.flushHeaders()
  await once(call, 'continue')
  call.write(body.slice(0, 10))
  const finish = async () => {
    call.end(body.slice(10))
    return answer
  }
  return { orderId, finish }
}
