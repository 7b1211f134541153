import { AppError } from '../../kernel/errors.ts'
import type { IdentityToken } from '../../kernel/identity.ts'
import type { Tx } from '../../store/store.ts'
import { shareToken } from './api-tokens/store.ts'
import { isTokenEnded } from './ended-tokens.ts'

const REMEDIES = { session: 'sign in again', api: 'create another one' } as const

/** The error for a token that was valid and is not any more. */
export function revoked(kind: IdentityToken['kind']): AppError {
  const message = `The token was revoked; ${REMEDIES[kind]}.`
  return new AppError('unauthenticated', 'unauthenticated', message, { tokenFault: 'revoked' })
}

/**
 * Throws `unauthenticated` if the token was ended alone. The caches of a process may still accept it; what lasts longer than a
 * call asks here, in its transaction.
 */
export async function requireLiveToken(
  tx: Tx,
  { kind, id }: Pick<IdentityToken, 'kind' | 'id'>,
): Promise<void> {
  const isLive = kind === 'api' ? await shareToken(tx, id) : !(await isTokenEnded(tx, id))
  if (!isLive) throw revoked(kind)
}
