import { errorMessage } from '../../src/kernel/errors.ts'
import { backoffMs } from '../../src/kernel/retry.ts'
import type { Secret } from '../../src/kernel/secret.ts'
import { MINUTE, SECOND } from '../../src/kernel/time.ts'
import type { WaitingClock } from './waiting-clock.ts'

export type ReadToken = () => Secret | Promise<Secret>

/** Looking at a file costs nothing; whoever puts a new one there sees the effect at once. */
const LOOK_AGAIN = { initialMs: SECOND, maximumMs: 5 * SECOND }

/** A clock may have been wrong, there or here: then the same token becomes good by itself. */
const TRY_REFUSED_AGAIN_MS = 5 * MINUTE

/** RFC 6750, section 2.1: what may stand behind `Bearer`. Anything else would break the header. */
const BEARER = /^[A-Za-z0-9._~+/-]+=*$/

export interface TokenSource {
  /** The token as it stands there now; throws, without the token, when there is none. */
  read(): Promise<Secret>
  /** {@link TokenSource.read}, but waits while it is the one that was refused last. Resolves at once when aborted. */
  next(signal: AbortSignal, onWaiting: () => void): Promise<Secret>
  /** A gateway did not take it. */
  refuse(token: Secret): void
}

export function createTokenSource(readToken: ReadToken, clock: WaitingClock): TokenSource {
  let refused: { readonly token: string; readonly at: number } | undefined

  const read = async () => {
    const token = await readToken()
    if (!BEARER.test(token.reveal())) throw new Error('what stands there is no token')
    return token
  }
  const isRefused = (token: Secret) =>
    refused !== undefined &&
    refused.token === token.reveal() &&
    clock.monotonic() - refused.at < TRY_REFUSED_AGAIN_MS

  return {
    read,
    async next(signal, onWaiting) {
      let token = await read()
      if (isRefused(token)) onWaiting()
      for (let attempt = 0; isRefused(token) && !signal.aborted; attempt += 1) {
        await clock.wait(
          backoffMs(LOOK_AGAIN, attempt, () => 1),
          signal,
        )
        token = await read()
      }
      return token
    },
    refuse(token) {
      refused = { token: token.reveal(), at: clock.monotonic() }
    },
  }
}

/** Whether a token ends later than another, as far as they say so; what is no JWT is never newer. */
export function isNewer(candidate: Secret, current: Secret): boolean {
  const end = endOf(candidate)
  return end !== undefined && end > (endOf(current) ?? 0)
}

function endOf(token: Secret): number | undefined {
  const [, payload = ''] = token.reveal().split('.')
  try {
    const { exp } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { exp?: unknown }
    return typeof exp === 'number' ? exp : undefined
  } catch {
    return undefined
  }
}

/** The same text without the token, wherever a server may have put it. */
export function withoutToken(text: string, token: Secret): string {
  return text.replaceAll(token.reveal(), String(token))
}

/** Why a token cannot be had. */
export function tokenProblem(error: unknown): string {
  return `the token cannot be read: ${errorMessage(error)}`
}
