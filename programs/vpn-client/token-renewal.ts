import type { WaitingClock } from '../../src/kernel/clock.ts'
import { SECOND } from '../../src/kernel/time.ts'
import type { GatewaySession } from './session.ts'
import { isNewer, tokenProblem, type TokenSource } from './token-source.ts'

const READ_EVERY_MS = 5 * SECOND

export interface RenewalParts {
  readonly session: GatewaySession
  readonly tokens: TokenSource
  readonly clock: WaitingClock
  /** Aborted when the session is over. */
  readonly signal: AbortSignal
  /** Called when there is a newer token that cannot be used. */
  onProblem(reason: string): void
}

/**
 * Reads the token until the gateway has accepted a newer one, or the session is over. A token that was refused is not
 * sent again, and one that expires no later is never sent: a bad one would end the session (docs/specification.md,
 * Gateway).
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
      onProblem(`another token was not accepted: ${problem}`)
    }
    await clock.wait(READ_EVERY_MS, signal)
  }
}
