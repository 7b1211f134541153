import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from '../test/support/loopback.ts'
import type { Bench } from './support/bench.ts'
import { openDatabase } from './support/database.ts'
import { requireSuccess, rateOf } from './support/load-contestants.ts'
import { startLoadGenerator, type LoadGenerator } from './support/load-generator.ts'
import { figures, ratio, type Measure } from './support/measure.ts'
import { postOrders } from './support/order-load.ts'
import { startPlatform } from './support/platform-server.ts'
import { interleave, type Contestant, type Round } from './support/rounds.ts'
import { diskDirectory } from './support/servers.ts'

const ENDPOINTS = 10
const ADMIN = { 'x-user-id': 'bench', 'x-user-roles': 'admin', 'content-type': 'application/json' }

/** What orders notice of ten endpoints that get their events, and how fast the events arrive. */
export const webhooks: Bench = {
  name: 'webhooks',
  title: 'P20: webhooks',
  summary: 'the rate of orders with ten endpoints subscribed and without, and the deliveries that follow',

  async run(options) {
    await using stack = new AsyncDisposableStack()
    const generator = stack.use(startLoadGenerator())
    const receiver = await startReceiver(stack)
    const alone = await startWorld(stack)
    const subscribed = await startWorld(stack)
    for (let each = 0; each < ENDPOINTS; each++) await subscribe(subscribed.port, `${receiver.url}${each}`)
    const contestants: Contestant<Sample>[] = [
      { name: 'alone', run: (forMs) => order(alone, generator, forMs) },
      { name: 'subscribed', run: (forMs) => order(subscribed, generator, forMs) },
      { name: 'deliveries', run: (forMs) => deliver(subscribed, receiver, forMs) },
    ]
    return measuresOf(await interleave(contestants, options))
  },
}

interface Sample {
  /** A second. */
  readonly rate: number
}

interface World {
  readonly port: number
  readonly database: DatabaseSync
}

interface Receiver {
  readonly url: string
  received(): number
}

async function startReceiver(stack: AsyncDisposableStack): Promise<Receiver> {
  let count = 0
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      count++
      response.end()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  stack.defer(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, received: () => count }
}

async function startWorld(stack: AsyncDisposableStack): Promise<World> {
  const { path: dataDir } = stack.use(diskDirectory())
  const port = await freePort()
  const env = { WEBHOOKS_ALLOW_PRIVATE: '127.0.0.0/8' }
  stack.use(await startPlatform({ dataDir, port, modules: 'api,worker', env }))
  return { port, database: stack.use(openDatabase(dataDir)) }
}

async function subscribe(port: number, url: string): Promise<void> {
  const body = JSON.stringify({ url, subjects: ['order.*'] })
  const answer = await fetch(`http://127.0.0.1:${port}/webhooks`, { method: 'POST', headers: ADMIN, body })
  if (answer.status !== 201) throw new Error(`The webhook was not created: ${await answer.text()}`)
}

async function order({ port }: World, generator: LoadGenerator, forMs: number): Promise<Sample> {
  return requireSuccess('orders', await generator.apply(postOrders(port), forMs))
}

const LOOK_EVERY_MS = 50

/** What the endpoints get of the orders before, while there are no more of them. */
async function deliver({ database }: World, receiver: Receiver, forMs: number): Promise<Sample> {
  const waiting = database.prepare(
    'select 1 from webhooks where pending > 0 or place < (select max(seq) from messages) limit 1',
  )
  const [begin, before] = [performance.now(), receiver.received()]
  while (waiting.get() && performance.now() - begin < forMs) await pause(LOOK_EVERY_MS)
  return { rate: (receiver.received() - before) / ((performance.now() - begin) / 1_000) }
}

// docs/performance.md, P20: webhooks
const ORDERS = { must: { atLeast: 0.9 } }
const DELIVERIES = { must: { atLeast: 1_000 } }

function measuresOf(rounds: readonly Round<Sample>[]): Measure[] {
  return [
    {
      what: 'rate of orders with ten endpoints ÷ without',
      values: ratio(rounds, 'subscribed', 'alone', rateOf),
      ...ORDERS,
    },
    {
      what: 'deliveries without orders meanwhile',
      unit: 'deliveries/s',
      values: figures(rounds, 'deliveries', rateOf),
      ...DELIVERIES,
    },
  ]
}
