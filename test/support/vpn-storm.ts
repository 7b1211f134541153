// A gateway's registry in a process of its own, with clients that connect and leave at random until standard input
// ends; then it leaves. Each line that it writes is a number of operations done since the line before.
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { systemClock } from '../../src/kernel/clock.ts'
import { AppError } from '../../src/kernel/errors.ts'
import { silentLogger } from '../../src/kernel/logger.ts'
import { noMetrics } from '../../src/kernel/metrics.ts'
import { Secret } from '../../src/kernel/secret.ts'
import type { SessionRegistry } from '../../src/ports/session-registry.ts'
import { openStore } from '../../src/store/open.ts'
import { chanceFrom } from './random.ts'
import { vpnOn, type VpnSettings } from './vpn-store.ts'

export interface StormOptions {
  /** A path of SQLite, or a URL of PostgreSQL. */
  readonly database: string
  readonly gateway: string
  readonly settings: VpnSettings & { readonly heartbeatMs: number }
  readonly userIds: readonly string[]
  readonly devices: number
  readonly seed: number
}

const CLIENTS = 8
const REPORT_EVERY = 20
// A client would retry after these errors.
const RETRYABLE = ['pool_exhausted', 'store_unavailable']

const options = JSON.parse(process.argv[2] ?? '') as StormOptions
const { userIds, devices, settings } = options
const chance = chanceFrom(options.seed)
const store = await openStore({
  database: options.database.startsWith('postgres')
    ? { kind: 'postgres', url: new Secret(options.database) }
    : { kind: 'sqlite', path: options.database },
  clock: systemClock,
  metrics: noMetrics,
  logger: silentLogger,
})
const { sessions, registryOf } = vpnOn(store, systemClock, settings)
const registry: SessionRegistry = registryOf(options.gateway)
const live = new Set<string>()
let stopping = false
let operations = 0

/** `false` when the work failed with an error that a client would retry. */
const attempt = async (work: () => Promise<void>): Promise<boolean> => {
  try {
    await work()
    return true
  } catch (error) {
    if (!(error instanceof AppError) || !RETRYABLE.includes(error.code)) throw error
    return false
  }
}

/** On a busy machine the database may not answer in time. */
const untilDone = async (work: () => Promise<void>) => {
  while (!(await attempt(work))) await pause(100)
}

const connect = () =>
  attempt(async () => {
    const number = chance.between(0, devices + 2)
    const id = chance.pick(userIds)
    const session = await registry.register({
      user: { id, name: 'a user' },
      token: { generation: 1, issuedAt: systemClock.now() },
      device: number < devices ? `d${number}` : undefined,
      remoteAddress: '192.0.2.10',
    })
    live.add(session.id)
  })

const disconnect = () =>
  attempt(async () => {
    const ids = [...live].filter(() => chance.number() < 0.2)
    for (const id of ids) live.delete(id)
    await registry.close(ids.map((id) => ({ id, code: 1000, reason: 'bye' })))
  })

const client = async () => {
  while (!stopping) {
    await (chance.number() < 0.7 ? connect() : disconnect())
    if (++operations % REPORT_EVERY === 0) process.stdout.write(`${REPORT_EVERY}\n`)
  }
}

const lookForEnds = () =>
  attempt(async () => {
    const ids = (await registry.listEnds()).map(({ id }) => id)
    for (const id of ids) live.delete(id)
    await registry.acknowledge(ids)
  })

const every = async (ms: number, work: () => Promise<unknown>) => {
  while (!stopping) {
    await work()
    await pause(ms)
  }
}

process.stdin.resume()
void once(process.stdin, 'end').then(() => (stopping = true))
await untilDone(() => registry.join())
await Promise.all([
  ...Array.from({ length: CLIENTS }, client),
  every(settings.heartbeatMs / 3, () => attempt(() => registry.beat([]))),
  every(settings.heartbeatMs / 6, lookForEnds),
  every(settings.heartbeatMs / 6, () => attempt(async () => void (await sessions.reclaim()))),
])
await untilDone(() => registry.leave())
await store.close()
