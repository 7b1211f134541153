import assert from 'node:assert/strict'
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { firstClosedGate, rebootGates, type RebootGateDeps } from '../../../programs/backup/host/gates.ts'
import { PlatformClient } from '../../../programs/backup/alerts/platform-client.ts'
import {
  askRecognition,
  createPlatformReader,
  type PlatformReader,
} from '../../../programs/backup/host/platform-reader.ts'
import { callSigner } from '../../../programs/backup/host/signed-call.ts'
import { runSelfcheck, selfcheckSteps } from '../../../programs/backup/host/selfcheck.ts'
import { selfcheckParts, SELFCHECK_USER } from '../../../src/app/commands/backup.ts'
import { withUsers } from '../../../src/app/commands/user.ts'
import { jwtSecrets } from '../../../src/app/signing-keys.ts'
import { startPlatform, type Platform } from '../../../src/app/platform.ts'
import { loadConfig, type LoadedConfig } from '../../../src/config/config.ts'
import { systemClock } from '../../../src/kernel/clock.ts'
import { identityKeyOf } from '../../../src/kernel/identity-signature.ts'
import { silentLogger } from '../../../src/kernel/logger.ts'
import { MINUTE } from '../../../src/kernel/time.ts'
import { freePort } from '../../support/loopback.ts'
import { callPlatform, temporaryDirectory } from '../../support/platform.ts'

