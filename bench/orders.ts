import { fileURLToPath } from 'node:url'
import type { Bench } from './support/bench.ts'
import { SEQUENCE, type LoadTarget } from './support/load.ts'
import { startLoadGenerator } from './support/load-generator.ts'
import { figures, ratio, type Measure } from './support/measure.ts'
import { issueToken, startApi } from './support/platform-server.ts'
import { interleave, type Round } from './support/rounds.ts'
import { seedOrders } from './support/seed.ts'
import { diskDirectory, freePort, startServer } from './support/servers.ts'

const ECHO = fileURLToPath(new URL('./servers/echo.ts', import.meta.url))
const CONNECTIONS = 64
const MANY = 1_000_000

/** Durable `POST /orders` through everything, against a bare server that parses and answers JSON. */
export const orders: Bench = {
  name: 'orders',
  summary: 'durable POST /orders through everything, against a bare JSON echo',

  async run(options) {
    await using stack = new AsyncDisposableStack()
    options.onSlice(`filling a database with ${MANY} orders`)
    const targets = await startServers(stack)
    const generator = stack.use(startLoadGenerator())
    const contestants = Object.entries(targets).map(([name, target]) => ({
      name,
      run: (forMs: number) => generator.apply(target, forMs),
    }))
    return measuresOf(await interleave(contestants, options))
  },
}

async function startServers(stack: AsyncDisposableStack): Promise<Record<string, LoadTarget>> {
  const [echoPort, port, fullPort] = [await freePort(), await freePort(), await freePort()]
  const { path: dataDir } = stack.use(diskDirectory())
  const { path: fullDir } = stack.use(diskDirectory())
  await seedOrders(fullDir, MANY)
  stack.use(await startServer({ args: [ECHO, String(echoPort)], port: echoPort, cwd: dataDir }))
  stack.use(await startApi({ dataDir, port }))
  stack.use(await startApi({ dataDir: fullDir, port: fullPort }))
  const token = await issueToken(dataDir)
  return {
    echo: postOrders(echoPort, LOCAL_TOOL),
    headers: postOrders(port, LOCAL_TOOL),
    token: postOrders(port, { authorization: `Bearer ${token}` }),
    many: postOrders(fullPort, LOCAL_TOOL),
  }
}

const LOCAL_TOOL = { 'x-user-id': 'bench', 'x-user-roles': 'service' }

function postOrders(port: number, identity: Readonly<Record<string, string>>): LoadTarget {
  const body = JSON.stringify({ order_id: `bench-${SEQUENCE}`, platform: 'live', amount_cents: 4_990 })
  return { port, connections: CONNECTIONS, method: 'POST', path: '/orders', headers: identity, body }
}

// performance.md, P1
const RATE = { must: { atLeast: 0.55 }, better: { atLeast: 0.7 } }
const P99 = { must: { atMost: 3 } }

function measuresOf(rounds: readonly Round[]): Measure[] {
  return [
    { what: 'rate, known by headers ÷ echo', values: ratio(rounds, 'headers', 'echo', rateOf), ...RATE },
    { what: 'rate, known by a token ÷ echo', values: ratio(rounds, 'token', 'echo', rateOf), ...RATE },
    { what: 'p99, known by headers ÷ echo', values: ratio(rounds, 'headers', 'echo', p99Of), ...P99 },
    { what: 'p99, known by a token ÷ echo', values: ratio(rounds, 'token', 'echo', p99Of), ...P99 },
    { what: 'rate, beside 1,000,000 orders ÷ beside few', values: ratio(rounds, 'many', 'headers', rateOf) },
    { what: 'echo, requests/s', values: figures(rounds, 'echo', rateOf) },
    { what: 'platform, requests/s', values: figures(rounds, 'headers', rateOf) },
    { what: 'platform, p99 in ms', values: figures(rounds, 'headers', p99Of) },
    {
      what: 'load generator, share of a core at echo',
      values: figures(rounds, 'echo', (slice) => slice.generatorBusy),
    },
  ]
}

function rateOf({ rate }: { readonly rate: number }): number {
  return rate
}

function p99Of({ p99 }: { readonly p99: number }): number {
  return p99
}
