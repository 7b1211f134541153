import type { Clock } from '../../kernel/clock.ts'
import { AppError } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { formatIpv4 } from '../../kernel/ipv4.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { EventSink } from '../../ports/events.ts'
import type {
  Refusal,
  RegisteredSession,
  SessionEnd,
  SessionNews,
  SessionRegistry,
  SessionRequest,
} from '../../ports/session-registry.ts'
import type { Store, Tx } from '../../store/store.ts'
import { appendAudit } from './audit.ts'
import { auditFields, type SessionCloser } from './closing.ts'
import { GatewayName } from './gateway-name.ts'
import { listOtherRuns, markLeft, markSeen, type GatewayRun } from './gateways.ts'
import { END_CODES, cleanPhrase, type AuditEntry } from './model.ts'
import { RefusalLimit, type RefusalSummary } from './refusals.ts'
import {
  acknowledgeEnd,
  countLiveOfUser,
  findLiveOfDevice,
  findSession,
  insertSession,
  listPendingEnds,
  recordNews,
} from './store.ts'

/** What sessions need of the address pool. An address is one number of four bytes. */
export interface AddressLeases {
  readonly prefixLength: number
  /** Must come before the first lease. Idempotent. */
  open(tx: Tx): Promise<void>
  /** Rejects with `pool_exhausted`. */
  lease(
    tx: Tx,
    holder: { readonly sessionId: string; readonly userId: string; readonly device: string | null },
  ): Promise<number>
  release(tx: Tx, address: number, sessionId: string, at: number): Promise<void>
}

/** What the registry of a gateway needs of the rest of the platform. */
export interface RegistryDeps {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly events: EventSink<AuditEntry>
  readonly pool: AddressLeases
  /** How many live sessions a user may have. */
  readonly sessionsPerUser: number
  /**
   * Checks a token again; its user cannot be changed until the end of the transaction. With the lock `exclusive`
   * transactions that check tokens of one user run one after the other. Rejects with `unauthenticated`.
   */
  readonly requireTokenHolder: (
    tx: Tx,
    userId: string,
    token: SessionRequest['token'],
    lock: 'shared' | 'exclusive',
  ) => Promise<void>
}

/** The gateway that a registry belongs to. */
export interface RegistryGateway {
  readonly name: string
  /** Where it listens, for people; read again with every beat. */
  readonly address: () => string
  readonly heartbeatMs: number
}

// Each attempt but the last has lost to another transaction that was committed.
const MAX_ATTEMPTS = 20
const MAX_ENDS = 1_000
// Other writes run between two batches.
const BATCH = 250
const USER_LIMIT_RETRY_SECONDS = 60
// More than a database has connections by default, so that transactions of one user that run side by side cannot
// exceed the limit together.
const CONCURRENT_REGISTRATIONS = 100

const RESTARTED = {
  code: END_CODES.goingAway,
  reason: 'the gateway was restarted',
  decidedBy: 'elsewhere',
} as const
const STOPPING = {
  code: END_CODES.goingAway,
  reason: 'the gateway is stopping',
  decidedBy: 'gateway',
} as const
const REPLACED = {
  code: END_CODES.replaced,
  reason: 'the device has connected again',
  decidedBy: 'elsewhere',
} as const

/** The sessions of one run of a gateway, in the database. */
export class StoreSessionRegistry implements SessionRegistry {
  readonly #deps: RegistryDeps
  readonly #closer: SessionCloser
  readonly #run: GatewayRun
  readonly #name: GatewayName
  readonly #refusals: RefusalLimit

  constructor(deps: RegistryDeps, closer: SessionCloser, gateway: RegistryGateway) {
    this.#deps = deps
    this.#closer = closer
    this.#run = { runId: newId(), ...gateway }
    this.#name = new GatewayName(deps, gateway)
    this.#refusals = new RefusalLimit(deps.clock)
  }

  async join(): Promise<void> {
    const { store, clock, pool } = this.#deps
    await this.#name.take()
    const earlier = await store.write(async (tx) => {
      await pool.open(tx)
      await markSeen(tx, this.#run, clock.now())
      return listOtherRuns(tx, this.#run)
    })
    for (const runId of earlier) {
      await this.#closer.closeOfRun(runId, RESTARTED)
      await store.write((tx) => markLeft(tx, runId, clock.now()))
    }
  }

  async register(request: SessionRequest): Promise<RegisteredSession> {
    for (let attempt = 1; attempt < MAX_ATTEMPTS; attempt++) {
      try {
        return await this.#deps.store.write((tx) => this.#register(tx, request))
      } catch (error) {
        if (!(error instanceof ConcurrentRegistration)) throw error
      }
    }
    throw tooManyConflicts()
  }

  async close(ends: readonly SessionEnd[]): Promise<void> {
    await this.#inBatches(ends, async (tx, batch) => {
      for (const end of batch) await this.#close(tx, end)
    })
  }

