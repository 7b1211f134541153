import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { runPlatform, servePlatform, temporaryDirectory } from '../support/platform.ts'
import { scopeOf } from '../support/scope.ts'
import { SMTP_PASSWORD, startSmtp } from '../support/smtp.ts'

const KEY = Buffer.alloc(32, 'canary')
const SECRET = `whsec_${KEY.toString('base64')}`

/** A pager, a mail server, and the file that makes them receivers. */
async function world(t: TestContext) {
  const scope = scopeOf(t)
  const dataDir = scope.use(temporaryDirectory()).path
  const smtp = scope.use(await startSmtp())
  const calls: { headers: NodeJS.Dict<string | string[]>; body: string }[] = []
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      calls.push({ headers: request.headers, body })
      response.writeHead(204).end()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  scope.defer(() => void server.close())
  const { port } = server.address() as AddressInfo
  const config = join(dataDir, 'receivers.toml')
  writeFileSync(
    config,
    `[console]
url = "https://shop.example.org"
[receivers.pager]
kind = "webhook"
url = "http://127.0.0.1:${port}/hook-canary"
secret = "${SECRET}"
[receivers.mail]
kind = "mail"
smtp_url = "${smtp.url()}"
from = "platform@example.org"
to = ["ops@example.org", "nobody@example.org"]
[[alerts.routes]]
name = "backups"
match = { source = "platform.backup*" }
min_severity = "ERROR"
receivers = ["mail", "pager"]
`,
  )
  const env = { NODE_EXTRA_CA_CERTS: smtp.certificateFile, PLATFORM_CONFIG: config }
  return { scope, dataDir, smtp, calls, env }
}

const REPORT = {
  alarm_id: 'backup.failed',
  source: 'platform.backup',
  title: 'Backup failed',
  body: 'No space left.',
  level: 'ERROR',
  runbook_url: 'https://wiki.example.org/backup',
}

test('an alert is told by mail and webhook as its route says, and the API says to whom', async (t) => {
  const { scope, dataDir, smtp, calls, env } = await world(t)
  const platform = scope.use(await servePlatform({ dataDir, env }))
  const reported = await platform.call('POST', '/alerts/report', { body: REPORT })
  const { id, runbook_url } = (await reported.json()) as { id: string; runbook_url: string }
  assert.equal(runbook_url, REPORT.runbook_url)
  await eventually('both are told', () => smtp.mails.length === 1 && calls.length === 1)
  const [mail] = smtp.mails
  assert.deepEqual(mail?.to, ['ops@example.org'])
  assert.match(mail.source, /^Subject: FIRING \[ERROR\] Backup failed\r$/m)
  assert.match(mail.source, /^References: <[0-9a-f]{40}@example\.org>\r$/m)
  assert.match(mail.source, /Runbook: https:\/\/wiki\.example\.org\/backup/)
  const [{ headers, body } = assert.fail()] = calls
  const signed = [headers['webhook-id'], headers['webhook-timestamp'], body].join('.')
  const signature = createHmac('sha256', KEY).update(signed).digest('base64')
  assert.equal(headers['webhook-signature'], `v1,${signature}`)
  const envelope = JSON.parse(body) as { type: string; source: string; data: Record<string, unknown> }
  assert.deepEqual([envelope.type, envelope.source], ['alert.notification', '/platform/alerts'])
  const { receiver, occasion, alerts } = envelope.data as {
    receiver: string
    occasion: string
    alerts: { id: string }[]
  }
  assert.deepEqual([receiver, occasion, alerts.map((alert) => alert.id)], ['pager', 'raised', [id]])
  await eventually('the decision on the mail names who has refused it', async () => {
    const answer = await platform.call('GET', `/alerts/${id}/decisions`)
    const { items } = (await answer.json()) as { items: { channel: string; reason: string | null }[] }
    return items.some(
      (each) => each.channel === 'mail' && /Refused for nobody@example\.org/.test(each.reason ?? ''),
    )
  })
  const route = (await (await platform.call('GET', `/alerts/${id}/route`)).json()) as {
    matched: string[]
    receivers: { name: string; because: string }[]
  }
  assert.deepEqual(route.matched, ['backups'])
  assert.deepEqual(route.receivers.map(({ name, because }) => `${name} ${because}`).toSorted(), [
    'mail told',
    'pager told',
  ])
  const tried = await platform.call('POST', '/alerts/receivers/pager/test')
  assert.deepEqual(await tried.json(), { delivered: true, answer: 'HTTP 204' })
  const unknown = await platform.call('POST', '/alerts/receivers/nobody/test')
  assert.equal(unknown.status, 404)
  assert.equal(((await unknown.json()) as { code: string }).code, 'receiver_not_found')
  const receivers = await (await platform.call('GET', '/alerts/receivers')).text()
  assert.match(receivers, /"name":"mail","kind":"mail","state":"ok"/)
  for (const word of ['canary', SECRET, SMTP_PASSWORD]) assert.ok(!receivers.includes(word))
})

test('the command line tries a receiver, and says where a report goes', async (t) => {
  const { scope, dataDir, smtp, env } = await world(t)
  const tried = await runPlatform(['alerts', 'test', 'pager'], { dataDir, env })
  assert.deepEqual([tried.code, tried.stdout], [0, 'delivered: HTTP 204\n'])
  smtp.fail('connect', 421, 'busy')
  const failed = await runPlatform(['alerts', 'test', 'mail'], { dataDir, env })
  assert.equal(failed.code, 1)
  assert.match(failed.stdout, /^not delivered: .*busy/)
  const unknown = await runPlatform(['alerts', 'test', 'chat'], { dataDir, env })
  assert.equal(unknown.code, 1)
  assert.match(unknown.stderr, /no receiver "chat"; the configured ones are: pager, mail/)
  writeFileSync(join(dataDir, 'report.json'), JSON.stringify(REPORT))
  const route = () => runPlatform(['alerts', 'route', join(dataDir, 'report.json')], { dataDir, env })
  const shown = await route()
  assert.equal(shown.code, 0, shown.stderr)
  assert.match(shown.stderr, /^platform: Without silences and inhibitions: There is no database at /)
  const { matched, receivers } = JSON.parse(shown.stdout) as {
    matched: string[]
    receivers: { name: string; at: string; because: string }[]
  }
  assert.deepEqual(matched, ['backups'])
  assert.deepEqual(
    receivers.map(({ name, because }) => [name, because]),
    [
      ['mail', 'route'],
      ['pager', 'route'],
    ],
  )
  const platform = scope.use(await servePlatform({ dataDir, env }))
  const ends_at = new Date(Date.now() + 3_600_000).toISOString()
  const silence = { matchers: { source: 'platform.*' }, reason: 'Maintenance', ends_at }
  assert.equal((await platform.call('POST', '/alerts/silences', { body: silence })).status, 201)
  const silenced = await route()
  assert.equal(silenced.stderr, '')
  assert.deepEqual((JSON.parse(silenced.stdout) as { receivers: unknown }).receivers, [
    { name: 'mail', at: null, because: 'silenced' },
    { name: 'pager', at: null, because: 'silenced' },
  ])
})
