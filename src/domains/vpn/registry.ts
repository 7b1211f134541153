import type { Clock } from '../../kernel/clock.ts'
import { AppError } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { SessionEnd, SessionRegistry, SessionRequest } from '../../ports/session-registry.ts'
import type { Store, Tx } from '../../store/store.ts'
import { formatAddress, parsePool } from './addresses.ts'
import type { PlatformAlerts } from '../../ports/alerts.ts'
import type { EventSink } from '../../ports/events.ts'
import { record } from './audit.ts'
import { createEndingOf } from './ending.ts'
import { markLeft, markSeen, otherRuns, type GatewayRun } from './gateways.ts'
import { lease, openPool } from './leases.ts'
import { CLOSE, presentable, type AuditEntry } from './model.ts'
import { createRefusalLimit, type RefusalLine } from './refusals.ts'
import { hearSessions, insertSession, listUntold, liveOfDevice, liveOfId, markTold } from './store.ts'
import { createUpkeep } from './upkeep.ts'

/** What the registry of one gateway needs of the rest of the platform. */
export interface RegistryDeps {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly gateway: {
    readonly name: string
    /** Where it listens, for people; asked again with every beat. */
    readonly address: () => string
    readonly heartbeatMs: number
  }
  /** The pool as a CIDR: `100.64.0.0/16`. */
  readonly pool: string
  /** How long a released address is kept from others, in milliseconds. */
  readonly coolDownMs: number
  /**
   * Judges a token once more; the user then stays as they are until the transaction has ended. Rejects with
   * `unauthenticated`.
   */
  readonly requireTokenHolder: (tx: Tx, userId: string, token: SessionRequest['token']) => Promise<void>
  readonly events: EventSink<AuditEntry>
  readonly alerts: PlatformAlerts
}

// Each attempt but the last has lost to another transaction that went through.
const ATTEMPTS = 20
const ENDED_AT_ONCE = 1_000
// Others write in between.
const BATCH = 250

const STARTED_ANEW = { code: CLOSE.goingAway, reason: 'the gateway was started anew', isTold: false } as const
const STOPPING = { code: CLOSE.goingAway, reason: 'the gateway is stopping', isTold: true } as const
const REPLACED = {
  code: CLOSE.replaced,
  reason: 'the device has connected again',
  isTold: false,
} as const

export function createSessionRegistry(deps: RegistryDeps): SessionRegistry {
  const { store, clock, logger, events, coolDownMs } = deps
  const pool = parsePool(deps.pool)
  const run: GatewayRun = { runId: newId(), ...deps.gateway }
  const ending = createEndingOf(store, deps)
  const upkeep = createUpkeep({ ...deps, pool, ending })
  const refusals = createRefusalLimit(clock)

  const replace = async (tx: Tx, userId: string, device: string) => {
    const live = await liveOfDevice(tx, userId, device)
    if (live) await ending.end(tx, live, REPLACED)
  }

  const registerIn = async (tx: Tx, { user, token, device: given, remoteAddress }: SessionRequest) => {
    await deps.requireTokenHolder(tx, user.id, token)
    const device = given ?? null
    if (device !== null) await replace(tx, user.id, device)
    const id = newId()
    const holder = { sessionId: id, userId: user.id, device }
    const address = await lease(tx, pool, holder, { now: clock.now(), ms: coolDownMs })
    if (address === undefined) throw poolExhausted(pool.cidr, coolDownMs)
    // Read only now: the address may have been waited for until its last holder had let go of it.
    const now = clock.now()
    const session = {
      id,
      user_id: user.id,
      user_name: user.name,
      device,
      address,
      gateway: run.name,
      run_id: run.runId,
      remote_address: remoteAddress,
      connected_at: now,
    }
    if (!(await insertSession(tx, session))) throw new LostRace()
    const audited = { sessionId: id, userId: user.id, gateway: run.name, remoteAddress, reason: null }
    await record(tx, events, { at: now, event: 'session_registered', ...audited })
    return { id, virtualIp: formatAddress(address), prefixLength: pool.prefixLength }
  }

  const closeIn = async (tx: Tx, { id, code, reason }: SessionEnd) => {
    const session = await liveOfId(tx, id)
    if (session?.run_id === run.runId) await ending.end(tx, session, { code, reason, isTold: true })
  }

  const replaceRun = async (runId: string) => {
    await ending.endRun(runId, STARTED_ANEW)
    await store.write((tx) => markLeft(tx, runId, clock.now()))
  }

  const writeRefusals = async (lines: readonly RefusalLine[]) => {
    if (lines.length === 0) return
    await store.write(async (tx) => {
      for (const line of lines) await record(tx, events, refusalLine(line, run.name, clock.now()))
    })
  }

  /** What others can do as well must not make this gateway look dead. */
  const keepUp = async () => {
    try {
      await upkeep.reclaim()
      await upkeep.watchPool()
      await writeRefusals(refusals.due())
    } catch (error) {
      logger.warn({ error }, 'the upkeep of sessions failed and will be tried again')
    }
  }

  return {
    async join() {
      const earlier = await store.write(async (tx) => {
        await openPool(tx, pool)
        await markSeen(tx, run, clock.now())
        return otherRuns(tx, run)
      })
      for (const other of earlier) await replaceRun(other)
    },

    async register(request) {
      for (let attempt = 1; attempt < ATTEMPTS; attempt++) {
        try {
          return await store.write((tx) => registerIn(tx, request))
        } catch (error) {
          if (!(error instanceof LostRace)) throw error
        }
      }
      throw lostTooOften()
    },

    async close(ends) {
      for (const batch of inBatches(ends)) {
        await store.write(async (tx) => {
          for (const end of batch) await closeIn(tx, end)
        })
      }
    },

    async beat(heard) {
      await store.write((tx) => markSeen(tx, run, clock.now()))
      for (const batch of inBatches(heard)) {
        await store.write((tx) => hearSessions(tx, run.runId, batch))
      }
      await keepUp()
    },

    ended: () => listUntold(store.read, run.runId, ENDED_AT_ONCE),

    async acknowledge(sessionIds) {
      for (const batch of inBatches(sessionIds)) {
        await store.write(async (tx) => {
          for (const id of batch) await markTold(tx, run.runId, id)
        })
      }
    },

    refused: (refusal) => writeRefusals(refusals.take(refusal)),

    async leave() {
      await writeRefusals(refusals.drain())
      await ending.endRun(run.runId, STOPPING)
      await store.write((tx) => markLeft(tx, run.runId, clock.now()))
    },
  }
}

/** Another transaction has connected the same device, or leased the same address, in between. */
class LostRace extends Error {}

function* inBatches<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let start = 0; start < items.length; start += BATCH) yield items.slice(start, start + BATCH)
}

function refusalLine({ remoteAddress, userId, reason }: RefusalLine, gateway: string, at: number) {
  return {
    at,
    event: 'auth_failed',
    sessionId: null,
    userId: userId ?? null,
    gateway,
    remoteAddress,
    reason: presentable(reason),
  } as const
}

function poolExhausted(cidr: string, coolDownMs: number): AppError {
  const message = `No virtual address of ${cidr} is free; try again later.`
  const retryAfterSeconds = Math.max(1, Math.ceil(coolDownMs / 1_000))
  return new AppError('unavailable', 'pool_exhausted', message, { retryAfterSeconds })
}

function lostTooOften(): AppError {
  const message = 'The device connects from several places at once; try again.'
  return new AppError('unavailable', 'store_unavailable', message, { retryAfterSeconds: 1 })
}
