import { setTimeout as pause } from 'node:timers/promises'
import { createVpnClient } from '../../../programs/vpn-client/index.ts'
import { createTokens } from '../../../src/infra/tokens/jwt.ts'
import { systemClock } from '../../../src/kernel/clock.ts'
import { Secret } from '../../../src/kernel/secret.ts'
import { MINUTE } from '../../../src/kernel/time.ts'
import { numberedTicket } from '../../support/numbered-tickets.ts'
import { eventually } from '../../support/eventually.ts'
import type { Cluster } from '../../support/hosts/cluster.ts'
import type { OrderStep } from '../../support/order-clients.ts'

export const KINDS = ['orders', 'messages', 'VPN requests'] as const
type Kind = (typeof KINDS)[number]

const LANES: Readonly<Record<Kind, number>> = { orders: 4, messages: 3, 'VPN requests': 4 }
const STEPS: readonly OrderStep[] = ['paid', 'shipped', 'completed']
const BETWEEN_MS = 50
const RETRY_MS = 100
const ANSWER_MS = 3_000
/** More than an api lets a message wait for its delivery before it answers that the message is pending. */
const SLOW_MS = 1_500
// Another server, or this one later, may give another answer.
const isTemporary = (status: number) => status === 429 || status >= 500

interface Operation {
  readonly kind: Kind
  readonly startedAt: number
  /** With its repetitions. */
  readonly tookMs: number
}

/** Clients of each kind. Each repeats a request, with the same Idempotency-Key, until it is acknowledged. */
export class Load {
  /** The last acknowledged status of each order. */
  readonly orders = new Map<string, OrderStep>()
  /** The events of each lane are numbered from 1; this is the last acknowledged number. */
  readonly messages = new Map<string, number>()
  readonly #cluster: Cluster
  readonly #operations: Operation[] = []
  readonly #running: Promise<void>[]
  #isStopping = false
  #failure: Error | undefined

  private constructor(cluster: Cluster, tokens: readonly string[]) {
    this.#cluster = cluster
    const clients: Record<Kind, (lane: number) => Promise<void>> = {
      orders: (lane) => this.#keepOrdering(lane),
      messages: (lane) => this.#keepPublishing(lane),
      'VPN requests': (lane) => this.#keepAsking(lane, tokens[lane] ?? ''),
    }
    this.#running = KINDS.flatMap((kind) =>
      Array.from({ length: LANES[kind] }, (_, lane) =>
        clients[kind](lane).catch((error: Error) => void (this.#failure ??= error)),
      ),
    )
  }

  static async start(cluster: Cluster): Promise<Load> {
    const users = Array.from({ length: LANES['VPN requests'] }, (_, lane) => `client-${lane}`)
    for (const name of users) await addUser(cluster, name)
    return new Load(cluster, await tokensOf(cluster, users))
  }

  get counts(): Readonly<Record<Kind, number>> {
    const count = (kind: Kind) => this.#operations.filter((each) => each.kind === kind).length
    return { orders: count('orders'), messages: count('messages'), 'VPN requests': count('VPN requests') }
  }

  /** Resolves when clients of each kind were served with a request that they have sent after this call. */
  async untilServed(): Promise<void> {
    const from = performance.now()
    const isServed = (kind: Kind) => {
      const last = this.#operations.findLast((each) => each.kind === kind)
      return last !== undefined && last.startedAt >= from
    }
    await eventually('every kind of client is served', () => {
      this.requireNoFailure()
      return KINDS.every(isServed)
    })
  }

  /** From that moment on: the end of the last slow operation; 0 without one. */
  normalAfterMs(from: number): number {
    const slow = this.#operations.filter(({ tookMs }) => tookMs > SLOW_MS)
    return Math.max(0, ...slow.map(({ startedAt, tookMs }) => startedAt + tookMs - from))
  }

  /** The slowest operation of that kind that was not complete at that moment. */
  slowestMs(kind: Kind, from: number): number {
    const operations = this.#operations.filter((each) => each.kind === kind)
    const since = operations.filter(({ startedAt, tookMs }) => startedAt + tookMs >= from)
    return Math.max(0, ...since.map(({ tookMs }) => tookMs))
  }

  requireNoFailure(): void {
    if (this.#failure) throw this.#failure
  }

  /** Resolves when each client has its last answer. */
  async stop(): Promise<void> {
    this.#isStopping = true
    await Promise.all(this.#running)
    this.requireNoFailure()
  }

  async #keepOrdering(lane: number): Promise<void> {
    for (let number = 1; !this.#isStopping; number++) {
      const id = `o-${lane}-${number}`
      const order = { order_id: id, platform: 'cluster', amount_cents: 1 }
      await this.#send('orders', 'POST', '/orders', order, id)
      this.orders.set(id, 'pending')
      for (const status of STEPS.slice(0, number % (STEPS.length + 1))) {
        await this.#send('orders', 'PUT', `/orders/${id}`, { status }, `${id}/${status}`)
        this.orders.set(id, status)
      }
      await pause(BETWEEN_MS)
    }
  }

  async #keepPublishing(lane: number): Promise<void> {
    const name = `lane-${lane}`
    for (let number = 1; !this.#isStopping; number++) {
      await this.#send('messages', 'POST', '/tickets', numberedTicket(name, number), `${name}/${number}`)
      this.messages.set(name, number)
      await pause(BETWEEN_MS)
    }
  }

  async #keepAsking(lane: number, token: string): Promise<void> {
    const urls = this.#cluster.gatewayUrls
    const first = lane % urls.length
    const client = createVpnClient({
      gateways: [...urls.slice(first), ...urls.slice(0, first)],
      readToken: () => new Secret(token),
      device: `device-${lane}`,
    })
    const ask = async () => !isTemporary((await client.request('GET', '/orders?limit=1')).status)
    while (!this.#isStopping) {
      await this.#repeat('VPN requests', () => ask().catch(() => false))
      await pause(BETWEEN_MS)
    }
    await client.stop()
  }

