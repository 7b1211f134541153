import type { Config } from '../../../config/config.ts'
import { readMirrorToken } from '../../../config/secrets.ts'
import { doNetworksOverlap, type MirrorState } from '../../../domains/users/index.ts'
import type { ApiAnswer } from '../../../infra/http/api-client/answer-reader.ts'
import { ApiConnection } from '../../../infra/http/api-client/api-connection.ts'
import { trustCertificates } from '../../../infra/http/tls-certificate.ts'
import { PrimaryUsers } from '../../../infra/mirror/primary.ts'
import { IdentitySignature } from '../../../infra/tokens/identity-signature.ts'
import { systemClock } from '../../../kernel/clock.ts'
import { AppError, errorMessage, errorCode } from '../../../kernel/errors.ts'
import { newId } from '../../../kernel/ids.ts'
import { silentLogger } from '../../../kernel/logger.ts'
import { printable, jsonMembersOf } from '../../../kernel/text.ts'
import { MINUTE, SECOND, toRfc3339 } from '../../../kernel/time.ts'
import { signInSettings } from '../../domains.ts'
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
const EXCERPT_CHARACTERS = 60
const IDENTITY = { id: 'doctor', name: 'doctor', roles: [], via: 'headers' } as const

/** Whether the api accepts the requests that a gateway with this configuration passes on. */
export const gatewayCheck: Check = {
  name: 'gateway',
  modules: ['gateway'],
  async run({ loaded: { config }, clock, knownState }) {
    const { apiUrl } = config.gateway
    if (!config.modules.includes('gateway')) return [skipped('gateway.api_url', 'this process is no gateway')]
    if (apiUrl === undefined)
      return [skipped('gateway.api_url', 'is not set: the api is in the same process')]
    if (!hasKey(config)) return [await missingKey(knownState)]
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
      return [connectionFailure(apiUrl, error instanceof AppError ? (error.cause ?? error) : error)]
    } finally {
      api.close()
    }
  },
}

/** The check of the files names a key that cannot be used. */
function hasKey(config: Config): boolean {
  try {
    jwtSecrets(config)
    return true
  } catch {
    return false
  }
}

async function missingKey(knownState: DoctorParts['knownState']): Promise<CheckFinding> {
  const { hasSigningKey } = await knownState()
  return skipped(
    'signing key',
    hasSigningKey === true
      ? 'is needed: see the finding of the files'
      : `${NOT_MADE_YET}; a gateway on another host than the api needs auth.jwt_secret of the api`,
  )
}

async function recognition(url: string, ask: (path: string) => Promise<ApiAnswer>): Promise<CheckFinding> {
  const { status, text, headers } = await ask('/auth/me')
  const { id, code, message } = jsonMembersOf(text)
  if (status === 200 && id === IDENTITY.id) return fine(url, 'recognises this gateway')
  // Every error of an api has a code and a message.
  if (typeof code !== 'string' || typeof message !== 'string') {
    const answer = `HTTP ${status}, ${headers['content-type'] ?? 'without a type'}${excerptOf(text)}`
    return fault(url, 'api_is_other_program', { said: answer })
  }
  if (status !== 401) return warning(url, 'api_answer', { status, message })
  // A gateway passes nobody's identity on; an api has no such page.
  if ((await ask('/tunnels')).status !== 404) return fault(url, 'api_is_gateway')
  return fault(url, 'gateway_unknown')
}

/** A program that does not speak HTTP closes the connection, or answers with something else. */
function connectionFailure(url: string, error: unknown): CheckFinding {
  const reason = errorMessage(error)
  const code = errorCode(error) ?? ''
  if (error instanceof Error && error.name === 'HTTPParserError')
    return fault(url, 'api_is_other_program', { said: reason })
  return OTHER_PROTOCOL.has(code)
    ? fault(url, 'api_other_protocol', { reason })
    : warning(url, 'api_unreachable', { reason })
}

/** The codes of the errors when a request without TLS reaches an api with a certificate, or the other way round. */
const OTHER_PROTOCOL: ReadonlySet<string> = new Set([
  'UND_ERR_SOCKET',
  'ECONNRESET',
  'EPROTO',
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'ERR_SSL_PACKET_LENGTH_TOO_LONG',
])

/** The beginning of an answer, by which a person may recognise the program. */
function excerptOf(text: string): string {
  const line = printable(text.replaceAll(/\s+/g, ' ').trim())
  return line === '' ? '' : `: ${line.slice(0, EXCERPT_CHARACTERS)}`
}

