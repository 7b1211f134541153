import { signInDomain, type SignInSettings } from '../../src/domains/sign-in/index.ts'
import { usersDomain, type NewUser, type User } from '../../src/domains/users/index.ts'
import { createHttpServer } from '../../src/infra/http/server.ts'
import { OidcProvider, type OidcOptions } from '../../src/infra/oidc/oidc-provider.ts'
import { createPasswords } from '../../src/infra/passwords/pbkdf2.ts'
import { createTokens } from '../../src/infra/tokens/jwt.ts'
import { systemClock, type Clock } from '../../src/kernel/clock.ts'
import type { LogFields, Logger } from '../../src/kernel/logger.ts'
import { noMetrics } from '../../src/kernel/metrics.ts'
import { Secret } from '../../src/kernel/secret.ts'
import type { IdentityProvider } from '../../src/ports/authentication.ts'
import { readOnly } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'
import { CLIENT_ID, CLIENT_SECRET, REDIRECT_URI } from './mock-oidc.ts'
import { NO_SESSIONS, usersOf } from './users.ts'

/** The name of the mock provider's built-in user. */
export const MOCK_USER = 'mock_user_docvalue_0001'

const RULES = { userClaim: 'sub', defaultRoles: [], createUsers: false, syncRoles: false } as const

export interface SignInWorldOptions {
  readonly store: Store
  readonly provider?: IdentityProvider | undefined
  readonly rules?: Partial<SignInSettings>
  readonly clock?: Clock
  readonly readOnly?: boolean
}

/** An api with users and sign-in, as one process has it; several of them may share a store. */
export async function startSignIn(options: SignInWorldOptions) {
  const { provider, rules, clock = systemClock, readOnly: isReadOnly = false } = options
  const { logger, lines } = recordingLogger()
  const signingKey = new Secret('0123456789abcdef0123456789abcdef')
  const tokens = createTokens({ secrets: [signingKey], clock, ttlMs: 3_600_000 })
  const store = isReadOnly ? readOnly(options.store) : options.store
  const shared = { store, clock, logger, metrics: noMetrics }
  const passwords = createPasswords({ iterations: 1 })
  const {
    service: users,
    auth,
    authenticator,
    login,
  } = usersDomain.create({
    vpnPool: '100.64.0.0/16',
    ...shared,
    passwords,
    tokens,
    sessions: NO_SESSIONS,
  })
  const { service: signIn, routes } = signInDomain.create({
    ...shared,
    users,
    auth,
    login,
    settings: provider && { ...RULES, redirectUri: REDIRECT_URI, ...rules, provider },
    readOnly: isReadOnly,
    signingKeys: () => [signingKey],
  })
  const server = await createHttpServer({
    routes,
    identify: () => undefined,
    logger,
    metrics: noMetrics,
    version: '0.0.0',
    readOnly: isReadOnly,
    rateLimitPerMinute: 0,
  })
  const url = `http://${await server.listen({ host: '127.0.0.1', port: 0 })}`
  const committed = usersOf(options.store, users)
  return {
    url,
    signIn,
    users: committed,
    authenticator,
    lines,
    addUser: (wanted: Partial<NewUser> = {}): Promise<User> =>
      committed.create({
        name: MOCK_USER,
        password: 'a heavy brass telescope',
        roles: ['devops'],
        ...wanted,
      }),
    redeem: (ticket: string) => redeemTicket(url, ticket),
    [Symbol.asyncDispose]: () => server.close(),
  }
}

/** The provider at an address, as the platform sees it with the settings of the mock. */
export function providerAt(url: string, options: Partial<OidcOptions> = {}): OidcProvider {
  return new OidcProvider({
    issuer: url,
    clientId: CLIENT_ID,
    clientSecret: new Secret(CLIENT_SECRET),
    redirectUri: REDIRECT_URI,
    scopes: ['openid', 'profile'],
    allowInsecureEndpoints: true,
    clock: systemClock,
    ...options,
  })
}

export function redeemTicket(url: string, ticket: unknown): Promise<Response> {
  return fetch(`${url}/auth/oauth/redeem`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ticket }),
  })
}

/** The ticket in the address that a sign-in leads to. */
export function ticketOf(location: string): string {
  return /#signed-in=([A-Za-z0-9_-]{43})$/.exec(location)?.[1] ?? ''
}

function recordingLogger() {
  const lines: string[] = []
  const write = (fields: LogFields, message: string) =>
    void lines.push(`${message} ${JSON.stringify(fields)}`)
  const logger: Logger = { error: write, warn: write, info: write, debug: write, child: () => logger }
  return { logger, lines }
}

/** Follows redirects as a browser does, one by one, with the cookies of one host. */
export class TestBrowser {
  /** Where the platform is reached, whatever the redirect URI says. */
  readonly #url: string
  cookie = ''

  constructor(url: string) {
    this.#url = url
  }

  /** Opens a page of the platform; `address` may be one of the redirect URI. */
  async open(address: string): Promise<Response> {
    const { pathname, search } = new URL(address, this.#url)
    const response = await fetch(`${this.#url}${pathname}${search}`, {
      redirect: 'manual',
      headers: this.cookie === '' ? {} : { cookie: this.cookie },
    })
    const [written] = response.headers.getSetCookie()
    if (written !== undefined) this.cookie = written.split(';', 1)[0] as string
    return response
  }

  /** Begins a sign-in; returns the address at the provider. */
  async begin(returnTo = '/console/'): Promise<string> {
    const response = await this.open(`/auth/oauth/login?return_to=${encodeURIComponent(returnTo)}`)
    return locationOf(response)
  }

  /** Begins a sign-in and visits the provider; returns the address of the callback. */
  async visitProvider(returnTo?: string): Promise<string> {
    return locationOf(await fetch(await this.begin(returnTo), { redirect: 'manual' }))
  }

  /** A whole sign-in up to the answer of the callback. */
  async signIn(returnTo?: string): Promise<Response> {
    return this.open(await this.visitProvider(returnTo))
  }
}

/** Where a redirect leads; fails for any other response. */
export function locationOf(response: Response): string {
  const location = response.headers.get('location')
  if (response.status === 302 && location !== null) return location
  throw new Error(`no redirect but ${response.status}`)
}
