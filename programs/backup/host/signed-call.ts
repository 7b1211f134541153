import type { Config } from '../../../src/config/config.ts'
import { readJwtSecret } from '../../../src/config/secrets.ts'
import type { Clock } from '../../../src/kernel/clock.ts'
import { identityKeyOf, SIGNATURE_HEADER, signRequest } from '../../../src/kernel/identity-signature.ts'
import type { HttpCall } from '../drive/http.ts'

/** Adds a signature to a call of the platform. May throw when the key cannot be read. */
export type SignCall = (call: HttpCall) => HttpCall

/**
 * Signs with the key of the installation, so that the platform recognises the routine whatever `auth.trusted_proxies` is.
 * Before the first start of the platform there is no key: the call stays unsigned.
 */
export function callSigner({ auth, dataDir }: Pick<Config, 'auth' | 'dataDir'>, clock: Clock): SignCall {
  return (call) => {
    const key = auth.jwtSecrets?.[0] ?? readJwtSecret(dataDir)
    if (!key) return call
    const { pathname, search } = new URL(call.url)
    const { method, headers = {} } = call
    const request = { method, url: `${pathname}${search}`, headers }
    const signature = signRequest(identityKeyOf(key.reveal()), clock.now(), request)
    return { ...call, headers: { ...headers, [SIGNATURE_HEADER]: signature } }
  }
}
