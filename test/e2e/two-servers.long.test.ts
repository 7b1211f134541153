import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { createTokens } from '../../src/infra/tokens/jwt.ts'
import type { Role, TokenPurpose } from '../../src/kernel/identity.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { Secret } from '../../src/kernel/secret.ts'
import { connect, openSession, PATIENT, refusedBy } from '../integration/gateway/socket.ts'
import { eventually } from '../support/eventually.ts'
import { freePort, ownLoopback } from '../support/loopback.ts'
import { runPlatform, servePlatform, temporaryDirectory, type ServedPlatform } from '../support/platform.ts'
import { scopeOf } from '../support/scope.ts'

const PASSWORD = 'five quiet otters'
const JWT_SECRET = '9fK2pX7vQmB4tZ8nLw3RsY6jHd0cGaUe'

/** A primary that can go and come back, and a standby of it. */
class Servers {
  readonly #scope: AsyncDisposableStack
  readonly #primaryDir: string
  readonly standbyDir: string
  readonly #tokens = createTokens({ secrets: [new Secret(JWT_SECRET)], clock: systemClock, ttlMs: 3_600_000 })
  #url = ''
  #primary: ServedPlatform | undefined

  constructor(t: TestContext) {
    this.#scope = scopeOf(t)
    this.#primaryDir = this.#scope.use(temporaryDirectory()).path
    this.standbyDir = this.#scope.use(temporaryDirectory()).path
  }

  get primary(): ServedPlatform {
    return this.#primary ?? assert.fail('the primary was not started')
  }

  get standbyEnv() {
    return {
      JWT_SECRET,
      GATEWAY_NAME: 'standby',
      VPN_IP_POOL: '100.64.128.0/17',
      GATEWAY_MIRROR_FROM: this.#url,
      GATEWAY_MIRROR_TOKEN_FILE: join(this.standbyDir, 'mirror-token'),
    }
  }

  async startPrimary(): Promise<void> {
    this.#url ||= `http://${ownLoopback()}:${await freePort()}`
    const env = {
      JWT_SECRET,
      LISTEN_ADDR: this.#url.replace('http://', ''),
      VPN_IP_POOL: '100.64.0.0/17',
      GATEWAY_NAME: 'primary',
    }
    const served = await servePlatform({ dataDir: this.#primaryDir, modules: 'api,gateway', env })
    this.#primary = this.#scope.use(served)
  }

  async startStandby(env: Readonly<Record<string, string>> = {}): Promise<ServedPlatform> {
    const options = { dataDir: this.standbyDir, modules: 'gateway', env: { ...this.standbyEnv, ...env } }
    return this.#scope.use(await servePlatform(options))
  }

  async addUser(name: string, role: string): Promise<void> {
    const body = { name, password: PASSWORD, roles: [role] }
    assert.equal((await this.primary.call('POST', '/users', { body })).status, 201)
  }

  /** A new token of a user of the primary. */
  async token(name: string, purpose?: TokenPurpose): Promise<string> {
    const { id, roles, token_generation: generation } = await this.#find(name)
    return this.#tokens.sign({ userId: id, name, roles, generation, purpose }).token
  }

  async setEnabled(name: string, enabled: boolean): Promise<void> {
    const { id } = await this.#find(name)
    assert.equal((await this.primary.call('PATCH', `/users/${id}`, { body: { enabled } })).status, 200)
  }

  async #find(name: string): Promise<MirroredItem> {
    const { items } = (await (await this.primary.call('GET', '/users/mirror')).json()) as {
      items: MirroredItem[]
    }
    return items.find((item) => item.name === name) ?? assert.fail(name)
  }
}

interface MirroredItem {
  readonly id: string
  readonly name: string
  readonly roles: readonly Role[]
  readonly token_generation: number
}

async function twoServers(t: TestContext): Promise<Servers> {
  const servers = new Servers(t)
  await servers.startPrimary()
  await servers.addUser('ada', 'devops')
  await servers.addUser('bob', 'devops')
  await servers.addUser('standby', 'service')
  const tokenFile = join(servers.standbyDir, 'mirror-token')
  writeFileSync(tokenFile, await servers.token('standby', 'mirror'), { mode: 0o600 })
  return servers
}

interface Health {
  readonly status: string
  readonly checks: { readonly mirror: string }
  readonly mirror: { readonly reason: string | null }
}

async function healthOf({ gatewayUrl }: ServedPlatform): Promise<Health> {
  return (await (await fetch(`${gatewayUrl}/health`)).json()) as Health
}

const authorization = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })

