import { backoffMs } from '../../src/kernel/retry.ts'
import { SECOND } from '../../src/kernel/time.ts'
import { createAttempts, type Attempts } from './attempts.ts'
import { parseGatewayAddress, type GatewayAddress } from './addresses.ts'
import type { ResponseFrame } from './frames.ts'
import { noSession } from './pending-requests.ts'
import { answersSteadily } from './probe.ts'
import { renewWhenNewer } from './renewal.ts'
import { createVpnReport, type VpnEvent, type VpnReport } from './report.ts'
import { GatewaySession, type RequestOptions, type SessionLoss } from './session.ts'
import { createTokenSource, type ReadToken, type TokenSource } from './tokens.ts'
import { systemWaitingClock, type WaitingClock } from './waiting-clock.ts'

/** While no gateway answers. */
const BACKOFF = { initialMs: SECOND, maximumMs: 30 * SECOND }

/** A session that held for this long was sound; one that ends sooner does not reset the backoff. */
const SOUND_MS = 5 * SECOND

/** The clients of a gateway that died do not all knock at the next one in the same instant. */
const SPREAD_MS = SECOND

// docs/specification.md, Gateway: on to the next within 5 s
const ANSWER_WITHIN_MS = 5 * SECOND

// docs/specification.md, Gateway: it goes back to the first once that has answered for 30 s
const TRUSTED_AFTER_MS = 30 * SECOND

/** What is in flight gets this long before the session goes over to another gateway. */
const QUIET_MS = 5 * SECOND

// docs/specification.md, Gateway
const TOKEN_OVER = 4401
const OPERATOR = 4403
const REPLACED = 4409

export interface VpnClientOptions {
  /** At least one, most wanted first; see {@link parseGatewayAddress}, which throws for what is none. */
  readonly gateways: readonly string[]
  /** Called before every round of attempts and again when the token ends soon; may throw, then it is asked again. */
  readonly readToken: ReadToken
  /** Names the device, which gets the same address back: 1–64 of `[A-Za-z0-9._-]`. */
  readonly device?: string | undefined
  /** Whether to go back to the first gateway once that has answered for a while. Default: true. */
  readonly failback?: boolean | undefined
  /** For how long it has to have answered then. Default: 30 s. */
  readonly trustedAfterMs?: number | undefined
  /** Told of changes only; must not throw. */
  readonly onState?: ((event: VpnEvent) => void) | undefined
  readonly clock?: WaitingClock | undefined
  readonly random?: (() => number) | undefined
  /** How long one gateway may take to open a session. Default: 5 s. */
  readonly answerWithinMs?: number | undefined
}

export interface VpnEnd {
  /** 1000 after `stop`, else the final close code: 4403 (an operator) or 4409 (another client of the device). */
  readonly code: number
  readonly reason: string
}

export interface VpnClient {
  /** Resolves when the client will not connect any more. Never rejects. */
  readonly ended: Promise<VpnEnd>
  /**
   * Sends a request to the api through the session and answers the api's response, whatever its status. Rejects with
   * an `AppError` when there is no session, when the session is lost before the answer (the api may have acted
   * nevertheless), when the gateway answers with an error frame (its code), or when the request exceeds 64 KiB. What is
   * no request (an unknown method, a path without its slash) ends the session, as any bad frame does.
   */
  request(method: string, path: string, options?: RequestOptions): Promise<ResponseFrame>
  /** Closes the session with 1000, within a second; may be called more than once. */
  stop(): Promise<void>
}

/** Holds a session with the first gateway that answers, until it is stopped; begins at once. */
export function createVpnClient(options: VpnClientOptions): VpnClient {
  return new FailoverClient(options)
}

class FailoverClient implements VpnClient {
  readonly ended: Promise<VpnEnd>
  readonly #gateways: readonly GatewayAddress[]
  readonly #failback: boolean
  readonly #trustedAfterMs: number
  readonly #clock: WaitingClock
  readonly #random: () => number
  readonly #tokens: TokenSource
  readonly #report: VpnReport
  readonly #attempts: Attempts
  readonly #stopping = new AbortController()
  #session: GatewaySession | undefined
  /** Settles when the move to another gateway has succeeded or failed. */
  #move: Promise<GatewaySession | undefined> | undefined
  /** Where the next round begins. */
  #next = 0
  #failures = 0

