import type * as openidClient from 'openid-client'
import type { ProviderFailure } from '../../ports/identity-provider.ts'
import { ProviderUnreachable } from './bounded-fetch.ts'
import { ForbiddenEndpoint } from './endpoint-rules.ts'

/** The classes of the library, which is loaded only when it is needed. */
export type OidcLibrary = typeof openidClient

/**
 * The failure that an error of the library stands for. `refusal` says whether an error answer refuses the sign-in, as at
 * the token endpoint, or is only an answer that cannot be used.
 */
export function toProviderFailure(
  error: unknown,
  library: OidcLibrary | undefined,
  refusal: 'refused' | 'unusable',
): ProviderFailure {
  if (error instanceof ProviderUnreachable) return { outcome: 'unreachable', reason: error.message }
  if (error instanceof ForbiddenEndpoint) return { outcome: 'unusable', reason: error.message }
  if (library && error instanceof library.AuthorizationResponseError) {
    return { outcome: 'refused', reason: errorCode(error.error) }
  }
  if (library && error instanceof library.ResponseBodyError) {
    const isBusy = error.status === 429 || error.status >= 500
    return {
      outcome: isBusy ? 'unusable' : refusal,
      reason: `${errorCode(error.error)} (HTTP ${error.status})`,
    }
  }
  if (library && error instanceof library.WWWAuthenticateChallengeError) {
    return { outcome: refusal, reason: `HTTP ${error.status} with a challenge` }
  }
  return { outcome: 'unusable', reason: reasonOf(error) }
}

/** RFC 6749, section 5.2: visible ASCII. A text that the provider chooses must not grow the log. */
function errorCode(text: string): string {
  return /^[A-Za-z0-9_.-]{1,64}$/.test(text) ? text : 'an error without a usable code'
}

/**
 * The messages of the library are constant texts; what an answer contains is only in further causes. An inner error of the
 * same code names the claim or the member at fault. The code stands last: the log would take `…JWT…: text` for a secret
 * with its name.
 */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  const code = codeOf(error)
  if (code === undefined) return error.message
  const { message } = error.cause instanceof Error && codeOf(error.cause) === code ? error.cause : error
  return `${message} (${code})`
}

function codeOf(error: Error): string | undefined {
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
