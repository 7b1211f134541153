import type { Secret } from '../../src/kernel/secret.ts'
import { MINUTE } from '../../src/kernel/time.ts'
import type { GatewayAddress } from './addresses.ts'
import { openSession } from './handshake.ts'
import type { VpnReport } from './report.ts'
import type { GatewaySession } from './session.ts'
import { tokenProblem, type TokenSource } from './tokens.ts'
import type { WaitingClock } from './waiting-clock.ts'

/** How long an attempt that was given up may still become a session over there, and replace the one held here. */
const GHOST_MS = MINUTE

export interface AttemptsParts {
  readonly device: string | undefined
  readonly clock: WaitingClock
  readonly tokens: TokenSource
  readonly report: VpnReport
  readonly answerWithinMs: number
  readonly stopping: AbortSignal
}

/** The attempts to open a session. */
export interface Attempts {
  /** One gateway after the other, until one opens a session; each is told of. Never rejects. */
  toAny(gateways: readonly GatewayAddress[]): Promise<GatewaySession | undefined>
  /** That gateway alone, without telling. Never rejects. */
  to(gateway: GatewayAddress): Promise<GatewaySession | undefined>
  /** Whether a session of ours may have come about that nobody knows of. */
  mayHaveGhost(): boolean
}

export function createAttempts(parts: AttemptsParts): Attempts {
  const { device, clock, tokens, report, answerWithinMs: patienceMs, stopping: signal } = parts
  let gaveUpAt = -GHOST_MS

  const open = async (gateway: GatewayAddress, token: Secret) => {
    const result = await openSession({ gateway, token, device, clock, patienceMs, signal })
    if ('kind' in result && result.kind === 'given_up') gaveUpAt = clock.monotonic()
    return result
  }

  const usableToken = async (gateway: GatewayAddress) => {
    try {
      return await tokens.next(signal, () => report.lackingToken(gateway, 'waiting for another token'))
    } catch (error) {
      report.lackingToken(gateway, tokenProblem(error))
      return undefined
    }
  }

  return {
    async toAny(gateways) {
      const token = await usableToken(gateways[0] as GatewayAddress)
      if (!token) return undefined
      let refusals = 0
      for (const gateway of gateways) {
        if (signal.aborted) return undefined
        report.connecting(gateway)
        const result = await open(gateway, token)
        if ('session' in result) return result.session
        report.failed(gateway, result.failure)
        if (result.kind === 'token_refused') refusals += 1
      }
      // One gateway alone may have been set up wrongly; another one may be back soon.
      if (refusals === gateways.length) tokens.refuse(token)
      return undefined
    },

    async to(gateway) {
      const token = await tokens.read().catch(() => undefined)
      const result = token && (await open(gateway, token))
      return result && 'session' in result ? result.session : undefined
    },

    mayHaveGhost: () => clock.monotonic() - gaveUpAt < GHOST_MS,
  }
}
