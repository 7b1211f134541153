import { AppError } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { formatIpv4 } from '../../kernel/addresses.ts'
import type { EventSink } from '../../ports/events.ts'
import type { RegisteredSession, SessionRequest, SessionToken } from '../../ports/session-registry.ts'
import { lockName, touchedLock } from '../../store/locking.ts'
import type { ServiceDeps, TouchedRow, Tx } from '../../store/store.ts'
import { appendAudit } from './audit.ts'
import { auditFields, closingOf, type SessionCloser } from './closing.ts'
import type { GatewayRun } from './gateways.ts'
import type { AuditEntry } from './model.ts'
import { countLiveOfUser, findLiveOfDevice, insertSession, setSessionToken } from './store.ts'

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
  /** The rows that a registration of that device touches. */
  touches(holder: { readonly userId: string; readonly device: string | null }): TouchedRow[]
  release(tx: Tx, address: number, sessionId: string, at: number): Promise<void>
}

/** What the registry of a gateway needs of the rest of the platform. */
export interface RegistryDeps extends Pick<ServiceDeps, 'store' | 'clock' | 'logger'> {
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
    token: SessionToken,
    lock: 'shared' | 'exclusive',
  ) => Promise<void>
  /** The rows that {@link requireTokenHolder} touches. */
  readonly tokenHolderRows: (userId: string, token: SessionToken) => TouchedRow[]
}

// An attempt is repeated only after another transaction has won the race and was committed.
const MAX_ATTEMPTS = 20
const USER_LIMIT_RETRY_SECONDS = 60
// More than the default number of connections of a database. So concurrent transactions of one user cannot exceed the
// limit together.
const CONCURRENT_REGISTRATIONS = 100

const REPLACED = closingOf('replaced', 'device_reconnected', 'elsewhere')

/** Opens the sessions of one run of a gateway, each in one transaction. */
export class Registrations {
  readonly #deps: RegistryDeps
  readonly #closer: SessionCloser
  readonly #run: GatewayRun

  constructor(deps: RegistryDeps, closer: SessionCloser, run: GatewayRun) {
    this.#deps = deps
    this.#closer = closer
    this.#run = run
  }

  async register(request: SessionRequest): Promise<RegisteredSession> {
    const touches = this.#touches(request)
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      try {
        return await this.#deps.store.write((tx) => this.#register(tx, request), { touches })
      } catch (error) {
        if (!(error instanceof ConcurrentRegistration)) throw error
      }
    }
    throw tooManyConflicts()
  }

  #touches({ user, token, device }: SessionRequest): TouchedRow[] {
    const { pool, tokenHolderRows } = this.#deps
    const locks = device === undefined ? [] : [touchedLock(deviceLock(user.id, device))]
    return [
      ...tokenHolderRows(user.id, token),
      ...locks,
      ...pool.touches({ userId: user.id, device: device ?? null }),
    ]
  }

  /** Renews a session in one transaction with the check, so that whatever ends the token meanwhile finds the session. */
  renew(sessionId: string, userId: string, token: SessionToken): Promise<void> {
    const touches = this.#deps.tokenHolderRows(userId, token)
    const renew = async (tx: Tx) => {
      await this.#deps.requireTokenHolder(tx, userId, token, 'shared')
      await setSessionToken(tx, sessionId, token.token?.id ?? null)
    }
    return this.#deps.store.write(renew, { touches })
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
    const tokenId = token.token?.id ?? null
    const session = { ...holder, tokenId, gateway, runId, remoteAddress, connectedAt: now, lastSeenAt: now }
    if (!(await insertSession(tx, session))) throw new ConcurrentRegistration()
    const entry = {
      ...auditFields(session),
      at: now,
      event: 'session_registered',
      reason: null,
      cause: null,
    } as const
    await appendAudit(tx, events, entry)
    return { id, virtualIp: formatIpv4(address), prefixLength: pool.prefixLength }
  }

  async #replace(tx: Tx, userId: string, device: string): Promise<void> {
    // Without the lock, a session that opens and ends elsewhere meanwhile would be seen neither here nor by the lease, and
    // the device would lose its address.
    await lockName(tx, deviceLock(userId, device))
    const live = await findLiveOfDevice(tx, userId, device)
    if (live) await this.#closer.close(tx, live, REPLACED)
  }

  async #sessionsLeft(tx: Tx, userId: string): Promise<number> {
    return this.#deps.sessionsPerUser - ((await countLiveOfUser(tx, userId)) ?? 0)
  }

  /** Refuses a session above the limit of the user. The count is exact under the exclusive lock of the user. */
  async #requireSessionLeft(tx: Tx, { id, name }: SessionRequest['user']): Promise<void> {
    if ((await this.#sessionsLeft(tx, id)) <= 0) throw tooManySessions(name, this.#deps.sessionsPerUser)
  }
}

function deviceLock(userId: string, device: string): string {
  return `vpn device ${userId} ${device}`
}

/** Another transaction has connected the same device, or leased the same address. */
class ConcurrentRegistration extends Error {}

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
