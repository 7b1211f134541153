import type { WaitingClock } from '../../src/kernel/clock.ts'
import type { Secret } from '../../src/kernel/secret.ts'
import { MINUTE } from '../../src/kernel/time.ts'
import type { GatewayAddress } from './addresses.ts'
import { openSession, type HandshakeResult } from './handshake.ts'
import type { GatewaySession } from './session.ts'
import type { StateReport } from './state-report.ts'
import { tokenProblem, type TokenSource } from './token-source.ts'

/** How long an attempt that timed out may still become a session at the gateway, and replace the one held here. */
const LATE_SESSION_MS = MINUTE

export interface ConnectorDeps {
  readonly device: string | undefined
  readonly clock: WaitingClock
  readonly tokens: TokenSource
  readonly report: StateReport
  /** How long one gateway may take to open a session, in milliseconds. */
  readonly timeoutMs: number
  readonly stopping: AbortSignal
}

/** Opens sessions. */
export class Connector {
  readonly #deps: ConnectorDeps
  #timedOutAt = -LATE_SESSION_MS

  constructor(deps: ConnectorDeps) {
    this.#deps = deps
  }

  /** Tries one gateway after the other until one opens a session, and reports each attempt. Never rejects. */
  async connectToAny(gateways: readonly GatewayAddress[]): Promise<GatewaySession | undefined> {
    const { tokens, report, stopping } = this.#deps
    const token = await this.#usableToken(gateways[0] as GatewayAddress)
    if (!token) return undefined
    let refusals = 0
    for (const gateway of gateways) {
      if (stopping.aborted) return undefined
      report.connecting(gateway)
      const result = await this.#open(gateway, token)
      if ('session' in result) return result.session
      report.failed(gateway, result.failure)
      if (result.kind === 'token_refused') refusals += 1
    }
    // A single refusal may be caused by a wrongly configured gateway, so the token is kept for the others.
    if (refusals === gateways.length) tokens.markRefused(token)
    return undefined
  }

  /** Tries one gateway and reports nothing. Never rejects. */
  async connectTo(gateway: GatewayAddress): Promise<GatewaySession | undefined> {
    const token = await this.#deps.tokens.read().catch(() => undefined)
    const result = token && (await this.#open(gateway, token))
    return result && 'session' in result ? result.session : undefined
  }

  /** Whether a gateway may still open a session for an attempt that timed out here. */
  mayHaveLateSession(): boolean {
    return this.#deps.clock.monotonic() - this.#timedOutAt < LATE_SESSION_MS
  }

  async #open(gateway: GatewayAddress, token: Secret): Promise<HandshakeResult> {
    const { device, clock, timeoutMs, stopping: signal } = this.#deps
    const result = await openSession({ gateway, token, device, clock, timeoutMs, signal })
    if ('kind' in result && result.kind === 'timed_out') this.#timedOutAt = clock.monotonic()
    return result
  }

  async #usableToken(gateway: GatewayAddress): Promise<Secret | undefined> {
    const { tokens, report, stopping } = this.#deps
    try {
      return await tokens.next(stopping, () => report.tokenMissing(gateway, 'waiting for another token'))
    } catch (error) {
      report.tokenMissing(gateway, tokenProblem(error))
      return undefined
    }
  }
}
