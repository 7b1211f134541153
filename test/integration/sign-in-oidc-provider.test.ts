import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { startOidcProvider, passProvider } from '../support/oidc-provider.ts'
import { scopeOf } from '../support/scope.ts'
import { locationOf, providerAt, startSignIn, TestBrowser, ticketOf } from '../support/sign-in.ts'
import { testStore } from '../support/store.ts'

// Sign-in with an OpenID provider that is not ours.

async function openWorld(
  t: TestContext,
  options: Omit<Parameters<typeof startOidcProvider>[0], 'account'> = {},
) {
  const scope = scopeOf(t)
  const { issuer } = scope.use(await startOidcProvider({ account: 'ada', ...options }))
  const { store } = scope.use(await testStore('sqlite'))
  const rules = {
    rolesClaim: 'groups',
    roleMap: { ops: ['devops'], boss: ['admin'] },
    createUsers: true,
  } as const
  const world = scope.use(await startSignIn({ store, rules, provider: providerAt(issuer) }))
  return { ...world, browser: new TestBrowser(world.url) }
}

const CLIENTS = [
  ['client_secret_basic', {}],
  ['client_secret_post', { token_endpoint_auth_method: 'client_secret_post' }],
] as const

for (const [what, client] of CLIENTS) {
  test(`a person signs in at oidc-provider, with ${what}`, async (t) => {
    const { browser, redeem, users } = await openWorld(t, { claims: { groups: ['ops'] }, client })
    const callback = await passProvider(await browser.begin('/console/'))
    const location = locationOf(await browser.open(callback))
    assert.match(location, /^\/console\/#signed-in=/)
    assert.equal((await redeem(ticketOf(location))).status, 200)
    assert.deepEqual((await users.getByName('ada')).roles, ['devops'])
    const replayed = await browser.open(callback)
    assert.equal(replayed.status, 400)
  })
}

test('oidc-provider requires PKCE, and refuses a sign-in from which the challenge was removed', async (t) => {
  const { browser } = await openWorld(t)
  const address = new URL(await browser.begin())
  address.searchParams.delete('code_challenge')
  address.searchParams.delete('code_challenge_method')
  const response = await browser.open(await passProvider(address.href))
  assert.equal(response.status, 400)
})

test('oidc-provider refuses the code of another sign-in', async (t) => {
  const { browser, url } = await openWorld(t)
  const other = new TestBrowser(url)
  const foreign = new URL(await passProvider(await other.begin())).searchParams.get('code') ?? ''
  const callback = new URL(await passProvider(await browser.begin()))
  callback.searchParams.set('code', foreign)
  assert.equal((await browser.open(callback.href)).status, 400)
})

test('a person to whom oidc-provider gives no role is refused', async (t) => {
  const { browser } = await openWorld(t, { claims: { groups: ['guests'] } })
  const response = await browser.open(await passProvider(await browser.begin()))
  assert.equal(response.status, 403)
  assert.match(await response.text(), /no role/)
})
