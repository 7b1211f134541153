import { systemClock } from '../../../kernel/clock.ts'
import { signInSettings } from '../../domains.ts'
import { fault, fine, skipped, warning, type Check, type CheckFinding, type DoctorParts } from '../check.ts'

/** Whether somebody can administer the platform, and whether people can sign in. */
export const signInCheck: Check = {
  name: 'sign-in',
  modules: ['api'],
  run: async (parts) => [await admins(parts), await provider(parts)],
}

async function admins({ loaded: { config }, database }: DoctorParts): Promise<CheckFinding> {
  const subject = 'administrators'
  const { hasUsers, hasAdmin } = (await database().catch(() => undefined))?.activity ?? {}
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
  const { outcome, ...answer } = await settings.provider.authorizationUrl(NOT_USED)
  if (!('reason' in answer)) return fine(subject, 'answers with its metadata')
  const { reason } = answer
  return outcome === 'unreachable'
    ? fault(subject, 'provider_unreachable', { reason })
    : fault(subject, 'provider_unusable', { reason })
}

/** The address is not used, only what it is made of. */
const NOT_USED = { state: 'doctor', nonce: 'doctor', codeVerifier: 'doctor-'.repeat(7) }
