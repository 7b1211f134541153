import { systemClock, type WaitingClock } from '../../src/kernel/clock.ts'
import { backoffMs } from '../../src/kernel/waiting.ts'
import { SECOND } from '../../src/kernel/time.ts'
import { Connector } from './connector.ts'
import { parseGatewayAddress, type GatewayAddress } from './addresses.ts'
import type { ResponseFrame } from './frames.ts'
import { noSession } from './pending-requests.ts'
import { StateReport, type VpnEvent } from './state-report.ts'
import { GatewaySession, type RequestOptions, type SessionLoss } from './session.ts'
import { isNewer, tokenProblem, TokenSource, type ReadToken } from './token-source.ts'

/** The pauses while no gateway answers. */
const BACKOFF = { initialMs: SECOND, maximumMs: 30 * SECOND }

/** A session that lasts at least this long resets the backoff. */
const STABLE_MS = 5 * SECOND

/** The clients of a gateway that failed must not all connect to the next one at the same moment. */
const SPREAD_MS = SECOND

// docs/specification.md, Gateway: on to the next within 5 s
const CONNECT_TIMEOUT_MS = 5 * SECOND

// docs/specification.md, Gateway: it goes back to the first once that has answered for 30 s
const FAILBACK_AFTER_MS = 30 * SECOND

/** Requests in flight get this long before the client changes to another gateway. */
const FINISH_REQUESTS_MS = 5 * SECOND

/** How often a newer token is looked for while the present one expires. */
const READ_TOKEN_EVERY_MS = 5 * SECOND

// docs/specification.md, Gateway: close codes
const TOKEN_EXPIRED = 4401
const OPERATOR = 4403
const REPLACED = 4409

export interface VpnClientOptions {
  /** At least one, in order of preference; {@link parseGatewayAddress} throws for one that is not valid. */
  readonly gateways: readonly string[]
  /** Called before every round of attempts and again when the token expires soon; called again when it throws. */
  readonly readToken: ReadToken
  /** Names the device, which keeps its address from session to session: 1–64 of `[A-Za-z0-9._-]`. */
  readonly device?: string | undefined
  /** Whether to return to the first gateway once it has been healthy for a while. Default: true. */
  readonly failback?: boolean | undefined
  /** How long the preferred gateway has to be healthy before the client returns to it, in milliseconds. Default: 30 s. */
  readonly failbackAfterMs?: number | undefined
  /** Called for every change of state; must not throw. */
  readonly onState?: ((event: VpnEvent) => void) | undefined
  readonly clock?: WaitingClock | undefined
  readonly random?: (() => number) | undefined
  /** How long one gateway may take to open a session, in milliseconds. Default: 5 s. */
  readonly answerWithinMs?: number | undefined
}

export interface VpnEnd {
  /** 1000 after `stop`, else the final close code: 4403 (an operator) or 4409 (another client of the device). */
  readonly code: number
  readonly reason: string
}

export interface VpnClient {
  /** Resolves when the client will not connect again. Never rejects. */
  readonly ended: Promise<VpnEnd>
  /**
   * Sends a request to the api through the session and resolves with the response, whatever its status. Rejects with an
   * `AppError` when there is no session, when the session is lost before the response (the api may have acted
   * nevertheless), when the gateway sends an error frame (its code), or when the request exceeds 64 KiB. A request that
   * is not valid (an unknown method, a path without its slash) ends the session, as any bad frame does.
   */
  request(method: string, path: string, options?: RequestOptions): Promise<ResponseFrame>
  /** Closes the session with 1000, within a second; may be called more than once. */
  stop(): Promise<void>
}

/** Keeps a session with the first gateway that answers, until it is stopped; connects at once. */
export function createVpnClient(options: VpnClientOptions): VpnClient {
  return new FailoverClient(options)
}