// A running standby records every ten seconds that its copy is current.
const RECENT_MS = MINUTE

/** Whether a standby can copy the users of its primary, and how old its copy is. */
export const standbyCheck: Check = {
  name: 'standby',
  modules: ['gateway'],
  async run({ loaded: { config }, clock, knownState }) {
    const { mirrorFrom, mirrorTokenFile = '', mirrorMaxAgeMs } = config.gateway
    if (mirrorFrom === undefined) return [skipped('gateway.mirror_from', 'is not set: no standby')]
    const { mirror } = await knownState()
    const token = mirrorToken(mirrorTokenFile)
    return [
      token,
      ...(token.result === 'ok' ? await primary(mirrorFrom, config, mirror?.revision ?? 0) : []),
      userCopyFinding(mirror, mirrorMaxAgeMs, clock.now()),
    ]
  },
}

function mirrorToken(path: string): CheckFinding {
  const subject = `gateway.mirror_token_file ${path}`
  try {
    readMirrorToken(path)
    return fine(subject, 'contains a token')
  } catch (error) {
    return fault(subject, 'mirror_token_unusable', { reason: errorMessage(error) })
  }
}

async function primary(url: string, { gateway, vpn }: Config, since: number): Promise<CheckFinding[]> {
  const { mirrorTokenFile = '' } = gateway
  const users = new PrimaryUsers({ url, readToken: () => readMirrorToken(mirrorTokenFile) })
  try {
    const answer = await users.changesSince(since, AbortSignal.any([]))
    if (answer.outcome === 'changes')
      return [fine(url, 'answers with its users'), pools(vpn.ipPool.text, answer.changes.pool)]
    const result = answer.outcome === 'unreachable' ? warning : fault
    return [result(url, `primary_${answer.outcome}`, { reason: answer.reason })]
  } finally {
    users.close()
  }
}

function pools(own: string, ofPrimary: string): CheckFinding {
  const subject = `vpn.ip_pool ${own}`
  if (!doNetworksOverlap(own, ofPrimary)) return fine(subject, `does not overlap ${ofPrimary} of the primary`)
  return fault(subject, 'pools_overlap', { pool: ofPrimary })
}

function userCopyFinding(state: MirrorState | undefined, maxAgeMs: number, now: number): CheckFinding {
  const confirmedAt = state?.confirmedAt ?? null
  if (confirmedAt === null) return skipped('copy of the users', 'is made by the first start')
  const seconds = Math.max(0, Math.round((now - confirmedAt) / SECOND))
  const at = toRfc3339(confirmedAt)
  if (seconds * SECOND > maxAgeMs) return fault('copy of the users', 'copy_too_old', { seconds, at })
  if (seconds * SECOND <= RECENT_MS)
    return fine('copy of the users', `was current ${seconds} s ago, at ${at}`)
  return warning('copy of the users', 'copy_old', { seconds, at })
}

/** Whether somebody can administer the platform, and whether people can sign in. */
export const signInCheck: Check = {
  name: 'sign-in',
  modules: ['api'],
  run: async (parts) => [await admins(parts), await provider(parts)],
}

async function admins({ loaded: { config }, knownState }: DoctorParts): Promise<CheckFinding> {
  const subject = 'administrators'
  const { hasUsers, hasAdmin } = await knownState()
  if (hasUsers === undefined || hasAdmin === undefined) return skipped(subject, 'needs the database')
  if (config.gateway.mirrorFrom !== undefined) return skipped(subject, 'the users are those of the primary')
  if (!hasUsers) return skipped(subject, 'the first start of the api makes one, and prints the password')
  if (hasAdmin) return fine(subject, 'at least one is enabled')
  return warning(subject, 'admin_missing')
}

async function provider({ loaded: { config } }: DoctorParts): Promise<CheckFinding> {
  const settings = signInSettings(config, systemClock)
  if (!settings) return skipped('auth.oidc.issuer', 'is not set: people sign in with their password')
  const subject = `auth.oidc.issuer ${config.auth.oidc.issuer}`
  const answer = await settings.provider.authorizationUrl(SIGN_IN)
  if (!('reason' in answer)) return fine(subject, 'answers with its metadata')
  const code = answer.outcome === 'unreachable' ? 'provider_unreachable' : 'provider_unusable'
  return fault(subject, code, { reason: answer.reason })
}

/** The doctor asks for the address of a sign-in to learn whether the provider answers; nobody opens it. */
const SIGN_IN = { state: 'doctor', nonce: 'doctor', codeVerifier: 'doctor-'.repeat(7) }
