import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { systemClock } from '../../kernel/clock.ts'
import type { IdentityProvider } from '../../ports/authentication.ts'
import type { DialectName } from '../../store/dialects/capabilities.ts'
import type { Store } from '../../store/store.ts'
import { fakeClock } from '../../../test/support/clock.ts'
import { CLIENT_ID, startTestProvider } from '../../../test/support/mock-oidc.ts'
import { scopeOf } from '../../../test/support/scope.ts'
import {
  locationOf,
  MOCK_USER,
  providerAt,
  redeemTicket,
  startSignIn,
  TestBrowser,
  ticketOf,
  type SignInWorldOptions,
} from '../../../test/support/sign-in.ts'
import { onEveryDialect, repeatingStore, testStore } from '../../../test/support/store.ts'
import { SIGN_IN_FAILURES, type SignInFailure } from './failures.ts'
import { db } from './tables.ts'

interface WorldOptions extends Partial<SignInWorldOptions> {
  readonly dialect?: DialectName
  readonly mock?: Readonly<Record<string, string>>
}

/** A platform and a mock provider; `another` is a further process of the platform. */
async function openWorld(t: TestContext, { dialect = 'sqlite', mock = {}, ...options }: WorldOptions = {}) {
  const scope = scopeOf(t)
  const provider = scope.use(await startTestProvider({ MOCK_LOG: '1', ...mock }, systemClock))
  const { store } = scope.use(await testStore(dialect))
  const start = async () =>
    scope.use(
      await startSignIn({ store: repeatingStore(store), provider: providerAt(provider.url), ...options }),
    )
  const world = await start()
  return { ...world, store, provider, another: start, browser: new TestBrowser(world.url) }
}

/** A provider that identifies everybody by the same claims. */
function providerOf(claims: Readonly<Record<string, unknown>>): IdentityProvider {
  return {
    authorizationUrl: async ({ state }) => ({
      outcome: 'ready',
      url: `https://login.example/?state=${state}`,
    }),
    identify: async () => ({ outcome: 'identified', claims }),
    endSessionUrl: async () => undefined,
  }
}

/** A sign-in at a provider that only gives back the state. */
async function signInBack(browser: TestBrowser, returnTo?: string): Promise<Response> {
  const state = new URL(await browser.begin(returnTo)).searchParams.get('state') ?? ''
  return browser.open(`/auth/oauth/callback?code=c&state=${encodeURIComponent(state)}`)
}

async function readRows({ read }: Store) {
  const on = db(read)
  const tickets = await on.selectFrom('sign_in_tickets').selectAll().execute()
  const answers = await on.selectFrom('sign_in_answers').selectAll().execute()
  return { tickets, answers }
}

async function countRows(store: Store): Promise<{ tickets: number; answers: number }> {
  const { tickets, answers } = await readRows(store)
  return { tickets: tickets.length, answers: answers.length }
}

async function assertFailure(response: Response, failure: SignInFailure): Promise<string> {
  const text = await response.text()
  const { status, title } = SIGN_IN_FAILURES[failure]
  assert.equal(response.status, status, text)
  assert.match(response.headers.get('content-type') ?? '', /^text\/html/)
  assert.ok(text.includes(title), text)
  assert.equal(response.headers.get('location'), null)
  return text
}

async function assertRefusedTicket(response: Response): Promise<void> {
  const { code } = (await response.json()) as { code: string }
  assert.deepEqual([response.status, code], [401, 'invalid_credentials'])
  assert.equal(response.headers.get('www-authenticate'), 'Bearer')
}