test('a standby stands in for its primary', async (t) => {
  const servers = await twoServers(t)
  let standby = await servers.startStandby()
  const [ada, bob, root] = [
    await servers.token('ada'),
    await servers.token('bob'),
    await servers.token('admin'),
  ]
  const isAway = async () => (await healthOf(standby)).checks.mirror === 'degraded'
  const isCurrent = async () => (await healthOf(standby)).checks.mirror === 'ok'

  await t.test('its token copies the users and is good for nothing else', async () => {
    const [mirror, service] = [await servers.token('standby', 'mirror'), await servers.token('standby')]
    const statusOf = async (url: string, token: string) => (await fetch(url, authorization(token))).status
    const { url, gatewayUrl } = servers.primary
    assert.equal(await statusOf(`${url}/users/mirror`, mirror), 200)
    assert.equal(await statusOf(`${url}/users/mirror`, service), 403, 'any other token of the same user')
    for (const path of ['/auth/me', '/tickets', '/vpn/sessions']) {
      assert.equal(await statusOf(url + path, mirror), 403, path)
      assert.equal(await statusOf(gatewayUrl + path, mirror), 403, `${path} through the gateway`)
    }
    assert.equal((await refusedBy(gatewayUrl, { token: mirror })).status, 401, 'a session')
  })

  await t.test('beside it: its users, its api, the sessions of both', async () => {
    const session = await openSession(standby.gatewayUrl, { token: ada })
    assert.match(String(session.frames[0]?.['virtual_ip']), /^100\.64\.(12[89]|1[3-9]\d|2\d\d)\./)
    session.send({ type: 'request', id: 'me', method: 'GET', path: '/auth/me' })
    assert.equal((await session.frame('response', { id: 'me' }))['status'], 200)
    await openSession(servers.primary.gatewayUrl, { token: bob })
    const state = await fetch(`${standby.gatewayUrl}/tunnels/state`, authorization(root))
    const { sessions, total, primary } = (await state.json()) as {
      sessions: { user: { name: string } }[]
      total: number
      primary: string
    }
    assert.deepEqual([sessions.map(({ user }) => user.name), total, primary], [['bob', 'ada'], 2, 'included'])
    session.socket.close()
  })

  await t.test('a user who is disabled loses the sessions at the standby', async () => {
    const session = await openSession(standby.gatewayUrl, { token: bob })
    await servers.setEnabled('bob', false)
    assert.equal((await session.closed).code, 4401)
    assert.equal((await refusedBy(standby.gatewayUrl, { token: bob })).status, 401)
  })

  await t.test('without it: sessions open, requests are answered with 503, and health says why', async () => {
    await servers.primary.kill()
    await eventually('the standby notices', isAway, PATIENT)
    assert.equal((await healthOf(standby)).mirror.reason, 'the primary does not answer')
    const session = await openSession(standby.gatewayUrl, { token: ada })
    session.send({ type: 'request', id: 'me', method: 'GET', path: '/auth/me' })
    assert.equal((await session.frame('response', { id: 'me' }))['status'], 503)
    const answer = await fetch(`${standby.gatewayUrl}/orders`, authorization(ada))
    assert.deepEqual(
      [answer.status, ((await answer.json()) as { code: string }).code],
      [503, 'api_unavailable'],
    )
    const state = await fetch(`${standby.gatewayUrl}/tunnels/state`, authorization(root))
    assert.equal(((await state.json()) as { primary: string }).primary, 'unavailable')
  })

  await t.test(
    'a restart without the primary keeps the users, and not for longer than the limit',
    async () => {
      await standby.kill()
      standby = await servers.startStandby()
      assert.ok(await isAway())
      await openSession(standby.gatewayUrl, { token: ada })
      assert.equal((await refusedBy(standby.gatewayUrl, { token: bob })).status, 401)
      await standby.kill()
      standby = await servers.startStandby({ GATEWAY_MIRROR_MAX_AGE: '1s' })
      const refused = await refusedBy(standby.gatewayUrl, { token: ada })
      assert.deepEqual([refused.status, refused.body.code], [503, 'mirror_outdated'])
      await standby.kill()
    },
  )

  await t.test('a user who is disabled while the two are apart is refused soon after they meet', async () => {
    standby = await servers.startStandby()
    const session = await openSession(standby.gatewayUrl, { token: ada })
    await servers.startPrimary()
    await servers.setEnabled('ada', false)
    await servers.setEnabled('bob', true)
    assert.equal((await session.closed).code, 4401)
    await eventually('the copy is current', isCurrent, PATIENT)
    const token = await servers.token('bob')
    const isAccepted = async () => 'frames' in (await connect(standby.gatewayUrl, { token }))
    await eventually('the enabled user connects', isAccepted, PATIENT)
  })

  await t.test('its users are read-only, and its pool must be its own', async () => {
    const { standbyDir: dataDir, standbyEnv: env } = servers
    const modules = { MODULE: 'gateway' }
    const add = await runPlatform(['user', 'add', 'eve', '--role', 'admin'], {
      dataDir,
      env: { ...env, ...modules },
    })
    assert.equal(add.code, 1)
    assert.match(
      add.stderr,
      /^platform: The users of a standby are a copy of those of http\S+; change them there/,
    )
    const overlapping = {
      ...env,
      VPN_IP_POOL: '100.64.0.0/16',
      GATEWAY_NAME: 'other',
      GATEWAY_LISTEN_ADDR: '127.0.0.1:0',
    }
    const start = await runPlatform(['serve', '--module', 'gateway'], { dataDir, env: overlapping })
    assert.equal(start.code, 2)
    assert.match(
      start.stderr,
      /^platform: vpn\.ip_pool: is 100\.64\.0\.0\/16, which overlaps 100\.64\.0\.0\/17/m,
    )
  })
})