class FailoverClient implements VpnClient {
  readonly ended: Promise<VpnEnd>
  readonly #gateways: readonly GatewayAddress[]
  readonly #failback: boolean
  readonly #failbackAfterMs: number
  readonly #clock: WaitingClock
  readonly #random: () => number
  readonly #tokens: TokenSource
  readonly #report: StateReport
  readonly #connector: Connector
  readonly #stopping = new AbortController()
  #session: GatewaySession | undefined
  /** Settles when the move to another gateway has succeeded or failed. */
  #move: Promise<GatewaySession | undefined> | undefined
  /** The index of the gateway that the next round begins with. */
  #next = 0
  #failures = 0

  constructor(options: VpnClientOptions) {
    if (options.gateways.length === 0) throw new Error('a VPN client needs at least one gateway')
    this.#gateways = options.gateways.map(parseGatewayAddress)
    this.#failback = options.failback ?? true
    this.#failbackAfterMs = options.failbackAfterMs ?? FAILBACK_AFTER_MS
    this.#clock = options.clock ?? systemClock
    this.#random = options.random ?? Math.random
    this.#tokens = new TokenSource(options.readToken, this.#clock)
    this.#report = new StateReport(options.onState ?? (() => undefined), this.#clock)
    this.#connector = new Connector({
      device: options.device,
      clock: this.#clock,
      tokens: this.#tokens,
      report: this.#report,
      timeoutMs: options.answerWithinMs ?? CONNECT_TIMEOUT_MS,
      stopping: this.#stopping.signal,
    })
    this.ended = this.#run(this.#stopping.signal)
  }

  async request(method: string, path: string, options?: RequestOptions): Promise<ResponseFrame> {
    await this.#move
    if (!this.#session) throw noSession('none is connected')
    return this.#session.request(method, path, options)
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.ended
  }

  async #run(stopping: AbortSignal): Promise<VpnEnd> {
    while (!stopping.aborted) {
      const session = await this.#connector.connectToAny(this.#round())
      const loss = session && (await this.#hold(session, stopping))
      if (loss && this.#isFinal(loss)) return loss
      await this.#clock.wait(this.#pauseMs(loss), stopping)
    }
    return { code: 1000, reason: 'stopped' }
  }

  /** All gateways, beginning after the last one used; after a round without a session, from the first. */
  #round(): GatewayAddress[] {
    const next = this.#next
    this.#next = 0
    return [...this.#gateways.slice(next), ...this.#gateways.slice(0, next)]
  }

  /**
   * Whether the client must not connect again: that would undo the decision of an operator, or of the user at another
   * client.
   */
  #isFinal({ code }: SessionLoss): boolean {
    return code === OPERATOR || (code === REPLACED && !this.#connector.mayHaveLateSession())
  }

  #pauseMs(loss: SessionLoss | undefined): number {
    const wasStable = loss !== undefined && loss.heldMs >= STABLE_MS
    this.#failures = wasStable ? 0 : this.#failures + 1
    return wasStable ? SPREAD_MS * this.#random() : backoffMs(BACKOFF, this.#failures - 1, this.#random)
  }

  /** Resolves when the session, or the last session that replaced it, is lost. */
  async #hold(first: GatewaySession, stopping: AbortSignal): Promise<SessionLoss> {
    let outcome: GatewaySession | SessionLoss = first
    while (outcome instanceof GatewaySession) outcome = await this.#serve(outcome, stopping)
    return outcome
  }

  /** Resolves with the session that replaces this one, or with how this one was lost. */
  async #serve(session: GatewaySession, stopping: AbortSignal): Promise<GatewaySession | SessionLoss> {
    const over = new AbortController()
    this.#begin(session, stopping, over.signal)
    const loss = await Promise.race([session.lost, this.#moveBack(session, over.signal)])
    over.abort()
    // The session may be lost because its successor was opened.
    const successor = await this.#move
    this.#move = undefined
    this.#session = successor
    if (successor) return this.#handOver(session, successor)
    return this.#settleLoss(session, loss ?? (await session.lost))
  }

  #begin(session: GatewaySession, stopping: AbortSignal, over: AbortSignal): void {
    const close = () => void session.close('stopped')
    this.#session = session
    this.#report.connected(session)
    session.whenExpiring((at) => void this.#renew(session, at, over))
    session.whenRenewed(() => this.#report.connected(session))
    stopping.addEventListener('abort', close, { once: true, signal: over })
    if (stopping.aborted) close()
  }

  #handOver(session: GatewaySession, successor: GatewaySession): GatewaySession {
    const reason = 'going back to the first gateway'
    this.#report.lost(session, reason)
    void session.close(reason)
    return successor
  }

  #settleLoss(session: GatewaySession, loss: SessionLoss): SessionLoss {
    this.#report.lost(session, loss.reason)
    const isTokenExpired = loss.code === TOKEN_EXPIRED
    if (isTokenExpired) this.#tokens.markRefused(session.token)
    // An expired token is no fault of the gateway.
    this.#next = (this.#gateways.indexOf(session.gateway) + (isTokenExpired ? 0 : 1)) % this.#gateways.length
    return loss
  }

  /**
   * Reads the token until the gateway has accepted a newer one, or the session is over. A token that was refused is not
   * sent again, and one that expires no later is never sent: a bad one would end the session (docs/specification.md,
   * Gateway).
   */
  async #renew(session: GatewaySession, at: string, over: AbortSignal): Promise<void> {
    const report = (reason: string) => this.#report.expiring(session, reason)
    const reportProblem = (reason: string) => over.aborted || report(reason)
    report(`the token ends at ${at}`)
    const sent = new Set<string>()
    while (!over.aborted) {
      const token = await this.#tokens
        .read()
        .catch((error: unknown) => void reportProblem(tokenProblem(error)))
      if (token && isNewer(token, session.token) && !sent.has(token.reveal()) && !over.aborted) {
        sent.add(token.reveal())
        const problem = await session.renew(token)
        if (problem === undefined) return
        reportProblem(`another token was not accepted: ${problem}`)
      }
      await this.#clock.wait(READ_TOKEN_EVERY_MS, over)
    }
  }

  /** Resolves when a session with the first gateway replaces this one. Never resolves if this one is with the first. */
  async #moveBack(session: GatewaySession, signal: AbortSignal): Promise<undefined> {
    const first = this.#gateways[0] as GatewayAddress
    while (this.#failback && session.gateway !== first && !signal.aborted) {
      await waitUntilHealthy(first.healthUrl, this.#failbackAfterMs, this.#clock, signal)
      if (signal.aborted) break
      this.#move = this.#takeOver(session, first)
      if (await this.#move) return undefined
      this.#move = undefined
    }
    return new Promise<never>(() => undefined)
  }

  /** The session stays until the other one is open: an attempt that fails costs nothing. */
  async #takeOver(session: GatewaySession, gateway: GatewayAddress): Promise<GatewaySession | undefined> {
    await session.finishRequests(FINISH_REQUESTS_MS, this.#stopping.signal)
    const successor = await this.#connector.connectTo(gateway)
    // Set in this turn of the event loop, for requests that wait for the end of the move.
    this.#session = successor ?? session
    return successor
  }
}

const PROBES = 6
const PROBE_TIMEOUT_MS = 3 * SECOND

/** Resolves when a gateway has been healthy for so long without a gap, or when the signal is aborted. Never rejects. */
async function waitUntilHealthy(
  healthUrl: string,
  forMs: number,
  clock: WaitingClock,
  signal: AbortSignal,
): Promise<void> {
  let since: number | undefined
  while (!signal.aborted) {
    since = (await isHealthy(healthUrl, signal)) ? (since ?? clock.monotonic()) : undefined
    if (since !== undefined && clock.monotonic() - since >= forMs) return
    await clock.wait(forMs / PROBES, signal)
  }
}

async function isHealthy(healthUrl: string, signal: AbortSignal): Promise<boolean> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(PROBE_TIMEOUT_MS)])
  try {
    const response = await fetch(healthUrl, { redirect: 'manual', signal: limit })
    await response.body?.cancel()
    return response.ok
  } catch {
    return false
  }
}