onEveryDialect('a sign-in', (dialect) => {
  test('ends with a token of the user, by a ticket in the fragment of the path to come back to', async (t) => {
    const { browser, addUser, redeem, authenticator, users, lines } = await openWorld(t, { dialect })
    const user = await addUser()
    const location = locationOf(await browser.signIn('/console/orders?status=pending'))
    assert.match(location, /^\/console\/orders\?status=pending#signed-in=[\w-]{43}$/)
    const response = await redeem(ticketOf(location))
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('cache-control'), 'no-store')
    const login = (await response.json()) as Record<string, unknown> & { access_token: string; user: object }
    assert.deepEqual(
      [Object.keys(login), login['token_type'], login['expires_in']],
      [['access_token', 'token_type', 'expires_in', 'user'], 'Bearer', 3_600],
    )
    assert.ok('id' in login.user && login.user.id === user.id)
    const holder = await authenticator.holder(login.access_token)
    assert.deepEqual([holder.identity.name, holder.identity.roles], [MOCK_USER, ['devops']])
    assert.notEqual((await users.get(user.id)).lastLoginAt, null)
    assert.ok(lines.some((line) => line.startsWith('sign-in succeeded') && line.includes(user.id)))
  })

  test('gives a ticket that one of two processes redeems, once', async (t) => {
    const { browser, addUser, url, another } = await openWorld(t, { dialect })
    await addUser()
    const other = await another()
    for (let round = 0; round < 5; round++) {
      const ticket = ticketOf(locationOf(await browser.signIn()))
      const responses = await Promise.all(
        [url, other.url, url, other.url].map((address) => redeemTicket(address, ticket)),
      )
      assert.deepEqual(
        responses.map(({ status }) => status).toSorted((a, b) => a - b),
        [200, 401, 401, 401],
      )
      await assertRefusedTicket(await redeemTicket(other.url, ticket))
    }
  })

  test('can be finished by another process, once', async (t) => {
    const { browser, addUser, another, provider } = await openWorld(t, { dialect })
    await addUser()
    const other = new TestBrowser((await another()).url)
    const callback = await browser.visitProvider()
    other.cookie = browser.cookie
    const responses = await Promise.all([browser.open(callback), other.open(callback)])
    assert.deepEqual(
      responses.map(({ status }) => status).toSorted((a, b) => a - b),
      [302, 400],
    )
    const refused = responses.find(({ status }) => status === 400)
    assert.ok(refused)
    await assertFailure(refused, 'replayed')
    await assertFailure(await browser.open(callback), 'replayed')
    assert.equal(provider.lines.filter((line) => line.includes('"endpoint":"token"')).length, 1)
  })

  test('gives a ticket that is valid for 60 seconds', async (t) => {
    const clock = fakeClock()
    const { browser, addUser, redeem, signIn, store } = await openWorld(t, {
      dialect,
      clock,
      provider: providerOf({ sub: MOCK_USER }),
    })
    await addUser()
    const [used, late] = [locationOf(await signInBack(browser)), locationOf(await signInBack(browser))].map(
      ticketOf,
    )
    clock.advance(59_999)
    assert.equal((await redeem(used ?? '')).status, 200)
    clock.advance(1)
    await assertRefusedTicket(await redeem(late ?? ''))
    const again = ticketOf(locationOf(await signInBack(browser)))
    clock.advance(60_000)
    // The refused ticket is removed when it is refused, the other one by the job.
    assert.deepEqual(await countRows(store), { tickets: 1, answers: 3 })
    assert.equal(await signIn.prune(100), false)
    assert.deepEqual(await countRows(store), { tickets: 0, answers: 3 })
    await assertRefusedTicket(await redeem(again))
    clock.advance(600_000)
    assert.equal(await signIn.prune(2), true)
    assert.equal(await signIn.prune(2), false)
    assert.deepEqual(await countRows(store), { tickets: 0, answers: 0 })
  })

  test('removes further expired rows only after a full batch of tickets or of answers', async (t) => {
    const clock = fakeClock()
    const options = { dialect, clock, provider: providerOf({ sub: MOCK_USER }) }
    const { browser, addUser, signIn, store } = await openWorld(t, options)
    await addUser()
    await signInBack(browser)
    clock.advance(600_000)
    assert.deepEqual(await countRows(store), { tickets: 1, answers: 1 })
    assert.equal(await signIn.prune(2), false)
    assert.deepEqual(await countRows(store), { tickets: 0, answers: 0 })
    await signInBack(browser)
    clock.advance(600_000)
    assert.equal(await signIn.prune(1), true)
    assert.equal(await signIn.prune(1), false)
  })

  test('creates a user who has no known password, and sets the roles at every sign-in with sync_roles', async (t) => {
    const claims = { sub: 'Grace', groups: ['ops'] }
    const rules = {
      rolesClaim: 'groups',
      roleMap: { ops: ['devops', 'auditor'], boss: ['admin'] } as const,
      createUsers: true,
      syncRoles: true,
    }
    const { browser, users, redeem, addUser } = await openWorld(t, {
      dialect,
      provider: providerOf(claims),
      rules,
    })
    await addUser({ name: 'root', roles: ['admin'] })
    const first = await redeem(ticketOf(locationOf(await signInBack(browser))))
    assert.equal(first.status, 200)
    const grace = await users.getByName('grace')
    assert.deepEqual([grace.name, grace.roles], ['Grace', ['devops', 'auditor']])
    claims.groups = ['boss']
    const unused = ticketOf(locationOf(await signInBack(browser)))
    assert.deepEqual((await users.get(grace.id)).roles, ['admin'])
    claims.groups = ['ops']
    const last = ticketOf(locationOf(await signInBack(browser)))
    // The change of the roles has ended what was issued before it.
    await assertRefusedTicket(await redeem(unused))
    assert.equal((await redeem(last)).status, 200)
    assert.equal((await users.list({ limit: 10 })).items.length, 2)
  })

  test('removes the roles and ends the tokens of a user to whom the provider gives no role any more', async (t) => {
    const claims = { sub: 'grace', groups: ['devops'] }
    const { browser, users, redeem, addUser, authenticator } = await openWorld(t, {
      dialect,
      provider: providerOf(claims),
      rules: { rolesClaim: 'groups', syncRoles: true },
    })
    const grace = await addUser({ name: 'Grace' })
    const signIn = async () => redeem(ticketOf(locationOf(await signInBack(browser))))
    const { access_token } = (await (await signIn()).json()) as { access_token: string }
    const unused = ticketOf(locationOf(await signInBack(browser)))
    claims.groups = []
    for (let round = 0; round < 2; round++) await assertFailure(await signInBack(browser), 'no_role')
    assert.deepEqual((await users.get(grace.id)).roles, [])
    await assert.rejects(async () => authenticator.holder(access_token), { code: 'unauthenticated' })
    await assertRefusedTicket(await redeem(unused))
    claims.groups = ['auditor']
    assert.equal((await signIn()).status, 200)
    assert.deepEqual((await users.get(grace.id)).roles, ['auditor'])
  })

  test('creates a user once when two sign-ins are the first', async (t) => {
    const world = await openWorld(t, {
      dialect,
      provider: providerOf({ sub: 'grace' }),
      rules: { createUsers: true, defaultRoles: ['auditor'] },
    })
    const { users, another } = world
    const browsers = [new TestBrowser(world.url), new TestBrowser((await another()).url)]
    const locations = (await Promise.all(browsers.map((browser) => signInBack(browser)))).map(locationOf)
    for (const location of locations) assert.equal((await world.redeem(ticketOf(location))).status, 200)
    assert.equal((await users.list({ limit: 10 })).items.length, 1)
  })
})