  #send(kind: Kind, method: string, path: string, body: object, key: string): Promise<void> {
    return this.#repeat(kind, () => isAcknowledged(this.#cluster, method, path, body, key))
  }

  async #repeat(kind: Kind, isDone: () => Promise<boolean>): Promise<void> {
    const startedAt = performance.now()
    while (!(await isDone())) await pause(RETRY_MS)
    this.#operations.push({ kind, startedAt, tookMs: performance.now() - startedAt })
  }
}

async function isAcknowledged(
  cluster: Cluster,
  method: string,
  path: string,
  body: object,
  key: string,
): Promise<boolean> {
  let answer: Response
  try {
    answer = await callApi(cluster, method, path, { body, headers: { 'idempotency-key': key } })
  } catch {
    return false
  }
  const text = await answer.text().catch(() => undefined)
  if (answer.ok && text !== undefined) return true
  if (text === undefined || isTemporary(answer.status)) return false
  throw new Error(`${method} ${path}: ${answer.status} ${text}`)
}

function callApi(
  { apiUrl }: Cluster,
  method: string,
  path: string,
  { body, headers = {} }: { readonly body?: object; readonly headers?: Record<string, string> } = {},
): Promise<Response> {
  const identity = { 'x-user-id': 'tester', 'x-user-roles': 'admin', 'content-type': 'application/json' }
  return fetch(`${apiUrl}${path}`, {
    method,
    headers: { ...identity, ...headers },
    signal: AbortSignal.timeout(ANSWER_MS),
    ...(body && { body: JSON.stringify(body) }),
  })
}

async function addUser(cluster: Cluster, name: string): Promise<void> {
  const body = { name, password: 'five quiet otters', roles: ['devops'] }
  await eventually(`the user ${name}`, () => isAcknowledged(cluster, 'POST', '/users', body, name))
}

interface MirroredUser {
  readonly id: string
  readonly name: string
  readonly token_generation: number
}

/** Valid for servers whose clock is some minutes behind too. */
async function tokensOf(cluster: Cluster, names: readonly string[]): Promise<string[]> {
  const clock = { ...systemClock, now: () => systemClock.now() - 30 * MINUTE }
  const tokens = createTokens({ secrets: [new Secret(cluster.jwtSecret)], clock, ttlMs: 300 * MINUTE })
  const { items } = (await (await callApi(cluster, 'GET', '/users/mirror')).json()) as {
    items: MirroredUser[]
  }
  return names.map((name) => {
    const user = items.find((each) => each.name === name)
    if (!user) throw new Error(`the api does not list the user ${name}`)
    const { id: userId, token_generation: generation } = user
    return tokens.sign({ userId, name, roles: ['devops'], generation }).token
  })
}
