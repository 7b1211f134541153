import type { ListenAddress } from '../../config/address-types.ts'
import type { Config } from '../../config/config.ts'
import { DEFAULT_REDIRECT_URI } from '../../config/schema.ts'

/**
 * Where the api listens besides its own address: where the provider sends browsers back to, when that is the default of the
 * setting and no listener of this process has it. With any other address the administrator decides what serves it.
 */
export function signInAddress({ modules, api, gateway, auth }: Config): ListenAddress | undefined {
  const { issuer, redirectUri } = auth.oidc
  if (issuer === undefined || redirectUri !== DEFAULT_REDIRECT_URI) return undefined
  const { hostname: host, port } = new URL(redirectUri)
  const listeners = [api.listen, ...(modules.includes('gateway') ? [gateway.listen] : [])]
  return listeners.some((each) => each.port === Number(port)) ? undefined : { host, port: Number(port) }
}