describe('a failed sign-in shows a page', () => {
  const failing: readonly (readonly [SignInFailure, string, WorldOptions])[] = [
    ['provider_refused', 'token', { mock: { MOCK_TOKEN_MODE: 'idp_error' } }],
    ['answer_unusable', 'token', { mock: { MOCK_TOKEN_MODE: 'http500' } }],
    [
      'provider_unreachable',
      'token',
      { mock: { MOCK_SCENARIOS: '[{"endpoint":"token","scenario":"reset"}]' } },
    ],
    ['unknown_user', 'user', {}],
    ['no_role', 'user', { rules: { createUsers: true } }],
  ]
  for (const [failure, what, options] of failing) {
    test(`${failure} by the ${what}`, async (t) => {
      const { browser, lines } = await openWorld(t, options)
      const text = await assertFailure(await browser.signIn('/console/?a=1'), failure)
      assert.ok(text.includes('href="login?return_to=%2Fconsole%2F%3Fa%3D1"'), text)
      assert.equal(lines.filter((line) => line.startsWith('sign-in failed')).length, 1)
      assert.ok(lines.some((line) => line.includes(`"outcome":"${failure}"`)))
    })
  }

  test('user_disabled, before the callback and before the ticket is redeemed', async (t) => {
    const { browser, addUser, users, redeem } = await openWorld(t)
    const user = await addUser()
    const ticket = ticketOf(locationOf(await browser.signIn()))
    await users.change(user.id, { enabled: false })
    await assertRefusedTicket(await redeem(ticket))
    await assertFailure(await browser.signIn(), 'user_disabled')
  })

  test('last_admin, and the user keeps the role', async (t) => {
    for (const groups of ['auditor', 'none']) {
      const { browser, addUser, users } = await openWorld(t, {
        provider: providerOf({ sub: 'root', groups }),
        rules: { rolesClaim: 'groups', syncRoles: true },
      })
      const root = await addUser({ name: 'root', roles: ['admin'] })
      await assertFailure(await signInBack(browser), 'last_admin')
      assert.deepEqual((await users.get(root.id)).roles, ['admin'])
    }
  })

  test('unusable_name for a text that only looks like the name of a user, with its shape', async (t) => {
    for (const name of ['\u212Aate', 'kate ', '<b>kate</b>']) {
      const { browser, addUser, lines } = await openWorld(t, {
        provider: providerOf({ sub: name }),
        rules: { createUsers: true, defaultRoles: ['admin'] },
      })
      await addUser({ name: 'kate', roles: ['admin'] })
      const text = await assertFailure(await signInBack(browser), 'unusable_name')
      assert.ok(!text.includes('<b>'))
      assert.match(text, /the claim sub has \d+ characters, with .*auth\.oidc\.user_claim/s)
      assert.ok(lines.some((line) => line.includes('the claim sub has')))
    }
  })

  test('answer_unusable without the user claim', async (t) => {
    const { browser } = await openWorld(t, { provider: providerOf({ email: 'a@b.example' }) })
    await assertFailure(await signInBack(browser), 'answer_unusable')
  })

  test('wrong_state for every answer that this browser has not asked for', async (t) => {
    const { browser, addUser, url, provider } = await openWorld(t)
    await addUser()
    const callback = await browser.visitProvider()
    const other = new TestBrowser(url)
    await assertFailure(await other.open(callback), 'wrong_state')
    const foreign = await other.visitProvider()
    await assertFailure(await browser.open(foreign), 'wrong_state')
    for (const query of [
      '',
      '?code=c',
      '?code=c&state=',
      '?code=c&state=x',
      '?error=access_denied',
      '?state=a&state=b',
    ])
      await assertFailure(await browser.open(`/auth/oauth/callback${query}`), 'wrong_state')
    const { searchParams } = new URL(callback)
    const state = searchParams.get('state') ?? ''
    await assertFailure(await browser.open(`${callback}&state=${state}`), 'wrong_state')
    await assertFailure(await browser.open(callback.replace(state, state.toLowerCase())), 'wrong_state')
    assert.deepEqual(
      provider.lines.filter((line) => line.includes('"endpoint":"token"')),
      [],
      'nothing was sent to the provider',
    )
    assert.equal(locationOf(await browser.open(callback)).startsWith('/console/#signed-in='), true)
  })

  test('the code of another browser in one’s own sign-in is refused', async (t) => {
    const { browser, addUser, url } = await openWorld(t)
    await addUser()
    const foreign = new URL(await new TestBrowser(url).visitProvider()).searchParams.get('code') ?? ''
    const callback = new URL(await browser.visitProvider())
    callback.searchParams.set('code', foreign)
    await assertFailure(await browser.open(callback.href), 'provider_refused')
  })

  test('a sign-in is expired after ten minutes', async (t) => {
    const clock = fakeClock()
    const { browser, addUser } = await openWorld(t, { clock, provider: providerOf({ sub: MOCK_USER }) })
    await addUser()
    const states: string[] = []
    for (let begun = 0; begun < 2; begun++)
      states.push(new URL(await browser.begin()).searchParams.get('state') ?? '')
    const [inTime, late] = states.map((state) => `/auth/oauth/callback?code=c&state=${state}`)
    clock.advance(599_999)
    assert.equal((await browser.open(inTime ?? '')).status, 302)
    clock.advance(1)
    await assertFailure(await browser.open(late ?? ''), 'expired')
  })

  test('provider_unreachable when the provider is away at the beginning', async (t) => {
    const { browser } = await openWorld(t, { provider: providerAt('http://127.0.0.1:1') })
    await assertFailure(await browser.open('/auth/oauth/login'), 'provider_unreachable')
  })

  test('unavailable while the platform is read-only, before the browser is sent away', async (t) => {
    const { browser, redeem } = await openWorld(t, { readOnly: true })
    await assertFailure(await browser.open('/auth/oauth/login'), 'unavailable')
    const response = await redeem('x')
    assert.deepEqual(
      [response.status, ((await response.json()) as { code: string }).code],
      [503, 'read_only'],
    )
  })
})

