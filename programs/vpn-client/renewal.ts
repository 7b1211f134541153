import { SECOND } from '../../src/kernel/time.ts'
import type { GatewaySession } from './session.ts'
import { isNewer, tokenProblem, type TokenSource } from './tokens.ts'
import type { WaitingClock } from './waiting-clock.ts'

const LOOK_EVERY_MS = 5 * SECOND

export interface RenewalParts {
  readonly session: GatewaySession
  readonly tokens: TokenSource
  readonly clock: WaitingClock
  /** Aborted when the session is over. */
  readonly signal: AbortSignal
  /** A newer token is there, but cannot be used. */
  onProblem(reason: string): void
}

/**
 * Looks for a newer token until the gateway has taken one, or the session is over. A token that was not taken is not
 * sent again, and one that ends no later is never sent: a bad one would end the session (docs/specification.md, Gateway).
 */
export async function renewWhenNewer(parts: RenewalParts): Promise<void> {
  const { session, tokens, clock, signal } = parts
  const onProblem = (reason: string) => signal.aborted || parts.onProblem(reason)
  const sent = new Set<string>()
  while (!signal.aborted) {
    const token = await tokens.read().catch((error: unknown) => void onProblem(tokenProblem(error)))
    if (token && isNewer(token, session.token) && !sent.has(token.reveal()) && !signal.aborted) {
      sent.add(token.reveal())
      const problem = await session.renew(token)
      if (problem === undefined) return
      onProblem(`another token was not taken: ${problem}`)
    }
    await clock.wait(LOOK_EVERY_MS, signal)
  }
}
