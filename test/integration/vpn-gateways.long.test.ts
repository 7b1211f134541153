import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import type { Session, Sessions } from '../../src/domains/sessions/index.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { formatIpv4 } from '../../src/kernel/addresses.ts'
import type { PagePosition } from '../../src/kernel/page.ts'
import type { DialectName } from '../../src/store/dialects/capabilities.ts'
import type { DatabaseAddress } from '../../src/store/open.ts'
import { eventually } from '../support/eventually.ts'
import { chanceOf } from '../support/random.ts'
import { scopeOf } from '../support/scope.ts'
import { testStore } from '../support/store.ts'
import type { StormOptions } from '../support/vpn-storm.ts'
import { PASSWORD, vpnOn } from '../support/vpn-store.ts'

const STORM = join(import.meta.dirname, '../support/vpn-storm.ts')
// PostgreSQL takes several times as long for each: it answers every statement over a socket. `OPERATIONS=…` in the
// environment makes it more.
const OPERATIONS = { sqlite: 10_000, postgres: 1_000 }
const KILLS = 4
const DEVICES = 20
const PATIENCE = { timeoutMs: 120_000 }
const TIMEOUT_MS = 600_000
const SETTINGS = { pool: '100.64.0.0/27', coolDownMs: 400, heartbeatMs: 1_000 }

/** The process of a gateway; it can be killed and started again under the same name. */
class Gateway {
  readonly #options: Omit<StormOptions, 'seed'>
  #child: ChildProcess | undefined
  #ended: Promise<unknown> = Promise.resolve()
  operations = 0

  constructor(options: Omit<StormOptions, 'seed'>) {
    this.#options = options
  }

