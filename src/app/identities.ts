import type { Config } from '../config/config.ts'
import { readOrCreateJwtSecret } from '../config/secrets.ts'
import { createAuth, createUserService, type Auth, type Users } from '../domains/users/index.ts'
import { createPasswords } from '../infra/passwords/pbkdf2.ts'
import { createTokens, type Tokens } from '../infra/tokens/jwt.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Logger } from '../kernel/logger.ts'
import type { Metrics } from '../kernel/metrics.ts'
import type { Secret } from '../kernel/secret.ts'
import type { Store, Tx } from '../store/store.ts'

export interface IdentityParts {
  /** Signs the tokens. */
  readonly secret: Secret
  readonly tokenTtlMs: number
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
  /** Ends the sessions of a user together with the tokens. */
  readonly sessions: { endOf(tx: Tx, userId: string, reason: string): Promise<void> }
}

/** The configured secret of the tokens, or the one that the data directory keeps. */
export function jwtSecret({ auth, dataDir }: Config): Secret {
  return auth.jwtSecret ?? readOrCreateJwtSecret(dataDir)
}

/** Users and their tokens, wired alike for the api and for the command line. */
export function createIdentities({ secret, tokenTtlMs, ...parts }: IdentityParts): {
  users: Users
  auth: Auth
  tokens: Tokens
} {
  const passwords = createPasswords()
  const tokens = createTokens({ secret, clock: parts.clock, ttlMs: tokenTtlMs })
  const users = createUserService({ ...parts, passwords })
  return { users, tokens, auth: createAuth({ ...parts, users, passwords, tokens }) }
}