  constructor(options: VpnClientOptions) {
    if (options.gateways.length === 0) throw new Error('a VPN client needs at least one gateway')
    this.#gateways = options.gateways.map(parseGatewayAddress)
    this.#failback = options.failback ?? true
    this.#trustedAfterMs = options.trustedAfterMs ?? TRUSTED_AFTER_MS
    this.#clock = options.clock ?? systemWaitingClock
    this.#random = options.random ?? Math.random
    this.#tokens = createTokenSource(options.readToken, this.#clock)
    this.#report = createVpnReport(options.onState ?? (() => undefined), this.#clock)
    this.#attempts = createAttempts({
      device: options.device,
      clock: this.#clock,
      tokens: this.#tokens,
      report: this.#report,
      answerWithinMs: options.answerWithinMs ?? ANSWER_WITHIN_MS,
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
      const session = await this.#attempts.toAny(this.#round())
      const loss = session && (await this.#hold(session, stopping))
      if (loss && this.#isFinal(loss)) return loss
      await this.#clock.wait(this.#pauseMs(loss), stopping)
    }
    return { code: 1000, reason: 'stopped' }
  }

  /** All gateways, the one behind the last one first; when that round came to nothing, from the beginning again. */
  #round(): GatewayAddress[] {
    const next = this.#next
    this.#next = 0
    return [...this.#gateways.slice(next), ...this.#gateways.slice(0, next)]
  }

  /** Connecting again would undo what somebody has decided: an operator, or the user at another client. */
  #isFinal({ code }: SessionLoss): boolean {
    return code === OPERATOR || (code === REPLACED && !this.#attempts.mayHaveGhost())
  }

  #pauseMs(loss: SessionLoss | undefined): number {
    const wasSound = loss !== undefined && loss.heldMs >= SOUND_MS
    this.#failures = wasSound ? 0 : this.#failures + 1
    return wasSound ? SPREAD_MS * this.#random() : backoffMs(BACKOFF, this.#failures - 1, this.#random)
  }

  /** Until the session is lost, or the last of those that took its place. */
  async #hold(first: GatewaySession, stopping: AbortSignal): Promise<SessionLoss> {
    let outcome: GatewaySession | SessionLoss = first
    while (outcome instanceof GatewaySession) outcome = await this.#serve(outcome, stopping)
    return outcome
  }

  /** Answers the session that took its place, or how it was lost. */
  async #serve(session: GatewaySession, stopping: AbortSignal): Promise<GatewaySession | SessionLoss> {
    const over = new AbortController()
    this.#begin(session, stopping, over.signal)
    const loss = await Promise.race([session.lost, this.#movedBack(session, over.signal)])
    over.abort()
    // It may have been lost to the very session that takes its place.
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
    const isTokenOver = loss.code === TOKEN_OVER
    if (isTokenOver) this.#tokens.refuse(session.token)
    // The gateway is not to blame for a token that is over.
    this.#next = (this.#gateways.indexOf(session.gateway) + (isTokenOver ? 0 : 1)) % this.#gateways.length
    return loss
  }

  async #renew(session: GatewaySession, at: string, signal: AbortSignal): Promise<void> {
    const tell = (reason: string) => this.#report.expiring(session, reason)
    tell(`the token ends at ${at}`)
    await renewWhenNewer({ session, tokens: this.#tokens, clock: this.#clock, signal, onProblem: tell })
  }

  /** Resolves once another session is there to take the place of this one; never, while it is at the right place. */
  async #movedBack(session: GatewaySession, signal: AbortSignal): Promise<undefined> {
    const first = this.#gateways[0] as GatewayAddress
    while (this.#failback && session.gateway !== first && !signal.aborted) {
      await answersSteadily(first.healthUrl, this.#trustedAfterMs, this.#clock, signal)
      if (signal.aborted) break
      this.#move = this.#takeOver(session, first)
      if (await this.#move) return undefined
      this.#move = undefined
    }
    return new Promise<never>(() => undefined)
  }

  /** The session stays until the other one is there: an attempt that fails costs nothing. */
  async #takeOver(session: GatewaySession, gateway: GatewayAddress): Promise<GatewaySession | undefined> {
    await session.quiet(QUIET_MS, this.#stopping.signal)
    const successor = await this.#attempts.to(gateway)
    // In this turn, for requests that wait for the end of the move.
    this.#session = successor ?? session
    return successor
  }
}
