import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '../../kernel/errors.ts'
import { SECOND } from '../../kernel/time.ts'
import type { SessionRegistry } from '../../ports/session-registry.ts'
import { chanceOf, type Chance } from '../../../test/support/random.ts'
import { onEveryDialect } from '../../../test/support/store.ts'
import {
  FIRST_PAGE,
  HEARTBEAT_MS,
  vpnStoreWorld,
  type VpnStoreWorld,
} from '../../../test/support/vpn-store.ts'
import { formatIpv4 } from '../../kernel/addresses.ts'
import { parseRange } from '../pool/index.ts'

const POOL = '100.64.0.0/27'
const COOL_DOWN_MS = 60 * SECOND
const DEAD_MS = 3 * HEARTBEAT_MS
const NAMES = ['primary', 'standby'] as const
// More than the pool has addresses, so that it is exhausted again and again.
const DEVICES = 36
const BUNCH = 12
// Each engine runs the same code; the slower one needs fewer to be caught at what it does differently.
const OPERATIONS = { sqlite: 10_000, postgres: 2_000 }

interface Live {
  readonly ip: string
  /** User and device; undefined for a session of which nothing is remembered. */
  readonly who: string | undefined
  readonly gateway: number
}

interface Released {
  readonly at: number
  readonly who: string | undefined
}

type Outcome = { readonly ip: string; readonly id: string } | 'exhausted'

/** What must be true of the addresses, whatever order things happened in. */
class Model {
  readonly live = new Map<string, Live>()
  readonly released = new Map<string, Released>()
  /** Ends that a gateway has not acknowledged yet. */
  readonly pendingEnds = [new Set<string>(), new Set<string>()]

  release(id: string, at: number): void {
    const session = this.live.get(id)
    assert.ok(session)
    this.live.delete(id)
    this.released.set(session.ip, { at, who: session.who })
  }

  replace(id: string, at: number): void {
    const gateway = this.live.get(id)?.gateway ?? 0
    this.release(id, at)
    this.pendingEnds[gateway]?.add(id)
  }

  heldBy(who: string): string | undefined {
    return [...this.live].find(([, session]) => session.who === who)?.[0]
  }

  sessionsOf(gateway: number): string[] {
    return [...this.live].filter(([, session]) => session.gateway === gateway).map(([id]) => id)
  }

  /** The last address of the device, unless another session has held it since. */
  formerOf(who: string): string | undefined {
    const own = this.live.get(this.heldBy(who) ?? '')?.ip
    const former = [...this.released].filter(([ip, last]) => last.who === who && !this.isHeld(ip))
    return own ?? former.sort(([, one], [, other]) => other.at - one.at)[0]?.[0]
  }

  isHeld(ip: string): boolean {
    return [...this.live.values()].some((session) => session.ip === ip)
  }

  isCooling(ip: string, now: number): boolean {
    const last = this.released.get(ip)
    return last !== undefined && now - last.at < COOL_DOWN_MS
  }
}

interface Connect {
  readonly gateway: number
  readonly user: string
  readonly device: string | undefined
}

const whoOf = ({ user, device }: Connect) => (device === undefined ? undefined : `${user}/${device}`)
const { first, last } = parseRange(POOL)
const ADDRESSES = Array.from({ length: last - first + 1 }, (_, index) => formatIpv4(first + index))

class Run {
  readonly #world: VpnStoreWorld
  readonly #chance: Chance
  readonly #registries: SessionRegistry[]
  readonly #model = new Model()
  operations = 0
  exhausted = 0
  returned = 0

  constructor(world: VpnStoreWorld, chance: Chance, registries: SessionRegistry[]) {
    this.#world = world
    this.#chance = chance
    this.#registries = registries
  }

  async step(): Promise<void> {
    const kind = this.#chance.between(1, 100)
    if (kind <= 2) await this.#crash()
    else if (kind <= 4) await this.#freeze()
    else if (kind <= 24) await this.#wait()
    else await this.#bunch()
  }

