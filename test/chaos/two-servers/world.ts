// A primary, its standby and their clients in network namespaces; started by ../two-servers.ts in a sandbox of its own.
// Prints the measurements as one line of JSON.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createVpnClient, type VpnClient, type VpnEvent } from '../../../programs/vpn-client/index.ts'
import { createTokens } from '../../../src/infra/tokens/jwt.ts'
import { systemClock } from '../../../src/kernel/clock.ts'
import type { TokenPurpose } from '../../../src/kernel/identity.ts'
import { Secret } from '../../../src/kernel/secret.ts'
import { eventually } from '../../support/eventually.ts'
import {
  runPlatform,
  servePlatform,
  temporaryDirectory,
  type ServedPlatform,
} from '../../support/platform.ts'
import {
  ADDRESSES,
  createNetwork,
  onHost,
  plugIn,
  powerOff,
  setLine,
  unplug,
  type ServerName,
} from './network.ts'

export interface WorldOptions {
  readonly fault: 'stopped' | 'cut off' | 'rebooted'
  readonly clients: number
  readonly heartbeat: string
}

export interface Measurements {
  /** For each client: from the fault to its session at the standby, in milliseconds. */
  readonly away: readonly number[]
  /** For each client: from the return of the primary to its session there. */
  readonly back: readonly number[]
  /** From the return of the primary to the end of the last session of the disabled user at the standby. */
  readonly disabledMs: number
  /** Sessions of other users that ended because of that. */
  readonly othersEnded: number
  /** Sessions of the disabled user that were opened afterwards. */
  readonly disabledAccepted: number
}

const USERS = 10
const DISABLED = 'user-0'
const JWT_SECRET = '9fK2pX7vQmB4tZ8nLw3RsY6jHd0cGaUe'
const PATIENCE = { timeoutMs: 300_000 }
// Clients go back after the standby has learned of the disabled user.
const FAILBACK_AFTER_MS = 15_000
// Long enough that the standby notices that the primary is away.
const AWAY_MS = 8_000

interface Follower {
  readonly user: string
  readonly client: VpnClient
  gateway: string | undefined
  connectedAt: number
  ended: number
}

const tokens = createTokens({ secrets: [new Secret(JWT_SECRET)], clock: systemClock, ttlMs: 3_600_000 })
const urls = { primary: `http://${ADDRESSES.primary}:9991`, standby: `http://${ADDRESSES.standby}:9991` }
const api = `http://${ADDRESSES.primary}:9600`

class World {
  readonly #options: WorldOptions
  readonly #scope: AsyncDisposableStack
  readonly #directories: Readonly<Record<ServerName, string>>
  #primary: ServedPlatform | undefined
  readonly followers: Follower[] = []

