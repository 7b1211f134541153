import { randomBytes } from 'node:crypto'
import type { LoadedConfig } from '../../config/config.ts'
import type { Users } from '../../domains/users/index.ts'
import { AppError } from '../../kernel/errors.ts'
import type { Secret } from '../../kernel/secret.ts'
import { MINUTE } from '../../kernel/time.ts'
import { quickCheck } from '../../store/quick-check.ts'
import { ownUrl } from '../own-listeners.ts'
import { COMMAND_LINE } from './context.ts'
import { withUsers, type UsersContext } from './user.ts'

/** The user of the self-check: with the role that can do least, and a password that nobody knows. */
export const SELFCHECK_USER = 'backup-selfcheck'
const PASSWORD_BYTES = 48
const TOKEN_LIFETIME_MS = MINUTE

/** What the self-check of the nightly routine needs of the platform that is configured on this server. */
export function selfcheckParts(loaded: LoadedConfig) {
  const { database, modules, gateway, worker, api, readOnly } = loaded.config
  return {
    gatewayUrl:
      modules.includes('gateway') && gateway.tls.certFile === undefined ? ownUrl(gateway.listen) : undefined,
    hasWorker: modules.includes('worker'),
    workerUrls: [
      ...(worker.listen ? [worker.listen] : []),
      api.tls.certFile === undefined ? api.listen : api.localListen,
    ].map(ownUrl),
    isReadOnly: readOnly,
    signToken: () => signToken(loaded),
    checkDatabase: (signal: AbortSignal) => quickCheck(database, signal),
  }
}

/** A short-lived token for the gateway, which accepts only users that exist. */
function signToken(loaded: LoadedConfig): Promise<Secret> {
  return withUsers({ env: {} }, loaded, async ({ change, users, auth }) => {
    await ensureUser(change, users)
    const { token } = await auth.issueToken(SELFCHECK_USER, TOKEN_LIFETIME_MS)
    return token
  })
}

async function ensureUser(change: UsersContext['change'], users: Users): Promise<void> {
  if (await users.findByName(SELFCHECK_USER)) return
  const password = randomBytes(PASSWORD_BYTES).toString('base64url')
  const account = await users.prepareAccount({ name: SELFCHECK_USER, password, roles: ['auditor'] })
  const created = change('backup.selfcheck', undefined, (tx) => users.create(tx, account, COMMAND_LINE))
  await created.catch((error: unknown) => {
    // Another self-check was faster.
    if (!hasCode(error, 'user_exists')) throw error
  })
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof AppError && error.code === code
}
