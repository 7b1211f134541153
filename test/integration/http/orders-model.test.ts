import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, test, type TestContext } from 'node:test'
import fc from 'fast-check'
import { eventually } from '../../support/eventually.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import { chanceOf } from '../../support/random.ts'
import { openApi, type Api } from './client.ts'
import type { Answer, ErrorAnswer } from './traffic.ts'
import {
  assertExplained,
  LONG_AGO,
  STATUSES,
  type Asked,
  type Change,
  type Exchange,
  type Match,
  type Order,
  type Status,
} from './order-model.ts'

const ORDERS = 3
const SCAN = { WORKER_ORDER_SCAN: '10ms' }

/** What one client does next; which order and version it means is known only when it is its turn. */
type Step = { readonly order: number } & (
  | {
      readonly kind: 'create'
      readonly amount: number
      readonly isDue: boolean
      readonly namesExpiry: boolean
    }
  | { readonly kind: 'move'; readonly to: Status; readonly match: MatchName }
  | { readonly kind: 'read' }
)

/** `If-Match` headers by the newest version that anybody has seen. */
const MATCHES = {
  none: () => ({}),
  any: () => ({ header: '*' }),
  current: (seen: number) => ({ header: `"${seen}"`, versions: [seen] }),
  old: (seen: number) => ({ header: `"${seen - 1}"`, versions: [seen - 1] }),
  several: (seen: number) => ({ header: `"${seen}", "${seen + 1}"`, versions: [seen, seen + 1] }),
  weak: (seen: number) => ({ header: `W/"${seen}"`, versions: [seen] }),
  foreign: () => ({ header: '"none of ours"', versions: [] }),
} as const satisfies Record<string, (seen: number) => Match>
type MatchName = keyof typeof MATCHES

const order = fc.nat({ max: ORDERS - 1 })
const aStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('create' as const),
      order,
      amount: fc.constantFrom(1, 1, 1, 2),
      isDue: fc.boolean(),
      namesExpiry: fc.boolean(),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('move' as const),
      order,
      to: fc.constantFrom('paid' as const, ...STATUSES),
      match: fc.constantFrom('none' as const, 'none' as const, ...(Object.keys(MATCHES) as MatchName[])),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('read' as const), order }) },
)
const someClients = fc.array(fc.array(aStep, { minLength: 4, maxLength: 14 }), { minLength: 2, maxLength: 6 })

await propertyOn('sqlite', await openApi(SCAN), 40)
const database = await createTestDatabase()
await propertyOn('postgres', await openApi({ ...SCAN, DATABASE_URL: database.url }), 25)
after(() => database.drop())

async function propertyOn(where: string, api: Api, runs: number): Promise<void> {
  after(() => api[Symbol.asyncDispose]())
  test(`with any concurrent calls, each order takes one allowed path, with one event for each change, on ${where}`, (t: TestContext) =>
    fc.assert(
      fc.asyncProperty(someClients, async (clients) => {
        await assertRun(api, clients)
      }),
      // Who comes first is chance, so a smaller example may not fail: the first one is shown.
      { seed: chanceOf(t).seed, numRuns: runs, endOnFailure: true },
    ))
}

async function assertRun(api: Api, clients: readonly (readonly Step[])[]): Promise<void> {
  const ids = Array.from({ length: ORDERS }, () => `order-${randomUUID()}`)
  const exchanges = new Map(ids.map((id) => [id, [] as Exchange[]]))
  const act = async (steps: readonly Step[], client: number) => {
    for (const step of steps) {
      const id = ids[step.order] as string
      const seen = exchanges.get(id) ?? []
      seen.push(await carryOut(api, id, step, `client-${client}`, newestOf(seen)))
    }
  }
  await Promise.all(clients.map(act))
  for (const [id, seen] of exchanges) await assertOrder(api, id, seen)
}

function newestOf(exchanges: readonly Exchange[]): number {
  return Math.max(0, ...exchanges.map(({ version }) => version))
}