  constructor(options: WorldOptions, scope: AsyncDisposableStack) {
    this.#options = options
    this.#scope = scope
    this.#directories = {
      primary: scope.use(temporaryDirectory()).path,
      standby: scope.use(temporaryDirectory()).path,
    }
  }

  async startPrimary(): Promise<void> {
    this.#primary = await this.#serve('primary', 'api,gateway', {
      LISTEN_ADDR: `${ADDRESSES.primary}:9600`,
      GATEWAY_LISTEN_ADDR: `${ADDRESSES.primary}:9991`,
      VPN_IP_POOL: '100.64.0.0/17',
      TRUSTED_PROXIES: '10.99.0.0/24',
    })
  }

  async startStandby(): Promise<void> {
    const tokenFile = join(this.#directories.standby, 'token')
    const [token = ''] = await this.#addUsers()
    writeFileSync(tokenFile, token, { mode: 0o600 })
    await this.#serve('standby', 'gateway', {
      LISTEN_ADDR: `${ADDRESSES.standby}:9991`,
      VPN_IP_POOL: '100.64.128.0/17',
      GATEWAY_MIRROR_FROM: api,
      GATEWAY_MIRROR_TOKEN_FILE: tokenFile,
    })
  }

  /** Every client prefers the primary. */
  connect(userTokens: readonly string[]): void {
    for (let index = 0; index < this.#options.clients; index++) {
      const user = `user-${index % USERS}`
      const token = new Secret(userTokens[index % USERS] ?? '')
      const follow = (event: VpnEvent) => this.#follow(follower, event)
      const client = createVpnClient({
        gateways: [urls.primary, urls.standby],
        readToken: () => token,
        device: `device-${index}`,
        failbackAfterMs: FAILBACK_AFTER_MS,
        onState: follow,
      })
      const follower: Follower = { user, client, gateway: undefined, connectedAt: 0, ended: 0 }
      this.followers.push(follower)
      this.#scope.defer(() => client.stop())
    }
  }

  /** Resolves when these clients are at that gateway; returns when each of them connected. */
  async allAre(name: ServerName, followers: readonly Follower[] = this.followers): Promise<number[]> {
    const isThere = ({ gateway }: Follower) => gateway === urls[name]
    await eventually(`${followers.length} clients at the ${name}`, () => followers.every(isThere), PATIENCE)
    return followers.map(({ connectedAt }) => connectedAt)
  }

  /** The fault; resolves when the primary is away. */
  async fail(): Promise<void> {
    const primary = this.#primary
    if (!primary) throw new Error('the primary was not started')
    if (this.#options.fault === 'stopped') await primary.stop()
    if (this.#options.fault === 'cut off') setLine('primary', 'down')
    if (this.#options.fault !== 'rebooted') return
    unplug('primary')
    await primary.kill()
    powerOff('primary')
  }

  /** Ends the fault. */
  async recover(): Promise<void> {
    if (this.#options.fault === 'cut off') return setLine('primary', 'up')
    if (this.#options.fault === 'rebooted') plugIn('primary')
    await this.startPrimary()
  }

  /** On the host of the primary, which the standby cannot reach. */
  async disableUser(): Promise<void> {
    const { code, stderr } = await runPlatform(['user', 'disable', DISABLED], {
      dataDir: this.#directories.primary,
    })
    if (code !== 0) throw new Error(stderr)
  }

  /** The tokens of the users whose clients connect. */
  async userTokens(): Promise<string[]> {
    const items = await this.#mirrored()
    return Array.from({ length: USERS }, (_, index) => {
      const user = items.find(({ name }) => name === `user-${index}`)
      return sign(user)
    })
  }

  async #addUsers(): Promise<string[]> {
    const names = ['standby', ...Array.from({ length: USERS }, (_, index) => `user-${index}`)]
    for (const name of names) {
      const body = { name, password: 'five quiet otters', roles: [name === 'standby' ? 'service' : 'devops'] }
      const answer = await this.#primary?.call('POST', '/users', { body })
      if (answer?.status !== 201) throw new Error(`no user ${name}: ${answer?.status}`)
    }
    const items = await this.#mirrored()
    return [
      sign(
        items.find(({ name }) => name === 'standby'),
        'mirror',
      ),
    ]
  }

  async #mirrored(): Promise<MirroredItem[]> {
    const answer = await this.#primary?.call('GET', '/users/mirror')
    if (!answer) throw new Error('the primary is not running')
    return ((await answer.json()) as { items: MirroredItem[] }).items
  }

  async #serve(
    name: ServerName,
    modules: string,
    env: Readonly<Record<string, string>>,
  ): Promise<ServedPlatform> {
    const { heartbeat } = this.#options
    const common = { JWT_SECRET, GATEWAY_NAME: name, VPN_HEARTBEAT: heartbeat, ...RATES }
    const dataDir = this.#directories[name]
    const served = await servePlatform({
      dataDir,
      modules,
      env: { ...common, ...env },
      wrapper: onHost(name),
    })
    return this.#scope.use(served)
  }

  #follow(follower: Follower, { state, gateway }: VpnEvent): void {
    if (state === 'connected') {
      follower.gateway = gateway
      follower.connectedAt = performance.now()
    } else if (state === 'disconnected' && follower.gateway === gateway) {
      follower.gateway = undefined
      follower.ended++
    }
  }
}

// All clients have one address; real ones have many.
const RATES = { VPN_CONNECTION_RATE: '10000', VPN_CONNECTION_BURST: '10000' }

interface MirroredItem {
  readonly id: string
  readonly name: string
  readonly roles: readonly ('devops' | 'service' | 'admin' | 'auditor')[]
  readonly token_generation: number
}

function sign(user: MirroredItem | undefined, purpose?: TokenPurpose): string {
  if (!user) throw new Error('the primary does not list the user')
  const { id: userId, name, roles, token_generation: generation } = user
  return tokens.sign({ userId, name, roles, generation, purpose }).token
}

async function measure(options: WorldOptions, scope: AsyncDisposableStack): Promise<Measurements> {
  createNetwork()
  const world = new World(options, scope)
  await world.startPrimary()
  await world.startStandby()
  world.connect(await world.userTokens())
  await world.allAre('primary')

  const failedAt = performance.now()
  const failed = world.fail()
  const away = (await world.allAre('standby')).map((at) => Math.max(0, at - failedAt))
  await failed
  await pause(AWAY_MS)
  await world.disableUser()
  const disabled = world.followers.filter(({ user }) => user === DISABLED)
  const others = world.followers.filter(({ user }) => user !== DISABLED)
  const endedBefore = others.map(({ ended }) => ended)

  await world.recover()
  const returnedAt = performance.now()
  await eventually(
    'the disabled user has no session',
    () => disabled.every(({ gateway }) => gateway === undefined),
    PATIENCE,
  )
  const disabledMs = performance.now() - returnedAt
  const othersEnded = others.filter(
    ({ ended, gateway }, index) => ended !== endedBefore[index] && gateway !== urls.primary,
  ).length
  const back = (await world.allAre('primary', others)).map((at) => Math.max(0, at - returnedAt))
  const disabledAccepted = disabled.filter(({ gateway }) => gateway !== undefined).length
  return { away, back, disabledMs, othersEnded, disabledAccepted }
}

await using scope = new AsyncDisposableStack()
const measurements = await measure(JSON.parse(process.argv[2] ?? '') as WorldOptions, scope)
process.stdout.write(`${JSON.stringify(measurements)}\n`)