  /** Connections and ends side by side, no two of them of the same device. */
  async #bunch(): Promise<void> {
    const { clock } = this.#world
    const connects = this.#someConnects()
    const busy = new Set(connects.map(whoOf))
    const ends = [...this.#model.live]
      .filter(([, { who }]) => (who === undefined || !busy.has(who)) && this.#chance.number() < 0.15)
      .map(([id]) => id)
    this.operations += connects.length + ends.length
    const [outcomes] = await Promise.all([
      Promise.all(connects.map((connect) => this.#connect(connect))),
      Promise.all(ends.map((id) => this.#close(id))),
    ])
    this.#judge(connects, outcomes, ends, clock.now())
  }

  #someConnects(): Connect[] {
    const connects = new Map<string, Connect>()
    for (let index = this.#chance.between(1, BUNCH); index > 0; index--) {
      const number = this.#chance.between(0, DEVICES + 3)
      const device = number < DEVICES ? `d${number}` : undefined
      const key = device ?? `nameless ${index}`
      connects.set(key, {
        gateway: this.#chance.between(0, 1),
        user: number % 2 === 0 ? 'ada' : 'bob',
        device,
      })
    }
    return [...connects.values()]
  }

  async #connect({ gateway, user, device }: Connect): Promise<Outcome> {
    try {
      const session = await this.#registries[gateway]?.register(this.#world.request(user, device))
      assert.ok(session)
      return { ip: session.virtualIp, id: session.id }
    } catch (error) {
      if (error instanceof AppError && error.code === 'pool_exhausted') return 'exhausted'
      throw error
    }
  }

  async #close(id: string): Promise<void> {
    const gateway = this.#model.live.get(id)?.gateway ?? 0
    await this.#registries[gateway]?.close([{ id, code: 1000, reason: 'bye' }])
  }

  #judge(connects: readonly Connect[], outcomes: readonly Outcome[], ends: readonly string[], now: number) {
    const model = this.#model
    const before = new Map([...model.live].map(([, session]) => [session.ip, session.who]))
    const taken = new Map<string, string | undefined>()
    for (const [index, connect] of connects.entries()) {
      const outcome = outcomes[index]
      if (outcome === undefined || outcome === 'exhausted') continue
      const who = whoOf(connect)
      const { ip } = outcome
      assert.ok(ADDRESSES.includes(ip), `${ip} is no address of the pool`)
      assert.ok(!taken.has(ip), `${ip} went to two at once`)
      if (before.has(ip)) assert.ok(who !== undefined && before.get(ip) === who, `${ip} was held`)
      if (model.isCooling(ip, now)) assert.equal(model.released.get(ip)?.who, who ?? '', `${ip} was cooling`)
      taken.set(ip, who)
    }
    for (const [index, connect] of connects.entries()) {
      const former = whoOf(connect) === undefined ? undefined : model.formerOf(whoOf(connect) ?? '')
      const outcome = outcomes[index]
      const isLost = former !== undefined && taken.has(former) && taken.get(former) !== whoOf(connect)
      if (former !== undefined && !isLost) {
        assert.ok(outcome !== 'exhausted' && outcome?.ip === former, `${whoOf(connect)} lost ${former}`)
        this.returned++
      }
      if (outcome === 'exhausted') {
        this.exhausted++
        const free = ADDRESSES.filter((ip) => !before.has(ip) && !taken.has(ip) && !model.isCooling(ip, now))
        assert.deepEqual(free, [], 'refused, so no address is free')
      }
    }
    this.#apply(connects, outcomes, ends, now)
  }

  #apply(connects: readonly Connect[], outcomes: readonly Outcome[], ends: readonly string[], now: number) {
    const model = this.#model
    for (const id of ends) model.release(id, now)
    for (const [index, connect] of connects.entries()) {
      const outcome = outcomes[index]
      const who = whoOf(connect)
      if (outcome === undefined || outcome === 'exhausted') continue
      const replaced = who === undefined ? undefined : model.heldBy(who)
      if (replaced !== undefined) model.replace(replaced, now)
      model.live.set(outcome.id, { ip: outcome.ip, who, gateway: connect.gateway })
      model.released.delete(outcome.ip)
    }
  }

  /** The gateway dies, and is started again: at once, or after the other one has taken it for dead. */
  async #crash(): Promise<void> {
    this.operations++
    const gateway = this.#chance.between(0, 1)
    if (this.#chance.number() < 0.5) await this.#silence(gateway)
    else for (const id of this.#model.sessionsOf(gateway)) this.#model.release(id, this.#world.clock.now())
    this.#model.pendingEnds[gateway]?.clear()
    await this.#world.crash(NAMES[gateway] ?? '')
    this.#registries[gateway] = await this.#world.joined(NAMES[gateway] ?? '')
  }

  /** The gateway stands still until it has lost its sessions, and learns of that when it goes on. */
  async #freeze(): Promise<void> {
    this.operations++
    const gateway = this.#chance.between(0, 1)
    for (const id of this.#model.sessionsOf(gateway)) this.#model.pendingEnds[gateway]?.add(id)
    await this.#silence(gateway)
    await this.check()
    await this.#beat(gateway)
  }

  async #silence(gateway: number): Promise<void> {
    const { clock } = this.#world
    // Seen once more before.
    await this.#beat(1 - gateway)
    clock.advance(DEAD_MS)
    await this.#beat(1 - gateway)
    for (const id of this.#model.sessionsOf(gateway)) this.#model.release(id, clock.now())
  }

  async #beat(gateway: number): Promise<void> {
    const registry = this.#registries[gateway]
    assert.ok(registry)
    await this.#world.beat(registry)
  }

  async #wait(): Promise<void> {
    this.operations++
    this.#world.clock.advance(this.#chance.between(0, HEARTBEAT_MS))
    for (const gateway of this.#registries.keys()) await this.#beat(gateway)
  }

  /** The database says the same as the model. */
  async check(): Promise<void> {
    const { items } = await this.#world.sessions.list({}, FIRST_PAGE)
    const seen = Object.fromEntries(items.map(({ id, address }) => [id, formatIpv4(address)]))
    const expected = Object.fromEntries([...this.#model.live].map(([id, { ip }]) => [id, ip]))
    assert.deepEqual(seen, expected)
    for (const [gateway, registry] of this.#registries.entries()) {
      const ids = (await registry.listEnds()).map(({ id }) => id)
      assert.deepEqual(new Set(ids), this.#model.pendingEnds[gateway])
      await registry.acknowledge(ids)
      this.#model.pendingEnds[gateway]?.clear()
    }
  }
}

onEveryDialect('two gateways', (dialect) => {
  test('never lease an address twice, whatever clients do and gateways suffer', async (t) => {
    const chance = chanceOf(t)
    await using world = await vpnStoreWorld(dialect, { pool: POOL, coolDownMs: COOL_DOWN_MS })
    const run = new Run(world, chance, [await world.joined(NAMES[0]), await world.joined(NAMES[1])])
    while (run.operations < OPERATIONS[dialect]) {
      for (let steps = 0; steps < 5; steps++) await run.step()
      await run.check()
    }
    t.diagnostic(`${run.operations} operations, ${run.exhausted} refused, ${run.returned} returns`)
    assert.ok(run.exhausted > 0 && run.returned > 0)
  })
})
