import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Provider, type Configuration } from 'oidc-provider'
import { CLIENT_ID, CLIENT_SECRET, REDIRECT_URI } from './mock-oidc.ts'

/** An OpenID provider that is not ours. Everybody signs in as the account of the option. */
export async function startOidcProvider({
  account,
  claims = {},
  client = {},
}: {
  readonly account: string
  readonly claims?: Readonly<Record<string, unknown>>
  readonly client?: Readonly<Record<string, unknown>>
}): Promise<AsyncDisposable & { readonly issuer: string }> {
  const server = createServer()
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider = new Provider(issuer, configurationOf(account, claims, client))
  const answer = provider.callback()
  server.on('request', (request, response) => {
    if (!request.url?.startsWith('/interaction/')) return void answer(request, response)
    void finishInteraction(provider, account, request, response)
  })
  return {
    issuer,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}

function configurationOf(account: string, claims: object, client: object): Configuration {
  return {
    clients: [
      { client_id: CLIENT_ID, client_secret: CLIENT_SECRET, redirect_uris: [REDIRECT_URI], ...client },
    ],
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false } },
    claims: { openid: ['sub'], profile: Object.keys(claims) },
    cookies: { keys: ['a key of the tests'] },
    findAccount: () => ({ accountId: account, claims: () => ({ sub: account, ...claims }) }),
  }
}

/** Signs the account in and grants what the client asks for, as a person would with two forms. */
async function finishInteraction(
  provider: Provider,
  accountId: string,
  ...[request, response]: Parameters<Provider['interactionFinished']> extends [infer Q, infer S, ...unknown[]]
    ? [Q, S]
    : never
): Promise<void> {
  const { prompt, params, session } = await provider.interactionDetails(request, response)
  if (prompt.name === 'login') {
    await provider.interactionFinished(request, response, { login: { accountId } })
    return
  }
  const grant = new provider.Grant({
    accountId: session?.accountId ?? accountId,
    clientId: String(params['client_id']),
  })
  grant.addOIDCScope(String(params['scope']))
  await provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } })
}

/** Follows a browser's way through a provider that has pages and cookies of its own; returns the address of the callback. */
export async function passProvider(address: string): Promise<string> {
  const cookies = new Map<string, string>()
  let next = address
  while (!next.startsWith(REDIRECT_URI)) {
    const response = await fetch(next, {
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
    })
    for (const cookie of response.headers.getSetCookie()) {
      const [pair = ''] = cookie.split(';', 1)
      const at = pair.indexOf('=')
      cookies.set(pair.slice(0, at), pair.slice(at + 1))
    }
    const location = response.headers.get('location')
    if (location === null)
      throw new Error(`the provider answered ${response.status} ${await response.text()}`)
    next = new URL(location, next).href
  }
  return next
}
