import { ApiConnection } from '../../../infra/http/api-connection.ts'
import { trustCertificates } from '../../../infra/http/trusted-certificates.ts'
import { IdentitySignature } from '../../../infra/tokens/identity-signature.ts'
import { errorMessage } from '../../../kernel/errors.ts'
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
  async run({ loaded: { config }, clock }) {
    const { apiUrl } = config.gateway
    if (!config.modules.includes('gateway')) return [skipped('gateway.api_url', 'this process is no gateway')]
    if (apiUrl === undefined)
      return [skipped('gateway.api_url', 'is not set: the api is in the same process')]
    trustCertificates(config.gateway)
    const signature = new IdentitySignature(jwtSecrets(config), clock)
    const api = new ApiConnection({ url: apiUrl, logger: silentLogger, signature, timeoutMs: TIMEOUT_MS })
    try {
      const request = { method: 'GET', path: '/auth/me', headers: {}, body: undefined }
      const sender = { identity: IDENTITY, requestId: newId() }
      return [answerOf(apiUrl, (await api.ask(request, sender, AbortSignal.timeout(TIMEOUT_MS))).status)]
    } catch (error) {
      return [warning(apiUrl, errorMessage(error), 'start the api, or change gateway.api_url')]
    } finally {
      api.close()
    }
  },
}

function answerOf(url: string, status: number): CheckFinding {
  if (status === 200) return fine(url, 'recognises this gateway')
  if (status !== 401)
    return warning(url, `answered with ${status}`, 'check that gateway.api_url is the address of the api')
  return fault(
    url,
    'does not recognise this gateway, so it refuses every request of a session',
    'give both the same auth.jwt_secret, and set their clocks',
  )
}
