import assert from 'node:assert/strict'
import { Agent, request } from 'node:http'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { eventually } from '../support/eventually.ts'
import { servePlatform, temporaryDirectory, type ServedPlatform } from '../support/platform.ts'
import { openEngine } from './support/engine.ts'
import { requireOrders } from './support/order-invariants.ts'
import type { Figures, Scenario, Trial } from './support/scenario.ts'
import { askHealth, percentile, slowest, watchHealth } from './support/watch.ts'
import { acknowledgedIn, type Written } from './support/writers.ts'

const CONNECTIONS = 500
const IDLE_EACH_SECOND = 250
const MAX_IDLE = 5_000
const LOGINS_AT_ONCE = 50
const HEALTH_LIMIT_MS = 20_000
const NORMAL_MS = 1_000

export const flood: Scenario = {
  name: 'flood',
  row: 'R-28',
  promise:
    'a flood of requests is served or refused, health responds all the time, and the service recovers after it',
  unit: 'seconds of flood',
  rounds: { short: 2, brief: 30, full: 60 },
  parts: [
    { title: `${CONNECTIONS} connections with continuous requests, beside idle ones`, run: floodOfCalls },
    { title: `${LOGINS_AT_ONCE} continuous concurrent logins`, run: floodOfLogins },
  ],
}

async function floodOfCalls(trial: Trial): Promise<Figures> {
  const { rounds, scope } = trial
  const dataDir = scope.use(temporaryDirectory()).path
  const engine = await openEngine('sqlite', dataDir, scope)
  const platform = scope.use(await servePlatform({ dataDir, env: { LOG_LEVEL: 'info' } }))
  const idle = await openIdle(platform, Math.min(MAX_IDLE, rounds * IDLE_EACH_SECOND), scope)
  const { answers, health } = await floodFor(trial, platform, CONNECTIONS, (call, number) =>
    number % 2 === 0
      ? call('POST', '/orders', { order_id: `f-${number}`, platform: 'flood', amount_cents: 1 })
      : call('GET', `/orders/f-${number - 1}`),
  )
  requireKinds(answers, [200, 201, 404, 429, 503])
  const normalAfter = await timeUntilNormal(platform)
  assert.equal(await platform.stop(), 0)
  const created = answers.filter(({ status }) => status === 201)
  await requireOrders(engine, acknowledgedIn(created))
  return {
    'idle connections': idle,
    ...figuresOf(answers),
    ...health,
    'normal after ms': normalAfter,
    lost: 0,
  }
}

async function floodOfLogins(trial: Trial): Promise<Figures> {
  const dataDir = trial.scope.use(temporaryDirectory()).path
  const platform = trial.scope.use(await servePlatform({ dataDir, modules: 'api' }))
  const { answers, health } = await floodFor(trial, platform, LOGINS_AT_ONCE, (call, number) =>
    call('POST', '/auth/login', { username: `user-${number % 7}`, password: `wrong password ${number}` }),
  )
  requireKinds(answers, [401, 429, 503])
  assert.ok(
    answers.some(({ status }) => status === 429),
    'no login was refused',
  )
  const normalAfter = await timeUntilNormal(platform)
  assert.equal(await platform.stop(), 0)
  return { ...figuresOf(answers), ...health, 'normal after ms': normalAfter }
}

type Call = (method: string, path: string, body?: object) => Promise<Written>

/** Runs callers that send the next request right after a response, while another client polls health. */
async function floodFor(
  { rounds, signal, show, scope, requireTime }: Trial,
  platform: ServedPlatform,
  callers: number,
  next: (call: Call, number: number) => Promise<Written>,
) {
  const agent = new Agent({ keepAlive: true, maxSockets: callers })
  scope.defer(() => agent.destroy())
  const watch = watchHealth(platform.url)
  scope.defer(() => watch.stop())
  const answers: Written[] = []
  const end = performance.now() + rounds * 1_000
  let number = 0
  const run = async () => {
    while (performance.now() < end && !signal.aborted) {
      answers.push(await next((...call) => callOn(agent, platform.url, ...call), number++))
      if (number % 500 === 0) show(`${answers.length} answers`)
    }
  }
  await Promise.all(Array.from({ length: callers }, run))
  await watch.stop()
  const statuses = [...new Set(watch.answers.map(({ status, fault }) => `${status} ${fault}`.trimEnd()))]
  assert.deepEqual(statuses, ['200'], 'the answers of health')
  requireTime('health', slowest(watch.answers), HEALTH_LIMIT_MS)
  return { answers, health: { 'slowest health ms': slowest(watch.answers) } }
}

function callOn(agent: Agent, url: string, method: string, path: string, body?: object): Promise<Written> {
  const start = performance.now()
  const text = body && JSON.stringify(body)
  const headers = {
    'x-user-id': 'tester',
    'x-user-roles': 'admin',
    ...(text && { 'content-type': 'application/json', 'content-length': text.length }),
  }
  return new Promise((resolve) => {
    const orderId = body && 'order_id' in body ? String(body.order_id) : ''
    const answer = (status: number, code = '') =>
      resolve({ orderId, status, code, milliseconds: performance.now() - start })
    const outgoing = request(`${url}${path}`, { method, headers, agent }, (response) => {
      response.resume().on('end', () => answer(response.statusCode ?? 0))
      response.on('error', () => answer(0))
    })
    outgoing.on('error', (error) => answer(0, error.message))
    outgoing.end(text)
  })
}

async function openIdle(
  platform: ServedPlatform,
  count: number,
  scope: AsyncDisposableStack,
): Promise<number> {
  const { port } = new URL(platform.url)
  const sockets: Socket[] = []
  scope.defer(() => sockets.forEach((socket) => socket.destroy()))
  for (let number = 0; number < count; number++) {
    const socket = connect(Number(port), '127.0.0.1')
    socket.on('error', () => undefined)
    sockets.push(socket)
    if (number % 100 === 0) await once(socket, 'connect')
  }
  return count
}

function requireKinds(answers: readonly Written[], expected: readonly number[]): void {
  const unexpected = answers.filter(({ status }) => !expected.includes(status))
  assert.deepEqual([...new Set(unexpected.map(({ status, code }) => `${status} ${code}`))], [])
}

function figuresOf(answers: readonly Written[]): Figures {
  const byStatus = Map.groupBy(answers, ({ status }) => status)
  const times = answers.map(({ milliseconds }) => milliseconds)
  return {
    answers: [...byStatus].map(([status, some]) => `${some.length} × ${status}`).join(', '),
    'p99 ms': Math.round(percentile(times, 99)),
  }
}

/** Milliseconds from the end of the flood to the first quick response. */
async function timeUntilNormal(platform: ServedPlatform): Promise<number> {
  const start = performance.now()
  await eventually('a quick response', async () => (await askHealth(platform.url)).milliseconds < NORMAL_MS)
  return Math.round(performance.now() - start)
}
