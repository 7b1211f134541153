import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { HOUR, SECOND } from '../../src/kernel/time.ts'
import { eventually } from '../support/eventually.ts'
import { runPlatform, servePlatform, temporaryDirectory } from '../support/platform.ts'
import { ROBOT_TOKEN, startRobots } from '../support/robots.ts'
import { scopeOf } from '../support/scope.ts'

const TEST_ROBOT = ['alerts', 'test-robot']

/** A robot, and the environment that configures it. */
async function world(t: TestContext) {
  const scope = scopeOf(t)
  const dataDir = scope.use(temporaryDirectory()).path
  const robots = scope.use(await startRobots({ signed: true }))
  const env = {
    ALERT_ROBOT_KIND: 'dingtalk',
    ALERT_ROBOT_URL: robots.url('dingtalk'),
    ALERT_ROBOT_SECRET: robots.secrets.dingtalk,
  }
  return { scope, dataDir, robots, env, secrets: [ROBOT_TOKEN, robots.secrets.dingtalk] }
}

function assertWithout(words: readonly string[], text: string): void {
  for (const word of words) assert.ok(!text.includes(word), text)
}

test('test-robot sends a message and prints what the robot answered', async (t) => {
  const { dataDir, env, robots } = await world(t)
  const { code, stdout, stderr } = await runPlatform(TEST_ROBOT, { dataDir, env })
  assert.deepEqual([code, stderr], [0, ''])
  assert.equal(stdout, 'sent; the robot answered: HTTP 200 {"errcode":0,"errmsg":"ok"}\n')
  assert.match(robots.shown[0] ?? '', /^\[INFO\] Test of the alert robot\n/)
})

test('test-robot prints why the robot refused, without a secret, and ends with 1', async (t) => {
  const { dataDir, env, robots, secrets } = await world(t)
  const refused = await runPlatform(TEST_ROBOT, { dataDir, env: { ...env, ALERT_ROBOT_SECRET: 'wrong' } })
  assert.equal(refused.code, 1)
  assert.match(
    refused.stderr,
    /^platform: The robot did not take the message: errcode 310000: sign not match\n$/,
  )
  robots.behave((response) => void response.writeHead(403).end(`no access to ${response.req.url}`))
  const echoed = await runPlatform(TEST_ROBOT, { dataDir, env })
  assert.equal(echoed.code, 1)
  assertWithout(secrets, echoed.stdout + echoed.stderr)
})

test('test-robot without a robot is wrong usage', async (t) => {
  const { dataDir } = await world(t)
  const { code, stderr } = await runPlatform(TEST_ROBOT, { dataDir })
  assert.equal(code, 2)
  assert.match(stderr, /^platform: alerts\.robot\.url: must be set/)
})

test('a test of a receiver that is not configured ends with 1 and names those that are', async (t) => {
  const { dataDir, env } = await world(t)
  const { code, stderr } = await runPlatform(['alerts', 'test', 'nope'], { dataDir, env })
  assert.deepEqual(
    [code, stderr],
    [1, 'platform: There is no receiver "nope"; the configured ones are: robot.\n'],
  )
})

test('the route of a report is printed for programs as the api answers it', async (t) => {
  const { dataDir, env } = await world(t)
  const report = join(dataDir, 'report.json')
  writeFileSync(report, JSON.stringify({ source: 'shop', title: 'Slow', level: 'ERROR' }))
  const { code, stdout } = await runPlatform(['alerts', 'route', report], { dataDir, env })
  const { matched, receivers } = JSON.parse(stdout) as { matched: unknown; receivers: [{ at: string }] }
  assert.deepEqual(
    [code, matched, receivers],
    [0, ['default'], [{ name: 'robot', at: receivers[0].at, because: 'route' }]],
  )
})

test('an alert of the api is sent by the worker, and is in its decision, the metrics and the log, without a secret', async (t) => {
  const { dataDir, env, robots, scope, secrets } = await world(t)
  const platform = scope.use(await servePlatform({ dataDir, env: { ...env, LOG_LEVEL: 'debug' } }))
  robots.behave((response) => {
    response.writeHead(500).end(`no access to ${response.req.url}`)
    robots.behave(undefined)
  })
  const body = { source: 'platform.backup', title: 'Backup failed', level: 'CRITICAL' }
  const { id } = (await (await platform.call('POST', '/alerts/report', { body })).json()) as { id: string }
  const decisions = async () => {
    const answer = await platform.call('GET', `/alerts/${id}/decisions`, { roles: 'auditor' })
    const { items } = (await answer.json()) as { items: { outcome: string; occasion: string }[] }
    return items.map(({ occasion, outcome }) => `${occasion} ${outcome}`).join()
  }
  await eventually('the alert is sent', async () => (await decisions()) === 'raised sent')
  assert.match(robots.shown.join(), /^\[CRITICAL\] Backup failed\n/)
  const metrics = await (await fetch(`${platform.url}/metrics`)).text()
  assert.match(metrics, /^platform_alert_notifications_total\{channel="robot",outcome="sent"\} 1$/m)
  assert.match(metrics, /^platform_alert_notifications_pending \d+$/m)
  assert.equal((await platform.call('GET', '/alerts/unknown/decisions')).status, 404)
  assert.equal(await platform.stop(), 0)
  assertWithout(secrets, JSON.stringify(platform.logs()) + platform.stderr())
})

test('an alert of Prometheus recovers by itself at its end, and the robot gets both messages', async (t) => {
  const { dataDir, env, robots, scope } = await world(t)
  const platform = scope.use(await servePlatform({ dataDir, env }))
  /** Sends the alert as Prometheus does, which moves its end with each repetition. */
  const send = async (lastsMs: number) => {
    const endsAt = new Date(Date.now() + lastsMs).toISOString()
    const body = [{ labels: { alertname: 'DiskFull', severity: 'critical' }, endsAt }]
    assert.equal((await platform.call('POST', '/api/v2/alerts', { body, roles: 'service' })).status, 200)
    return endsAt
  }
  await send(HOUR)
  await eventually('the robot has posted the alert', () =>
    robots.shown.join().includes('[CRITICAL] DiskFull'),
  )
  const endsAt = await send(SECOND)
  const alert = async () => {
    const answer = await platform.call('GET', '/alerts')
    return ((await answer.json()) as { items: { status: string; recovered_at: string | null }[] }).items[0]
  }
  await eventually('the alert has recovered', async () => (await alert())?.status === 'recovered')
  assert.ok(String((await alert())?.recovered_at) >= endsAt)
  await eventually('the robot has posted the recovery', () => robots.shown.join('\n').includes('[RECOVERED]'))
})
