import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { createVpnClient, type VpnClient, type VpnEvent } from '../../programs/vpn-client/index.ts'
import { Secret } from '../../src/kernel/secret.ts'
import { eventually } from '../support/eventually.ts'
import { freePort, ownLoopback } from '../support/loopback.ts'
import { runPlatform, servePlatform, temporaryDirectory, type ServedPlatform } from '../support/platform.ts'
import { scopeOf } from '../support/scope.ts'

const CLIENTS = 200
// All of them connect again within seconds; the rest is for a machine that has much else to do.
const PATIENCE = { timeoutMs: 180_000 }

/** Long enough for a machine that stands still for a while, short enough for the leases of a dead gateway. */
const HEARTBEAT = '5s'
const FAILBACK_AFTER_MS = 3_000

test('sessions outlive a gateway, and no address is ever held twice', { timeout: 600_000 }, async (t) => {
  const world = await startWorld(t)
  // First: the others find a database with a schema, and a user.
  let api = await world.startApi()
  const a = await world.startGateway('a')
  await world.startGateway('b')
  const followers = await world.connectAll()
  const addresses = () => followers.map(({ address }) => address)
  const ask = () => Promise.all(followers.map(({ client }) => client.request('GET', '/auth/me')))

  await world.allAre('a', followers)
  const atFirst = addresses()
  assert.equal(new Set(atFirst).size, CLIENTS)

  await t.test(
    'the clients of a gateway that is killed are at the other one, with their addresses',
    async () => {
      await a.kill()
      await world.allAre('b', followers)
      assert.deepEqual(addresses(), atFirst)
    },
  )

  await t.test('without the api the sessions stay, and requests are answered with 503', async () => {
    const before = await sessionIds(api)
    assert.equal(before.length, CLIENTS)
    await api.kill()
    assert.deepEqual(statusesOf(await ask()), [503])
    api = await world.startApi()
    assert.deepEqual(statusesOf(await ask()), [200])
    assert.deepEqual(await sessionIds(api), before)
  })

  await t.test('the clients go back to a gateway that has come back, with their addresses', async () => {
    await world.startGateway('a')
    await world.allAre('a', followers)
    assert.deepEqual(addresses(), atFirst)
  })

  await t.test('nobody has seen an address held twice, neither the clients nor the database', async () => {
    await Promise.all(followers.map(({ client }) => client.stop()))
    assert.deepEqual(world.clashes, [])
    await eventually('every session is over', async () => (await sessionIds(api)).length === 0, PATIENCE)
    const past = await listSessions(api, 'closed')
    assert.ok(past.length >= 3 * CLIENTS, `${past.length} sessions`)
    assert.deepEqual(overlaps(past), [])
  })

  await t.test('the audit trail has one line for the begin and one for the end of each session', async () => {
    const lines = await listAll<AuditItem>(api, '/vpn/audit?limit=1000')
    assert.equal(new Set(lines.map(({ id }) => id)).size, lines.length)
    const past = (await listSessions(api, 'closed')).map(({ id }) => id).sort()
    for (const event of ['session_registered', 'session_closed']) {
      const inAudit = lines.filter((line) => line.event === event).map((line) => line.session_id ?? '')
      assert.deepEqual(inAudit.sort(), past)
    }
  })
})

function statusesOf(answers: readonly { readonly status: number }[]): number[] {
  return [...new Set(answers.map(({ status }) => status))]
}

/** A client, and what it has reported. */
interface Follower {
  readonly client: VpnClient
  /** Name of the gateway that it is connected with; undefined while it is not. */
  gateway: string | undefined
  /** The last one that it has had. */
  address: string | undefined
  lastReason: string | undefined
}

interface SessionItem {
  readonly id: string
  readonly virtual_ip: string
  readonly connected_at: string
  readonly closed_at: string | null
}

interface AuditItem {
  readonly id: string
  readonly event: string
  readonly session_id: string | null
}

