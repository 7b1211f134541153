import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { eventually } from '../support/eventually.ts'
import { runPlatform, servePlatform, temporaryDirectory, type ServedPlatform } from '../support/platform.ts'
import { startAlertmanager, startPrometheus, type MonitoringServer } from '../support/prometheus.ts'
import { startRobots } from '../support/robots.ts'

interface AlertItem {
  readonly id: string
  readonly alarm_id: string
  readonly source: string
  readonly title: string
  readonly body: string
  readonly severity: string
  readonly status: string
  readonly count: number
}

/** A platform, and a token for it. */
async function startWorld(env: Readonly<Record<string, string>> = {}) {
  await using opening = new AsyncDisposableStack()
  const data = opening.use(temporaryDirectory())
  const platform = opening.use(await servePlatform({ dataDir: data.path, env }))
  const { stdout, code, stderr } = await runPlatform(['token', 'issue', 'admin'], { dataDir: data.path })
  assert.equal(code, 0, stderr)
  const opened = opening.move()
  return { platform, token: stdout.trim(), [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

async function listItems<T>(platform: ServedPlatform, path: string): Promise<readonly T[]> {
  const answer = await platform.call('GET', path)
  return ((await answer.json()) as { readonly items: readonly T[] }).items
}

const alertsOf = (platform: ServedPlatform) => listItems<AlertItem>(platform, '/alerts')

async function untilAlert(platform: ServedPlatform, title: string, is: (alert: AlertItem) => boolean) {
  const find = async () => (await alertsOf(platform)).find((alert) => alert.title === title && is(alert))
  return eventually(`the alert ${title}`, find)
}

/** The events of an alert, oldest first. */
async function eventsOf(platform: ServedPlatform, { id }: AlertItem): Promise<string[]> {
  const messages = await listItems<{ subject: string; payload: { subject?: string } }>(
    platform,
    '/messages?limit=1000',
  )
  return messages.flatMap(({ subject, payload }) => (payload.subject === id ? [subject] : [])).reverse()
}

const SHOP_DOWN = {
  labels: { alertname: 'ShopDown', severity: 'critical', job: 'shop', instance: '192.0.2.10:443' },
  annotations: { summary: 'The shop is down' },
}

/** Sends the alert as a Prometheus does. */
async function sendShopDown({ url }: Pick<MonitoringServer, 'url'>, more: object, token = ''): Promise<void> {
  const response = await fetch(`${url}/api/v2/alerts`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
    body: JSON.stringify([{ ...SHOP_DOWN, ...more }]),
  })
  assert.equal(response.status, 200)
}

const over = () => ({ endsAt: new Date().toISOString() })

/** A server with one metric, `disk_full`. */
async function startTarget() {
  let isFull = 1
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/plain; version=0.0.4').end(`disk_full ${isFull}\n`)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    clean: () => void (isFull = 0),
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

test('alerts of a real Prometheus appear, repeat without further events, and recover', async () => {
  await using opening = new AsyncDisposableStack()
  const { platform, token } = opening.use(await startWorld())
  const target = opening.use(await startTarget())
  opening.use(
    await startPrometheus({
      target: target.url,
      receiver: { url: platform.url, token },
      rules: [
        {
          alert: 'DiskFull',
          expr: 'disk_full == 1',
          labels: { severity: 'critical' },
          annotations: { summary: 'The disk is full', description: 'Of {{ $labels.instance }}.' },
        },
        { alert: 'Always', expr: 'vector(1)', labels: {}, annotations: {} },
      ],
    }),
  )
  const alert = await untilAlert(platform, 'The disk is full', ({ count }) => count >= 3)
  assert.deepEqual([alert.source, alert.severity, alert.status], ['test', 'CRITICAL', 'firing'])
  assert.match(alert.alarm_id, /^prometheus:[0-9a-f]{16}$/)
  assert.match(alert.body, /^Of 127\.0\.0\.1:\d+\.\n\nalertname="DiskFull"\n/)
  assert.deepEqual(await eventsOf(platform, alert), ['alert.raised'])
  target.clean()
  const recovered = await untilAlert(platform, 'The disk is full', ({ status }) => status === 'recovered')
  assert.equal(recovered.id, alert.id)
  assert.deepEqual(await eventsOf(platform, alert), ['alert.raised', 'alert.recovered'])
  const always = await untilAlert(platform, 'Always', ({ count }) => count >= 3)
  assert.deepEqual([always.source, always.severity, always.status], ['prometheus', 'WARNING', 'firing'])
})

test('a real Alertmanager forwards alerts; they repeat without further events, and recover', async () => {
  await using opening = new AsyncDisposableStack()
  const { platform, token } = opening.use(await startWorld())
  const alertmanager = opening.use(
    await startAlertmanager({ url: `${platform.url}/alerts/alertmanager`, token }, '1s'),
  )
  await sendShopDown(alertmanager, {})
  const alert = await untilAlert(platform, 'The shop is down', ({ count }) => count >= 2)
  assert.deepEqual([alert.source, alert.severity, alert.status], ['shop', 'CRITICAL', 'firing'])
  await sendShopDown(alertmanager, over())
  await untilAlert(platform, 'The shop is down', ({ status }) => status === 'recovered')
  assert.deepEqual(await eventsOf(platform, alert), ['alert.raised', 'alert.recovered'])
})

/** A webhook that counts what it receives. */
async function startWebhook() {
  let received = 0
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      received++
      response.end()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    received: () => received,
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

const SWINGS = 8

test('of an alert that fires and ends 8 times, an Alertmanager sends 16 notifications', async () => {
  await using opening = new AsyncDisposableStack()
  const webhook = opening.use(await startWebhook())
  const alertmanager = opening.use(await startAlertmanager({ url: webhook.url }, '1h'))
  for (let sent = 0; sent < 2 * SWINGS; sent += 2) {
    await sendShopDown(alertmanager, {})
    await eventually('it fires', () => webhook.received() === sent + 1)
    await sendShopDown(alertmanager, over())
    await eventually('it ends', () => webhook.received() === sent + 2)
  }
  assert.equal(webhook.received(), 16)
})

test('of an alert that fires and ends 8 times, the platform sends 4 notifications and the notice of the freeze', async () => {
  await using opening = new AsyncDisposableStack()
  const robots = opening.use(await startRobots())
  const { platform, token } = opening.use(
    await startWorld({
      ALERT_ROBOT_URL: robots.url('generic'),
      ALERT_ROBOT_KIND: 'generic',
      ALERT_ROBOT_SECRET: robots.secrets.generic,
    }),
  )
  const decisions = async () => {
    const [alert = assert.fail('no alert')] = await alertsOf(platform)
    const items = await listItems<{ occasion: string; outcome: string }>(
      platform,
      `/alerts/${alert.id}/decisions`,
    )
    return items.map(({ occasion, outcome }) => `${occasion} ${outcome}`).reverse()
  }
  for (let swing = 0; swing < SWINGS; swing++) {
    for (const more of [{}, over()]) {
      await sendShopDown(platform, more, token)
      // What comes within a second would be one message.
      await eventually(
        'the robot has it',
        async () => !(await decisions()).some((each) => /pending/.test(each)),
      )
    }
  }
  const seen = await decisions()
  assert.deepEqual(seen.slice(0, 5), [
    'raised sent',
    'recovered sent',
    'raised sent',
    'recovered sent',
    'frozen sent',
  ])
  assert.ok(
    seen.slice(5).every((each) => each.endsWith(' frozen')),
    seen.join(', '),
  )
  assert.equal(robots.shown.length, 5)
})

interface AmtoolAlert {
  readonly labels: Readonly<Record<string, string>>
  readonly status: { readonly state: string; readonly silencedBy: readonly string[] }
  readonly receivers: readonly { readonly name: string }[]
  readonly startsAt: string
  readonly generatorURL?: string
}
interface AmtoolSilence {
  readonly id: string
  readonly createdBy: string
  readonly comment: string
  readonly matchers: readonly object[]
}

test('amtool adds and finds alerts, silences them by regular expressions, and shows the route', async () => {
  await using w = await startWorld()
  const directory = temporaryDirectory()
  using _ = directory
  const config = join(directory.path, 'http.yml')
  writeFileSync(config, JSON.stringify({ authorization: { type: 'Bearer', credentials: w.token } }))
  const amtool = async (...args: string[]) => {
    const options = [
      `--alertmanager.url=${w.platform.url}`,
      `--http.config.file=${config}`,
      '--no-version-check',
    ]
    const { stdout } = await promisify(execFile)('amtool', [...options, ...args])
    return stdout.trim()
  }
  const query = async <T>(...args: string[]) => JSON.parse(await amtool('-o', 'json', ...args)) as T[]

  await amtool(
    'alert',
    'add',
    'alertname=DiskFull',
    'severity=critical',
    'instance=web-1',
    '--annotation=summary="Disk"',
    '--generator-url=http://prometheus.example.org/graph?g0.expr=disk',
    '--start=2026-01-31T02:00:00Z',
  )
  await amtool('alert', 'add', 'alertname=ShopSlow', 'severity=warning')
  const body = { source: 's', title: 'Reported', level: 'ERROR' }
  assert.ok((await w.platform.call('POST', '/alerts/report', { body })).ok)
  const namesOf = async (...args: string[]) =>
    (await query<AmtoolAlert>('alert', 'query', ...args))
      .map(({ labels }) => labels['alertname'] ?? '')
      .toSorted((one, other) => one.localeCompare(other))
  assert.deepEqual(await namesOf(), ['DiskFull', 'Reported', 'ShopSlow'])
  assert.deepEqual(await namesOf('alertname=~Disk.*', 'severity!=info'), ['DiskFull'])
  assert.deepEqual(await namesOf('severity=error'), ['Reported'])
  const [disk] = await query<AmtoolAlert>('alert', 'query', 'alertname=DiskFull')
  assert.equal(disk?.startsAt, '2026-01-31T02:00:00.000Z')
  assert.equal(disk.generatorURL, 'http://prometheus.example.org/graph?g0.expr=disk')

  const id = await amtool(
    'silence',
    'add',
    '-a',
    'nobody',
    '-c',
    'new disk',
    'alertname=~Disk.*|Shop.*',
    'instance!~db-.*',
  )
  assert.deepEqual(await namesOf(), ['Reported'])
  assert.deepEqual(await namesOf('--silenced'), ['DiskFull', 'ShopSlow'])
  const [silence] = await query<AmtoolSilence>('silence', 'query', 'alertname=Other')
  assert.equal(silence, undefined)
  const [own] = await query<AmtoolSilence>('silence', 'query')
  assert.deepEqual([own?.id, own?.comment, own?.createdBy], [id, 'new disk', 'admin'])
  assert.equal(own?.matchers.length, 2)
  // It prints the new id as the address of a pointer.
  await amtool('silence', 'update', '-d', '2h', id)
  const updated = await amtool('silence', 'query', '-q')
  assert.notEqual(updated, id)
  await amtool('silence', 'expire', updated)
  assert.deepEqual(await query('silence', 'query'), [])
  assert.deepEqual(await namesOf(), ['DiskFull', 'Reported', 'ShopSlow'])

  assert.match(await amtool('config', 'routes', 'show'), /nobody/)
  assert.equal(await amtool('config', 'routes', 'test', 'severity=critical'), 'nobody')
  assert.match(await amtool('config', 'show'), /receivers:/)
  assert.match(await amtool('cluster', 'show'), /disabled/)
})