/** A platform with all modules in this process, at the addresses of its configuration. */
describe('the routine and a real platform', () => {
  const directory = temporaryDirectory()
  let loaded: LoadedConfig
  let platform: Platform
  let reader: PlatformReader

  const api = () => platform.addresses.api ?? ''
  const gateway = () => platform.addresses.gateway ?? ''

  before(async () => {
    const env = {
      // As the guide recommends behind a proxy.
      TRUSTED_PROXIES: 'none',
      DATA_DIR: directory.path,
      LISTEN_ADDR: `127.0.0.1:${await freePort()}`,
      GATEWAY_LISTEN_ADDR: `127.0.0.1:${await freePort()}`,
      BUS_SERVER: 'nats://127.0.0.1:1',
    }
    const systemConfigPath = join(directory.path, 'none.toml')
    loaded = loadConfig({ env, cwd: directory.path, systemConfigPath })
    platform = await startPlatform({
      ...loaded,
      logger: silentLogger,
      onFirstAdmin: () => undefined,
    })
    reader = createPlatformReader(systemClock, callSigner(loaded.config, systemClock))
  })
  after(async () => {
    reader.close()
    await platform.stop()
    directory[Symbol.dispose]()
  })

  /** The token of an admin. */
  const authorization = () =>
    withUsers({ env: {} }, loaded, async ({ auth }) => {
      const { token } = await auth.issueToken('admin', MINUTE)
      return { headers: { authorization: `Bearer ${token.reveal()}` } }
    })

  const selfcheck = () =>
    runSelfcheck({
      clock: systemClock,
      steps: selfcheckSteps({
        ...selfcheckParts(loaded),
        clock: systemClock,
        platform: reader,
        platformApi: api(),
        readDriveToken: () => undefined,
      }),
      forMs: 5 * MINUTE,
    })

  const closedGate = (deps: Partial<RebootGateDeps> = {}) =>
    firstClosedGate(
      rebootGates({
        clock: systemClock,
        platform: reader,
        platformApi: api(),
        isVerified: () => true,
        today: () => '2026-01-31',
        rebootedOn: () => undefined,
        ...deps,
      }),
    )

  test('the self-check passes, again and again', async () => {
    for (const round of [1, 2]) {
      const checks = await selfcheck()
      assert.deepEqual(
        checks.filter(({ ok }) => !ok),
        [],
        `round ${round}`,
      )
      assert.deepEqual(
        checks.map(({ name }) => name),
        ['platform', 'alerts', 'database', 'gateway', 'worker', 'token-file'],
      )
    }
  })

  test('its login is that of a user of its own, who may only read', async () => {
    const users = await (await callPlatform(api(), 'GET', '/users', await authorization())).json()
    const { items } = users as { items: { id: string; name: string; roles: string[] }[] }
    const own = items.filter(({ name }) => name === SELFCHECK_USER)
    assert.deepEqual(
      own.map(({ roles }) => roles),
      [['auditor']],
    )
    const sessions = await (
      await callPlatform(api(), 'GET', '/vpn/sessions?state=closed', await authorization())
    ).json()
    const closed = (sessions as { items: { user: { name: string }; close_code: number }[] }).items
    assert.deepEqual(
      closed.map(({ user, close_code }) => [user.name, close_code]),
      [
        [SELFCHECK_USER, 1000],
        [SELFCHECK_USER, 1000],
      ],
    )
  })

  test('a platform that trusts no peer takes the signed calls of the routine, and no others', async () => {
    using client = new PlatformClient({
      url: api(),
      clock: systemClock,
      sign: callSigner(loaded.config, systemClock),
    })
    const beat = { method: 'PUT', path: '/alerts/heartbeats/backup', timeoutMs: 10_000 } as const
    const settings = { every_seconds: 86_400, source: 'platform.backup.primary' }
    assert.equal((await client.send({ ...beat, body: settings })).outcome, 'accepted')
    using unsigned = new PlatformClient({ url: api(), clock: systemClock })
    assert.equal((await unsigned.send({ ...beat, body: settings })).outcome, 'unavailable')
    const other = createPlatformReader(systemClock)
    assert.equal((await askRecognition(other, api())).outcome, 'refused')
    other.close()
  })

  test('the key for programs without the configuration is in the data directory, for its owner alone', () => {
    const path = join(directory.path, 'identity-key')
    const [key] = jwtSecrets(loaded.config)
    assert.equal(readFileSync(path, 'utf8').trim(), identityKeyOf(key.reveal()).toString('base64url'))
    assert.equal(statSync(path).mode & 0o777, 0o600)
  })

  test('the gates are open, also that of the standby gateway', async () => {
    const tokenFile = join(directory.path, 'standby-token')
    const token = await selfcheckParts(loaded).signToken()
    writeFileSync(tokenFile, token.reveal(), { mode: 0o600 })
    assert.equal(await closedGate({ standby: { gatewayUrl: gateway(), tokenFile } }), undefined)
    writeFileSync(tokenFile, `${token.reveal().slice(0, -8)}AAAAAAAA`, { mode: 0o600 })
    const closed = await closedGate({ standby: { gatewayUrl: gateway(), tokenFile } })
    assert.equal(closed?.gate, 'the standby gateway answers a real login')
    assert.match(closed?.reason ?? '', /refused with 401/)
    rmSync(tokenFile)
  })

  test('a critical alert holds the reboot back until it has recovered', async () => {
    const report = async (level: string) =>
      callPlatform(api(), 'POST', '/alerts/report', {
        ...(await authorization()),
        body: { source: 'test', title: 'Disk full', level, alarm_id: 'disk.full' },
      })
    await report('HIGH')
    assert.equal(await closedGate(), undefined)
    const alert = (await (await report('CRITICAL')).json()) as { id: string }
    const reason = (status: string) => ({
      gate: 'no critical alert fires',
      reason: `the critical alert "disk.full" is ${status}`,
    })
    assert.deepEqual(await closedGate(), reason('firing'))
    const acknowledged = await callPlatform(api(), 'POST', `/alerts/${alert.id}/acknowledge`, {
      ...(await authorization()),
      body: {},
    })
    assert.equal(acknowledged.status, 200)
    assert.deepEqual(await closedGate(), reason('acknowledged'))
    await report('CLOSE')
    assert.equal(await closedGate(), undefined)
  })

  test('a platform that does not let the routine read holds the reboot back', async () => {
    const closed = await closedGate({ platformApi: gateway() })
    assert.equal(closed?.gate, 'no critical alert fires')
    assert.match(closed?.reason ?? '', /could not be asked: the platform answers with 401/)
  })
})
