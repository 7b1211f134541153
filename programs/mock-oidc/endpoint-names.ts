/** The path of each endpoint, relative to the issuer. */
export const PATHS = {
  discovery: '/.well-known/openid-configuration',
  authorize: '/authorize',
  token: '/token',
  userinfo: '/userinfo',
  jwks: '/jwks',
  end_session: '/end_session',
} as const

export type EndpointName = keyof typeof PATHS

export const ENDPOINT_NAMES = Object.keys(PATHS) as EndpointName[]
