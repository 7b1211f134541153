import type { ApiAnswer } from '../../../infra/http/api-client/answer-reader.ts'
import { ApiConnection } from '../../../infra/http/api-client/api-connection.ts'
import { trustCertificates } from '../../../infra/http/trusted-certificates.ts'
import { IdentitySignature } from '../../../infra/tokens/identity-signature.ts'
import { AppError, errorMessage } from '../../../kernel/errors.ts'
import { newId } from '../../../kernel/ids.ts'
import { silentLogger } from '../../../kernel/logger.ts'
import { SECOND } from '../../../kernel/time.ts'
import { jwtSecrets } from '../../signing-keys.ts'
import { fault, fine, skipped, warning, type Check, type CheckFinding } from '../check.ts'

const TIMEOUT_MS = 5 * SECOND
const IDENTITY = { id: 'doctor', name: 'doctor', roles: [], via: 'headers' } as const

/** Whether the api accepts the requests that a gateway with this configuration passes on. */
export const gatewayCheck: Check = {
  name: 'gateway',
  modules: ['gateway'],
  async run({ loaded: { config }, clock }) {
    const { apiUrl } = config.gateway
    if (!config.modules.includes('gateway')) return [skipped('gateway.api_url', 'this process is no gateway')]
    if (apiUrl === undefined)
      return [skipped('gateway.api_url', 'is not set: the api is in the same process')]
    trustCertificates(config.gateway)
    const signature = new IdentitySignature(jwtSecrets(config), clock)
    const api = new ApiConnection({ url: apiUrl, logger: silentLogger, signature, timeoutMs: TIMEOUT_MS })
    const ask = (path: string) =>
      api.ask(
        { method: 'GET', path, headers: {}, body: undefined },
        { identity: IDENTITY, requestId: newId() },
        AbortSignal.timeout(TIMEOUT_MS),
      )
    try {
      return [await recognition(apiUrl, ask)]
    } catch (error) {
      const reason = errorMessage(error instanceof AppError ? (error.cause ?? error) : error)
      return [warning(apiUrl, 'api_unreachable', { reason })]
    } finally {
      api.close()
    }
  },
}

async function recognition(url: string, ask: (path: string) => Promise<ApiAnswer>): Promise<CheckFinding> {
  const { status, text } = await ask('/auth/me')
  if (status === 200 && isDoctor(text)) return fine(url, 'recognises this gateway')
  if (status === 200) return fault(url, 'api_is_other_program')
  if (status !== 401) return warning(url, 'api_answer', { status })
  // A gateway passes nobody's identity on; an api has no such page.
  if ((await ask('/tunnels')).status !== 404) return fault(url, 'api_is_gateway')
  return fault(url, 'gateway_unknown')
}

/** Whether the answer names the sender, as that of the api does. */
function isDoctor(text: string): boolean {
  try {
    return (JSON.parse(text) as { readonly id?: unknown } | null)?.id === IDENTITY.id
  } catch {
    return false
  }
}