  start(seed: number): void {
    const child = spawn(process.execPath, [STORM, JSON.stringify({ ...this.#options, seed })], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      for (const line of text.split('\n')) this.operations += Number(line)
    })
    this.#child = child
    this.#ended = once(child, 'close')
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal)
  }

  async kill(): Promise<void> {
    this.signal('SIGKILL')
    await this.#ended
  }

  /** Lets it leave the registry; returns its exit code. */
  async stop(): Promise<number | null> {
    this.#child?.stdin?.end()
    await this.#ended
    return this.#child?.exitCode ?? null
  }
}

async function world(t: TestContext, dialect: DialectName) {
  const scope = scopeOf(t)
  const { store, address } = scope.use(await testStore(dialect))
  const { sessions, users } = vpnOn(store, systemClock, SETTINGS)
  const userIds: string[] = []
  for (const name of ['ada', 'bob'])
    userIds.push((await users.create({ name, password: PASSWORD, roles: ['devops'] })).id)
  const gateways = ['primary', 'standby'].map((gateway) => {
    const each = new Gateway({
      database: textOf(address),
      gateway,
      settings: SETTINGS,
      userIds,
      devices: DEVICES,
    })
    scope.defer(() => each.kill())
    return each
  })
  return { sessions, gateways }
}

function textOf(address: DatabaseAddress): string {
  return address.kind === 'sqlite' ? address.path : address.url.reveal()
}

/** All sessions, live and closed, oldest first. */
async function history(sessions: Sessions): Promise<Session[]> {
  const all: Session[] = []
  for (const state of ['open', 'closed'] as const) {
    let after: PagePosition | null = null
    do {
      const page: Awaited<ReturnType<Sessions['list']>> = await sessions.list(
        { state },
        { limit: 1_000, after },
      )
      all.push(...page.items)
      after = page.next
    } while (after)
  }
  // The one that was closed first came first, also in the same millisecond.
  return all.sort(
    (one, other) => one.connectedAt - other.connectedAt || (one.closedAt ?? 0) - (other.closedAt ?? 0),
  )
}

/** The device, or the session itself if it has none. */
const holderOf = ({ id, userId, device }: Session) => (device === null ? id : `${userId}/${device}`)

function groupedBy(sessions: readonly Session[], keyOf: (session: Session) => string): Session[][] {
  return [...Map.groupBy(sessions, keyOf).values()]
}

function* pairs(sessions: readonly Session[]): Generator<[Session, Session]> {
  for (let index = 1; index < sessions.length; index++)
    yield [sessions[index - 1] as Session, sessions[index] as Session]
}

/** The sessions do not overlap, and between two holders lies the cool-down. */
function assertHeldByOne(onOneAddress: readonly Session[]): void {
  for (const [earlier, later] of pairs(onOneAddress)) {
    const pause = later.connectedAt - (earlier.closedAt ?? Number.POSITIVE_INFINITY)
    const least = holderOf(earlier) === holderOf(later) ? 0 : SETTINGS.coolDownMs
    assert.ok(pause >= least, `${formatIpv4(later.address)} was leased again after ${pause} ms`)
  }
}

/** A device gets its address back unless another session has held it since. Returns how often it got it back. */
function assertReturned(ofOneDevice: readonly Session[], onAddress: ReadonlyMap<number, Session[]>): number {
  let returned = 0
  for (const [earlier, later] of pairs(ofOneDevice)) {
    if (earlier.address === later.address) {
      returned++
      continue
    }
    // Two gateways registered the device at once, and its other session still held the address.
    if ((earlier.closedAt ?? Number.POSITIVE_INFINITY) > later.connectedAt) continue
    const others = onAddress.get(earlier.address)?.filter((each) => holderOf(each) !== holderOf(later)) ?? []
    const since = earlier.closedAt ?? 0
    assert.ok(
      others.some(({ connectedAt }) => connectedAt >= since && connectedAt <= later.connectedAt + SLACK_MS),
      `${holderOf(later)} lost ${formatIpv4(earlier.address)}, which no other session has held`,
    )
  }
  return returned
}

// The session that took the address may have recorded its time after the device was given another address.
const SLACK_MS = 5_000

describe('two gateways in two processes on one database', { concurrency: 1 }, () => {
  for (const dialect of ['sqlite', 'postgres'] as const) {
    test(
      `never lease an address twice on ${dialect} while they are killed and restarted`,
      { timeout: TIMEOUT_MS },
      async (t) => {
        const operations = Number(process.env['OPERATIONS'] ?? OPERATIONS[dialect])
        const chance = chanceOf(t)
        const { sessions, gateways } = await world(t, dialect)
        const total = () => gateways.reduce((sum, { operations }) => sum + operations, 0)
        for (const gateway of gateways) gateway.start(chance.between(1, 2 ** 31))
        for (let kill = 1; kill <= KILLS; kill++) {
          const goal = (operations * kill) / (KILLS + 1)
          await eventually(`${goal} operations`, () => total() >= goal, PATIENCE)
          const victim = gateways[kill % 2]
          await victim?.kill()
          victim?.start(chance.between(1, 2 ** 31))
        }
        await eventually('all operations', () => total() >= operations, PATIENCE)
        await gateways[0]?.kill()
        await eventually(
          'the sessions of the dead gateway are closed',
          async () => (await sessions.list({ gateway: 'primary' }, { limit: 1 })).items.length === 0,
          PATIENCE,
        )
        assert.equal(await gateways[1]?.stop(), 0, 'the other gateway leaves')

        const past = await history(sessions)
        assert.deepEqual(
          past.filter(({ closedAt }) => closedAt === null),
          [],
        )
        const onAddress = Map.groupBy(past, ({ address }) => address)
        for (const each of onAddress.values()) assertHeldByOne(each)
        const devices = groupedBy(past, holderOf)
        const returned = devices.reduce((sum, each) => sum + assertReturned(each, onAddress), 0)
        t.diagnostic(`${total()} operations, ${past.length} sessions, ${returned} returns`)
        assert.ok(returned > 0)
        const counted = await countAudit(sessions)
        assert.deepEqual(counted, { session_registered: past.length, session_closed: past.length })
      },
    )
  }
})

async function countAudit(sessions: Sessions): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  let after: PagePosition | null = null
  do {
    const page: Awaited<ReturnType<Sessions['audit']>> = await sessions.audit({}, { limit: 1_000, after })
    for (const { event } of page.items) counts[event] = (counts[event] ?? 0) + 1
    after = page.next
  } while (after)
  return counts
}
