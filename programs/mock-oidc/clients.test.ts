import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as oauth from 'oauth4webapi'
import * as client from 'openid-client'
import { systemClock } from '../../src/kernel/clock.ts'
import {
  CLIENT_ID,
  CLIENT_SECRET,
  REDIRECT_URI,
  startTestProvider,
  type TestProvider,
} from '../../test/support/mock-oidc.ts'

// The provider against independent client libraries

const start = (env: Readonly<Record<string, string>> = {}) => startTestProvider(env, systemClock)
const script = (...items: object[]) => ({ MOCK_SCENARIOS: JSON.stringify(items) })
const insecure = { [oauth.allowInsecureRequests]: true }

async function discovered(provider: TestProvider, authentication = client.ClientSecretPost(CLIENT_SECRET)) {
  const options = { execute: [client.allowInsecureRequests, client.enableNonRepudiationChecks] }
  return client.discovery(new URL(provider.url), CLIENT_ID, CLIENT_SECRET, authentication, options)
}

/** The URL that a browser would be redirected to. */
async function redirected(address: URL): Promise<URL> {
  const { headers } = await fetch(address, { redirect: 'manual' })
  return new URL(headers.get('location') ?? '')
}

/** A complete flow of openid-client. */
async function flow(configuration: client.Configuration, scope: string) {
  const verifier = client.randomPKCECodeVerifier()
  const state = client.randomState()
  const nonce = scope.includes('openid') ? client.randomNonce() : undefined
  const address = client.buildAuthorizationUrl(configuration, {
    redirect_uri: REDIRECT_URI,
    scope,
    state,
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...(nonce !== undefined && { nonce }),
  })
  return client.authorizationCodeGrant(configuration, await redirected(address), {
    pkceCodeVerifier: verifier,
    expectedState: state,
    ...(nonce !== undefined && { expectedNonce: nonce, idTokenExpected: true }),
  })
}

test('openid-client completes a flow from discovery to userinfo, with id_token', async () => {
  await using provider = await start()
  const configuration = await discovered(provider)
  assert.equal(configuration.serverMetadata().supportsPKCE(), true)
  const tokens = await flow(configuration, 'openid profile')
  const claims = tokens.claims()
  assert.equal(claims?.iss, provider.url)
  assert.equal(tokens.expires_in, 7200)
  const user = await client.fetchUserInfo(configuration, tokens.access_token, claims.sub)
  assert.equal(user.sub, claims.sub)
  assert.equal(user.email, 'mock.user@example.com')
})

test('openid-client completes a flow without openid, with Basic authentication, and gets no id_token', async () => {
  await using provider = await start()
  const configuration = await discovered(provider, client.ClientSecretBasic(CLIENT_SECRET))
  const tokens = await flow(configuration, 'profile')
  assert.equal(tokens.id_token, undefined)
  const user = await client.fetchUserInfo(configuration, tokens.access_token, client.skipSubjectCheck)
  assert.equal(user.name, 'Mock User')
})

test('openid-client refreshes once; a second use of the token is invalid_grant', async () => {
  await using provider = await start()
  const configuration = await discovered(provider)
  const { refresh_token = '' } = await flow(configuration, 'openid')
  const tokens = await client.refreshTokenGrant(configuration, refresh_token)
  assert.equal(tokens.claims()?.aud, CLIENT_ID)
  assert.equal(tokens.claims()?.nonce, undefined)
  await assert.rejects(client.refreshTokenGrant(configuration, refresh_token), { error: 'invalid_grant' })
})

test('openid-client sees a replayed code as invalid_grant with a description', async () => {
  await using provider = await start()
  const configuration = await discovered(provider)
  const address = client.buildAuthorizationUrl(configuration, {
    redirect_uri: REDIRECT_URI,
    scope: 'profile',
  })
  const callback = await redirected(address)
  await client.authorizationCodeGrant(configuration, callback)
  await assert.rejects(client.authorizationCodeGrant(configuration, callback), {
    error: 'invalid_grant',
    error_description: 'code: this code was already used',
    status: 400,
  })
})

test('openid-client sees a wrong secret as invalid_client with a description', async () => {
  await using provider = await start({ MOCK_CLIENT_SECRET: 'another' })
  await assert.rejects(flow(await discovered(provider), 'openid'), {
    error: 'invalid_client',
    error_description: 'client_secret: wrong secret',
    status: 401,
  })
})

test('openid-client accepts an id_token signed with a rotated key', async () => {
  await using provider = await start(script({ endpoint: 'token', scenario: 'rotated_key' }))
  const tokens = await flow(await discovered(provider), 'openid')
  assert.equal(tokens.claims()?.aud, CLIENT_ID)
})

test('openid-client rejects damaged answers', async () => {
  const damages = ['truncated_json', 'missing_access_token', 'html_error', 'reset']
  await using provider = await start(script(...damages.map((scenario) => ({ endpoint: 'token', scenario }))))
  const configuration = await discovered(provider)
  for (const damage of damages) await assert.rejects(flow(configuration, 'openid'), damage)
  assert.ok(await flow(configuration, 'openid'))
})

test('oauth4webapi completes a flow from discovery to userinfo, with id_token', async () => {
  await using provider = await start()
  const issuer = new URL(provider.url)
  const server = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, insecure))
  const registered: oauth.Client = { client_id: CLIENT_ID }
  const verifier = oauth.generateRandomCodeVerifier()
  const [state, nonce] = [oauth.generateRandomState(), oauth.generateRandomNonce()]
  const address = new URL(server.authorization_endpoint ?? '')
  address.search = new URLSearchParams({
    client_id: CLIENT_ID,
    response_type: 'code',
    redirect_uri: REDIRECT_URI,
    scope: 'openid email',
    state,
    nonce,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  }).toString()
  const parameters = oauth.validateAuthResponse(server, registered, await redirected(address), state)
  const response = await oauth.authorizationCodeGrantRequest(
    server,
    registered,
    oauth.ClientSecretBasic(CLIENT_SECRET),
    parameters,
    REDIRECT_URI,
    verifier,
    insecure,
  )
  const expected = { expectedNonce: nonce, requireIdToken: true }
  const tokens = await oauth.processAuthorizationCodeResponse(server, registered, response, expected)
  await oauth.validateApplicationLevelSignature(server, response, insecure)
  const claims = oauth.getValidatedIdTokenClaims(tokens)
  assert.equal(claims?.nonce, nonce)

  const userinfo = await oauth.userInfoRequest(server, registered, tokens.access_token, insecure)
  const user = await oauth.processUserInfoResponse(server, registered, claims?.sub ?? '', userinfo)
  assert.equal(user.sub, claims?.sub)
})