test('several sign-ins of one browser may be open, and end in any order', async (t) => {
  const { browser, addUser } = await openWorld(t)
  await addUser()
  const callbacks = [
    await browser.visitProvider('/one'),
    await browser.visitProvider('/two'),
    await browser.visitProvider('/three'),
  ]
  const locations: string[] = []
  for (const callback of callbacks.toReversed()) locations.push(locationOf(await browser.open(callback)))
  assert.deepEqual(
    locations.map((location) => location.split('#', 1)[0]),
    ['/three', '/two', '/one'],
  )
})

test('a path to come back to that leads elsewhere is refused before the browser is sent away', async (t) => {
  const { browser } = await openWorld(t)
  const hostile = [
    '//evil.example',
    '/\\evil.example',
    '/%09/evil.example',
    '/\t/evil.example',
    'https:evil.example',
    'console',
    '/a#b',
    '/..//evil.example',
    `/${'a'.repeat(2_000)}`,
  ]
  for (const path of hostile) {
    for (const written of [encodeURIComponent(path), path.replace(/[\t#]/g, encodeURIComponent)]) {
      const response = await browser.open(`/auth/oauth/login?return_to=${written}`)
      const { code } = (await response.json()) as { code: string }
      assert.deepEqual([response.status, code], [400, 'validation_failed'], written)
      assert.equal(response.headers.get('location'), null)
      assert.deepEqual(response.headers.getSetCookie(), [])
    }
  }
  for (const query of ['?return_to=/a&return_to=/b', '?return_to=', '?next=/a'])
    assert.equal((await browser.open(`/auth/oauth/login${query}`)).status, 400, query)
  assert.equal((await browser.open('/auth/oauth/login')).status, 302)
})

test('at most 50 sign-ins wait for the provider; the next one is refused with 503', async (t) => {
  const waiting: (() => void)[] = []
  const provider: IdentityProvider = {
    ...providerOf({}),
    identify: () =>
      new Promise((resolve) => waiting.push(() => resolve({ outcome: 'refused', reason: 'access_denied' }))),
  }
  const { browser } = await openWorld(t, { provider })
  const started = Promise.withResolvers<void>()
  const push = waiting.push.bind(waiting)
  waiting.push = (...items) => {
    const count = push(...items)
    if (count === 50) started.resolve()
    return count
  }
  await browser.begin()
  const held = Array.from({ length: 50 }, () => signInBack(browser))
  await started.promise
  await assertFailure(await signInBack(browser), 'busy')
  waiting.forEach((refuse) => refuse())
  for (const response of await Promise.all(held)) await assertFailure(response, 'provider_refused')
})

test('a sign-out leads to the end_session_endpoint of the provider, or to the console without one', async (t) => {
  const { browser, provider } = await openWorld(t)
  const location = (await browser.open('/auth/oauth/logout')).headers.get('location')
  assert.equal(location, `${provider.url}/end_session?client_id=${CLIENT_ID}`)
  const { browser: other } = await openWorld(t, { provider: providerOf({}) })
  const answer = await other.open('/auth/oauth/logout')
  assert.deepEqual([answer.status, answer.headers.get('location')], [302, '/console/'])
})

test('without a provider every operation answers that none is configured', async (t) => {
  const { browser, redeem } = await openWorld(t, { provider: undefined })
  for (const response of [
    await browser.open('/auth/oauth/login'),
    await browser.open('/auth/oauth/callback?code=c&state=s'),
    await redeem('x'),
    await browser.open('/auth/oauth/logout'),
  ]) {
    const { code, message } = (await response.json()) as { code: string; message: string }
    assert.deepEqual([response.status, code], [404, 'sign_in_not_configured'])
    assert.match(message, /auth\.oidc\.issuer/)
  }
})

test('only the right ticket is redeemed', async (t) => {
  const { browser, addUser, url } = await openWorld(t)
  await addUser()
  const ticket = ticketOf(locationOf(await browser.signIn()))
  for (const wrong of [`${ticket}A`, ticket.slice(0, -1), ticket.toLowerCase(), ` ${ticket}`, 'x'])
    await assertRefusedTicket(await redeemTicket(url, wrong))
  for (const wrong of ['', 7, null, [ticket], { ticket }, 'x'.repeat(257)])
    assert.equal((await redeemTicket(url, wrong)).status, 400)
  assert.equal((await redeemTicket(url, ticket)).status, 200)
})

test('neither the log nor a page nor the database has a code, a token, a ticket or the secret of the client', async (t) => {
  const { browser, addUser, redeem, lines, store, url } = await openWorld(t)
  await addUser()
  const callback = await browser.visitProvider()
  const location = locationOf(await browser.open(callback))
  const login = (await (await redeem(ticketOf(location))).json()) as { access_token: string }
  const pages = await Promise.all([browser.open(callback), new TestBrowser(url).open(callback)])
  const { searchParams } = new URL(callback)
  const secrets = [
    searchParams.get('code'),
    searchParams.get('state'),
    ticketOf(location),
    login.access_token,
    'mock_secret_docvalue_0001',
    browser.cookie.split('=')[1],
  ]
  const rows = await readRows(store)
  const texts = [...lines, JSON.stringify(rows), ...(await Promise.all(pages.map((page) => page.text())))]
  for (const secret of secrets) {
    assert.ok(secret)
    for (const text of texts) assert.ok(!text.includes(secret), text)
  }
})
