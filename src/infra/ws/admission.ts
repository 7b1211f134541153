import type { IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../kernel/clock.ts'
import { AppError, readOnlyError } from '../../kernel/errors.ts'
import type { Identity } from '../../kernel/identity.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Authenticator, TokenHolder } from '../../ports/authentication.ts'
import type { Refusal, RegisteredSession, SessionRegistry } from '../../ports/session-registry.ts'
import { peerAddress, type ClientAddress } from '../http/client-address.ts'
import { toAppError } from '../http/errors.ts'
import type { UpgradeRequest } from '../http/raw-requests.ts'
import {
  deviceOf,
  findDevice,
  requireOwnOrigin,
  requireRole,
  requireWebSocket,
  tokenOf,
} from './handshake.ts'
import type { SessionFields, SessionTelemetry } from './telemetry.ts'
import { clientNetwork } from '../../kernel/addresses.ts'
import { SECOND } from '../../kernel/time.ts'
import { TokenBucket, type RateLimit } from '../../kernel/waiting.ts'

interface AdmissionDeps {
  readonly registry: Pick<SessionRegistry, 'register' | 'recordRefusal'>
  readonly authenticator: Pick<Authenticator, 'holder'>
  readonly clientAddress?: ClientAddress
  readonly clock: Clock
  readonly logger: Logger
  readonly telemetry: SessionTelemetry
  /** For each address, or each /64 of IPv6. */
  readonly connectionsPerSecond: number
  readonly connectionBurst: number
  /** Sessions are refused, because they could not be registered. */
  readonly readOnly: boolean
  readonly isStopping: () => boolean
}

/** A session that is registered and has no connection yet. */
export interface Admitted {
  readonly registered: RegisteredSession
  readonly holder: TokenHolder
  readonly fields: SessionFields
}

// A flood of refused connections must not queue more audit lines than the database can write.
const MAX_AUDIT_WRITES = 64
// A single connection waits for one pause, and a group for at most 24 ms.
const GROUPING = { pauseMs: 3, maxPauses: 8 }

/** Decides which connections become sessions. */
export class Admission {
  readonly #deps: AdmissionDeps
  readonly #clientAddress: ClientAddress
  readonly #rate: ConnectionRate
  readonly #registrations = new Coalescer(GROUPING)
  /** The checks that need no token, cheapest first. */
  readonly #checks: readonly ((request: IncomingMessage) => void)[]
  #auditWrites = 0

  constructor(deps: AdmissionDeps) {
    this.#deps = deps
    this.#clientAddress = deps.clientAddress ?? peerAddress
    this.#rate = new ConnectionRate({
      clock: deps.clock,
      perSecond: deps.connectionsPerSecond,
      burst: deps.connectionBurst,
    })
    this.#checks = [
      () => this.#requireOpen(),
      (request) => this.#requireRate(request),
      requireWebSocket,
      requireOwnOrigin,
    ]
  }

  /** Registers the session, or sends the refusal and resolves with undefined. Never rejects. */
  async admit(upgrade: UpgradeRequest): Promise<Admitted | undefined> {
    let holder: TokenHolder | undefined
    try {
      for (const check of this.#checks) check(upgrade.request)
      holder = await this.#deps.authenticator.holder(
        tokenOf(upgrade.request.headers),
        this.#clientAddress(upgrade.request),
      )
      return await this.#register(upgrade, holder)
    } catch (error) {
      this.refuse(upgrade, toAppError(error), holder?.identity)
      return undefined
    }
  }

  /** Sends the refusal and records it. */
  refuse({ request, requestId, ...upgrade }: UpgradeRequest, error: AppError, user?: Identity): void {
    const { logger, telemetry } = this.#deps
    const { code, message: reason, kind, tokenFault } = error
    const remoteAddress = this.#clientAddress(request)
    if (kind === 'internal')
      logger.error({ request_id: requestId, error: error.cause }, 'a session failed to open')
    telemetry.recordRefusal({ code, reason, remote_address: remoteAddress, request_id: requestId })
    if (kind === 'unauthenticated')
      this.#audit({
        remoteAddress,
        user: namesOf(user),
        device: findDevice(request.url ?? ''),
        reason,
        tokenFault,
      })
    upgrade.refuse(error)
  }

  async #register({ request, requestId }: UpgradeRequest, holder: TokenHolder): Promise<Admitted> {
    requireRole(holder)
    const { identity, generation, issuedAt } = holder
    const device = deviceOf(request.url ?? '')
    const remoteAddress = this.#clientAddress(request)
    await this.#registrations.join()
    const registered = await this.#deps.registry.register({
      user: { id: identity.id, name: identity.name },
      token: { generation, issuedAt, token: identity.token },
      device,
      remoteAddress,
    })
    const fields = {
      session_id: registered.id,
      user_id: identity.id,
      device: device ?? null,
      virtual_ip: registered.virtualIp,
      remote_address: remoteAddress,
      request_id: requestId,
    }
    return { registered, holder, fields }
  }

  #requireOpen(): void {
    if (this.#deps.readOnly) throw readOnlyError()
    if (this.#deps.isStopping()) throw stopping()
  }

  #requireRate(request: IncomingMessage): void {
    const waitSeconds = this.#rate.take(this.#clientAddress(request))
    if (waitSeconds !== undefined) throw tooManyConnections(waitSeconds)
  }

  #audit(refusal: Refusal): void {
    const { registry, logger } = this.#deps
    if (this.#auditWrites >= MAX_AUDIT_WRITES) return
    this.#auditWrites++
    registry
      .recordRefusal(refusal)
      .catch((error: unknown) =>
        logger.warn({ error }, 'a refused connection could not be written to the audit trail'),
      )
      .finally(() => this.#auditWrites--)
  }
}

