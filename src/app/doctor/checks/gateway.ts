import type { Config } from '../../../config/config.ts'
import type { ApiAnswer } from '../../../infra/http/api-client/answer-reader.ts'
import { ApiConnection } from '../../../infra/http/api-client/api-connection.ts'
import { trustCertificates } from '../../../infra/http/tls-certificate.ts'
import { IdentitySignature } from '../../../infra/tokens/identity-signature.ts'
import { AppError, errorMessage } from '../../../kernel/errors.ts'
import { newId } from '../../../kernel/ids.ts'
import { silentLogger } from '../../../kernel/logger.ts'
import { printable } from '../../../kernel/text.ts'
import { SECOND } from '../../../kernel/time.ts'
import { jwtSecrets } from '../../signing-keys.ts'
import {
  fault,
  fine,
  NOT_MADE_YET,
  skipped,
  warning,
  type Check,
  type CheckFinding,
  type DoctorParts,
} from '../check.ts'

const TIMEOUT_MS = 5 * SECOND
const IDENTITY = { id: 'doctor', name: 'doctor', roles: [], via: 'headers' } as const

/** Whether the api accepts the requests that a gateway with this configuration passes on. */
export const gatewayCheck: Check = {
  name: 'gateway',
  modules: ['gateway'],
  async run({ loaded: { config }, clock, database }) {
    const { apiUrl } = config.gateway
    if (!config.modules.includes('gateway')) return [skipped('gateway.api_url', 'this process is no gateway')]
    if (apiUrl === undefined)
      return [skipped('gateway.api_url', 'is not set: the api is in the same process')]
    if (!hasKey(config)) return [await withoutKey(database)]
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
      return [withoutAnswer(apiUrl, error instanceof AppError ? (error.cause ?? error) : error)]
    } finally {
      api.close()
    }
  },
}

/** The check of the files names one that cannot be used. */
function hasKey(config: Config): boolean {
  try {
    jwtSecrets(config)
    return true
  } catch {
    return false
  }
}

async function withoutKey(database: DoctorParts['database']): Promise<CheckFinding> {
  const isLost = (await database().catch(() => undefined))?.hasSigningKey === true
  return skipped(
    'signing key',
    isLost
      ? 'is needed: see the finding of the files'
      : `${NOT_MADE_YET}; a gateway on another host than the api needs auth.jwt_secret of the api`,
  )
}

async function recognition(url: string, ask: (path: string) => Promise<ApiAnswer>): Promise<CheckFinding> {
  const { status, text, headers } = await ask('/auth/me')
  const { id, code, message } = fieldsOf(text)
  if (status === 200 && id === IDENTITY.id) return fine(url, 'recognises this gateway')
  // Every error of an api has both.
  if (typeof code !== 'string' || typeof message !== 'string') {
    const said = `HTTP ${status}, ${headers['content-type'] ?? 'without a type'}${excerptOf(text)}`
    return fault(url, 'api_is_other_program', { said })
  }
  if (status !== 401) return warning(url, 'api_answer', { status, message })
  // A gateway passes nobody's identity on; an api has no such page.
  if ((await ask('/tunnels')).status !== 404) return fault(url, 'api_is_gateway')
  return fault(url, 'gateway_unknown')
}

/** What does not speak HTTP closes the connection, or answers with something else. */
function withoutAnswer(url: string, error: unknown): CheckFinding {
  const reason = errorMessage(error)
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (error instanceof Error && error.name === 'HTTPParserError')
    return fault(url, 'api_is_other_program', { said: reason })
  return OTHER_PROTOCOL.has(code)
    ? fault(url, 'api_other_protocol', { reason })
    : warning(url, 'api_unreachable', { reason })
}

/** An api with a certificate that is asked without TLS, and one without that is asked with TLS. */
const OTHER_PROTOCOL: ReadonlySet<string> = new Set([
  'UND_ERR_SOCKET',
  'ECONNRESET',
  'EPROTO',
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'ERR_SSL_PACKET_LENGTH_TOO_LONG',
])

/** The members of an object in JSON; none of anything else. */
function fieldsOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}

/** Enough to recognise a program by. */
function excerptOf(text: string): string {
  const line = printable(text.replaceAll(/\s+/g, ' ').trim())
  return line === '' ? '' : `: ${line.slice(0, EXCERPT_CHARACTERS)}`
}

const EXCERPT_CHARACTERS = 60