/** An api, which can go and come back as gateways can, each on a port of its own. */
async function startWorld(t: TestContext) {
  const scope = scopeOf(t)
  const dataDir = scope.use(temporaryDirectory()).path
  const urls = { api: await freeUrl(), a: await freeUrl(), b: await freeUrl() }
  const holders = new Map<string, Follower>()
  const clashes: string[] = []

  const serve = async (modules: 'api' | 'gateway', name: keyof typeof urls) => {
    const env = {
      LISTEN_ADDR: urls[name].replace('http://', ''),
      GATEWAY_NAME: name,
      GATEWAY_API_URL: urls.api,
      VPN_HEARTBEAT: HEARTBEAT,
    }
    return scope.use(await servePlatform({ dataDir, modules, env }))
  }

  const follow = (follower: Follower, event: VpnEvent) => {
    const { state, gateway, virtual_ip: address, reason } = event
    follower.lastReason = reason
    if (state === 'connecting' || state === 'expiring') return
    if (follower.address && holders.get(follower.address) === follower) holders.delete(follower.address)
    follower.gateway = state === 'connected' ? gateway : undefined
    if (state !== 'connected' || address === undefined) return
    if (holders.has(address)) clashes.push(address)
    holders.set(address, follower)
    follower.address = address
  }

  const connect = (device: string, token: Secret): Follower => {
    const client = createVpnClient({
      gateways: [urls.a, urls.b],
      readToken: () => token,
      device,
      answerWithinMs: 60_000,
      failbackAfterMs: FAILBACK_AFTER_MS,
      // Never in the turn in which the client is made.
      onState: (event) => follow(follower, event),
    })
    const follower: Follower = { client, gateway: undefined, address: undefined, lastReason: undefined }
    scope.defer(() => client.stop())
    return follower
  }

  return {
    clashes,
    startApi: () => serve('api', 'api'),
    startGateway: (name: 'a' | 'b') => serve('gateway', name),
    async connectAll() {
      const token = await issueToken(dataDir)
      return Array.from({ length: CLIENTS }, (_, index) => connect(`device-${index}`, token))
    },
    async allAre(name: 'a' | 'b', followers: readonly Follower[]) {
      await eventually(
        `all clients are at gateway ${name}`,
        () => {
          const elsewhere = followers.filter(({ gateway }) => gateway !== urls[name])
          assert.deepEqual(
            elsewhere.map(({ lastReason }) => lastReason),
            [],
          )
          return true
        },
        PATIENCE,
      )
    },
  }
}

async function freeUrl(): Promise<string> {
  return `http://${ownLoopback()}:${await freePort()}`
}

async function issueToken(dataDir: string): Promise<Secret> {
  const { code, stdout, stderr } = await runPlatform(['token', 'issue', 'admin', '--ttl', '1h'], { dataDir })
  assert.equal(code, 0, stderr)
  return new Secret(stdout.trim())
}

function listSessions(api: ServedPlatform, state: 'open' | 'closed'): Promise<SessionItem[]> {
  return listAll(api, `/vpn/sessions?limit=1000&state=${state}`)
}

async function listAll<Item>(api: ServedPlatform, path: string): Promise<Item[]> {
  const items: Item[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const answer = await api.call('GET', `${path}${cursor && `&cursor=${cursor}`}`)
    const text = await answer.text()
    assert.equal(answer.status, 200, text)
    const page = JSON.parse(text) as { items: Item[]; next_cursor: string | null }
    items.push(...page.items)
    cursor = page.next_cursor
  }
  return items
}

async function sessionIds(api: ServedPlatform): Promise<string[]> {
  return (await listSessions(api, 'open')).map(({ id }) => id).sort()
}

/** The pairs of sessions that had one address at one time. */
function overlaps(sessions: readonly SessionItem[]): string[] {
  const byAddress = Object.values(Object.groupBy(sessions, ({ virtual_ip: address }) => address))
  return byAddress.flatMap((ofOne = []) => {
    const inOrder = ofOne.toSorted((one, other) => one.connected_at.localeCompare(other.connected_at))
    return inOrder.flatMap((session, index) => {
      const next = inOrder[index + 1]
      const isOver = session.closed_at !== null && next && session.closed_at <= next.connected_at
      return !next || isOver ? [] : [`${session.id} and ${next.id} had ${session.virtual_ip}`]
    })
  })
}