async function carryOut(
  api: Api,
  id: string,
  step: Step,
  actor: string,
  seenBefore: number,
): Promise<Exchange> {
  const asked = toAsked(id, step, seenBefore)
  const answer = await sendAsked(api, id, asked, actor)
  const isGood = answer.status < 300
  return {
    asked,
    actor,
    seenBefore,
    status: answer.status,
    code: isGood ? undefined : (answer.json() as ErrorAnswer).code,
    version: versionOf(answer),
    order: isGood ? (answer.json() as Order) : undefined,
  }
}

function toAsked(id: string, step: Step, seen: number): Asked {
  if (step.kind === 'read') return step
  if (step.kind === 'move') return { kind: 'move', to: step.to, match: MATCHES[step.match](seen) }
  const expiry = step.isDue ? LONG_AGO : '2096-01-01T00:00:00.000Z'
  const expires = step.isDue || step.namesExpiry ? { expires_at: expiry } : {}
  return { kind: 'create', order: { order_id: id, platform: 'live', amount_cents: step.amount, ...expires } }
}

function sendAsked(api: Api, id: string, asked: Asked, actor: string): Promise<Answer> {
  const headers = { 'x-user-id': actor, 'x-user-roles': 'service', 'content-type': 'application/json' }
  switch (asked.kind) {
    case 'create':
      return api.send({ method: 'POST', path: '/orders', body: asked.order, headers })
    case 'move': {
      const { header } = asked.match
      const condition = header === undefined ? {} : { 'if-match': header }
      const body = { status: asked.to }
      return api.send({ method: 'PUT', path: `/orders/${id}`, body, headers: { ...headers, ...condition } })
    }
    case 'read':
      return api.send({ method: 'GET', path: `/orders/${id}`, headers })
  }
}

/** The number in the entity tag; 0 where there is none. */
function versionOf({ headers }: Answer): number {
  const [, version = 0] = /^"(\d+)"$/.exec(headers['etag'] ?? '') ?? []
  return Number(version)
}

async function assertOrder(api: Api, id: string, exchanges: readonly Exchange[]): Promise<void> {
  if (!exchanges.some(({ asked }) => asked.kind === 'create')) {
    for (const { code } of exchanges) assert.equal(code, 'order_not_found')
    return
  }
  const answer = await settled(api, id)
  const { items: history } = (await get(api, `/orders/${id}/history`)).json() as { items: Change[] }
  assertExplained({
    order: answer.json() as Order,
    version: versionOf(answer),
    history,
    exchanges,
    events: await eventsOf(api, id),
    alerts: await alertsOf(api, id),
  })
}

/** The order once the worker has done what is due. */
function settled(api: Api, id: string): Promise<Answer> {
  return eventually(`the scan expires ${id}`, async () => {
    const answer = await get(api, `/orders/${id}`)
    const { status, expires_at } = answer.json() as Order
    return status === 'pending' && expires_at === LONG_AGO ? undefined : answer
  })
}

const get = (api: Api, path: string) => api.send({ method: 'GET', path })

async function eventsOf(api: Api, id: string): Promise<{ type: string; data: Order }[]> {
  type Envelope = { type: string; subject?: string; data: Order }
  const messages = await everything<{ id: string; payload: Envelope }>(api, '/messages')
  assert.equal(
    new Set(messages.map((message) => message.id)).size,
    messages.length,
    'no page repeats a message',
  )
  const about = messages.filter(({ payload }) => payload.subject === id)
  return about.map(({ payload: { type, data } }) => ({ type, data })).toReversed()
}

async function alertsOf(api: Api, id: string): Promise<number> {
  const alerts = await everything<{ alarm_id: string; count: number }>(api, '/alerts?source=platform.orders')
  return alerts
    .filter(({ alarm_id }) => alarm_id === `order.timeout:${id}`)
    .reduce((sum, { count }) => sum + count, 0)
}

/** All items of a list, newest first, page by page. */
async function everything<T>(api: Api, path: string): Promise<T[]> {
  const items: T[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const query = new URLSearchParams({ limit: '1000', ...(cursor && { cursor }) }).toString()
    const page = (await get(api, `${path}${path.includes('?') ? '&' : '?'}${query}`)).json()
    const { items: more, next_cursor } = page as { items: T[]; next_cursor: string | null }
    items.push(...more)
    cursor = next_cursor
  }
  return items
}