  async beat(news: readonly SessionNews[]): Promise<void> {
    const { store, clock } = this.#deps
    await store.write((tx) => markSeen(tx, this.#run, clock.now()))
    await this.#inBatches(news, (tx, batch) => recordNews(tx, this.#run.runId, batch))
    await this.#name.renew()
    await this.#writeDueRefusals()
  }

  ended(): Promise<SessionEnd[]> {
    return listPendingEnds(this.#deps.store.read, this.#run.runId, MAX_ENDS)
  }

  async acknowledge(sessionIds: readonly string[]): Promise<void> {
    await this.#inBatches(sessionIds, async (tx, batch) => {
      for (const id of batch) await acknowledgeEnd(tx, this.#run.runId, id)
    })
  }

  refused(refusal: Refusal): Promise<void> {
    return this.#writeRefusals(this.#refusals.add(refusal))
  }

  async leave(): Promise<void> {
    const { store, clock } = this.#deps
    await this.#writeRefusals(this.#refusals.takeAll())
    await this.#closer.closeOfRun(this.#run.runId, STOPPING)
    await store.write((tx) => markLeft(tx, this.#run.runId, clock.now()))
    await this.#name.release()
  }

  async #register(tx: Tx, request: SessionRequest): Promise<RegisteredSession> {
    const { pool, clock, events, requireTokenHolder } = this.#deps
    const { user, token, device = null, remoteAddress } = request
    const isNearLimit = (await this.#sessionsLeft(tx, user.id)) <= CONCURRENT_REGISTRATIONS
    await requireTokenHolder(tx, user.id, token, isNearLimit ? 'exclusive' : 'shared')
    if (device !== null) await this.#replace(tx, user.id, device)
    if (isNearLimit) await this.#requireSessionLeft(tx, user)
    const id = newId()
    const address = await pool.lease(tx, { sessionId: id, userId: user.id, device })
    // Read after the lease, which may have waited for the transaction of the last holder.
    const now = clock.now()
    const { runId, name: gateway } = this.#run
    const holder = { id, userId: user.id, userName: user.name, device, address }
    const session = { ...holder, gateway, runId, remoteAddress, connectedAt: now, lastSeenAt: now }
    if (!(await insertSession(tx, session))) throw new ConcurrentRegistration()
    const entry = { ...auditFields(session), at: now, event: 'session_registered', reason: null } as const
    await appendAudit(tx, events, entry)
    return { id, virtualIp: formatIpv4(address), prefixLength: pool.prefixLength }
  }

  async #replace(tx: Tx, userId: string, device: string): Promise<void> {
    const live = await findLiveOfDevice(tx, userId, device)
    if (live) await this.#closer.close(tx, live, REPLACED)
  }

  async #sessionsLeft(tx: Tx, userId: string): Promise<number> {
    return this.#deps.sessionsPerUser - (await countLiveOfUser(tx, userId))
  }

  /** Exact under the exclusive lock of the user. */
  async #requireSessionLeft(tx: Tx, { id, name }: SessionRequest['user']): Promise<void> {
    if ((await this.#sessionsLeft(tx, id)) <= 0) throw tooManySessions(name, this.#deps.sessionsPerUser)
  }

  async #close(tx: Tx, { id, code, reason }: SessionEnd): Promise<void> {
    const session = await findSession(tx, id)
    if (session?.runId !== this.#run.runId) return
    await this.#closer.close(tx, session, { code, reason, decidedBy: 'gateway' })
  }

  /** A failure must not make the beat fail: the summaries are written by a later one. */
  async #writeDueRefusals(): Promise<void> {
    try {
      await this.#writeRefusals(this.#refusals.takeDue())
    } catch (error) {
      this.#deps.logger.warn({ error }, 'refused connections could not be written to the audit trail')
    }
  }

  async #writeRefusals(summaries: readonly RefusalSummary[]): Promise<void> {
    const { store, clock, events } = this.#deps
    if (summaries.length === 0) return
    await store.write(async (tx) => {
      for (const summary of summaries)
        await appendAudit(tx, events, refusalEntry(summary, this.#run.name, clock.now()))
    })
  }

  async #inBatches<T>(
    items: readonly T[],
    work: (tx: Tx, batch: readonly T[]) => Promise<void>,
  ): Promise<void> {
    for (let start = 0; start < items.length; start += BATCH)
      await this.#deps.store.write((tx) => work(tx, items.slice(start, start + BATCH)))
  }
}

/** Another transaction has connected the same device, or leased the same address. */
class ConcurrentRegistration extends Error {}

function refusalEntry({ remoteAddress, user, device, reason }: RefusalSummary, gateway: string, at: number) {
  return {
    at,
    event: 'auth_failed',
    sessionId: null,
    userId: user?.id ?? null,
    userName: user?.name ?? null,
    device: device ?? null,
    virtualIp: null,
    gateway,
    remoteAddress,
    reason: cleanPhrase(reason),
  } as const
}

function tooManySessions(name: string, limit: number): AppError {
  const message = `The user ${JSON.stringify(name)} has ${limit} sessions, as many as vpn.sessions_per_user allows; close one first.`
  return new AppError('rate_limited', 'rate_limited', message, {
    retryAfterSeconds: USER_LIMIT_RETRY_SECONDS,
  })
}

function tooManyConflicts(): AppError {
  const message = 'The device connects from several places at once; try again.'
  return new AppError('unavailable', 'store_unavailable', message, { retryAfterSeconds: 1 })
}