function namesOf(user: Identity | undefined): Refusal['user'] {
  return user && { id: user.id, name: user.name }
}

/** The gateway is stopping and takes no more sessions. */
export function stopping(): AppError {
  return new AppError('unavailable', 'draining', 'The gateway is stopping; connect to another one.')
}

function tooManyConnections(retryAfterSeconds: number): AppError {
  const message = 'Too many connections from this address.'
  return new AppError('rate_limited', 'rate_limited', message, { retryAfterSeconds })
}

interface CoalescerOptions {
  /** A group continues when no call has joined it for this time, in milliseconds. */
  readonly pauseMs: number
  /** How many pauses a group waits at most. */
  readonly maxPauses: number
}

/**
 * Lets calls that arrive within a few milliseconds continue in the same turn of the event loop. Node.js accepts one
 * connection in each turn: without this, a thousand sessions that connect at once would need a thousand transactions, each
 * with its own write to disk.
 */
export class Coalescer {
  readonly #pauseMs: number
  readonly #maxPauses: number
  #joined = 0
  #group: Promise<void> | undefined

  constructor({ pauseMs, maxPauses }: CoalescerOptions) {
    this.#pauseMs = pauseMs
    this.#maxPauses = maxPauses
  }

  /** Resolves together with the calls that arrive meanwhile. */
  join(): Promise<void> {
    this.#joined++
    this.#group ??= this.#gather()
    return this.#group
  }

  async #gather(): Promise<void> {
    for (let seen = 0, pauses = 0; seen < this.#joined && pauses < this.#maxPauses; pauses++) {
      seen = this.#joined
      await sleep(this.#pauseMs)
    }
    this.#joined = 0
    this.#group = undefined
  }
}

interface ConnectionRateOptions {
  readonly clock: Clock
  readonly perSecond: number
  /** How many may connect at once. */
  readonly burst: number
  /** How many networks are remembered at most. */
  readonly maxNetworks?: number
}

const MAX_NETWORKS = 50_000

/** A token bucket for each network of a client (see {@link clientNetwork}), in the memory of this process. */
export class ConnectionRate {
  readonly #clock: Clock
  readonly #limit: RateLimit
  readonly #maxNetworks: number
  readonly #buckets = new Map<string, TokenBucket>()

  constructor({ clock, perSecond, burst, maxNetworks = MAX_NETWORKS }: ConnectionRateOptions) {
    this.#clock = clock
    this.#limit = { burst, everyMs: SECOND / perSecond }
    this.#maxNetworks = maxNetworks
  }

  /** Counts a connection; undefined when it is allowed, otherwise the seconds until the next one is. */
  take(address: string): number | undefined {
    const network = clientNetwork(address)
    const bucket = this.#buckets.get(network) ?? new TokenBucket(this.#limit, this.#clock.monotonic)
    this.#store(network, bucket)
    const waitMs = bucket.take()
    return waitMs === 0 ? undefined : waitMs / SECOND
  }

  // The bucket that was used longest ago is the fullest: dropping it gives an attacker the least.
  #store(network: string, bucket: TokenBucket): void {
    this.#buckets.delete(network)
    if (this.#buckets.size >= this.#maxNetworks) this.#buckets.delete(this.#buckets.keys().next().value ?? '')
    this.#buckets.set(network, bucket)
  }
}
