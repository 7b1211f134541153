import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { DrillTicket } from '../../../programs/backup/restore/restore-ticket.ts'
import { NIGHT_ALERTS, type NightEvent } from '../../../programs/backup/alerts/events.ts'
import { NightAlerts } from '../../../programs/backup/alerts/night-alerts.ts'
import { DirectoryOutboxFiles } from '../../../programs/backup/alerts/outbox-files.ts'
import { PlatformClient, type PlatformApi } from '../../../programs/backup/alerts/platform-client.ts'
import { lostNightTicket, selfcheckTicket } from '../../../programs/backup/alerts/tickets.ts'
import { NIGHT_ALERT_NAMES } from '../../../src/config/backup-templates.ts'
import { systemClock } from '../../../src/kernel/clock.ts'
import { NIGHT_ALERTS_OPTIONS, recordingLogger, type LoggedLine } from '../../support/night-alerts.ts'
import { servePlatform, temporaryDirectory, type ServedPlatform } from '../../support/platform.ts'
import { startRobots } from '../../support/robots.ts'

const scope = new AsyncDisposableStack()
after(() => scope.disposeAsync())
const robots = scope.use(await startRobots())
const { path: dataDir } = scope.use(temporaryDirectory())
const platform: ServedPlatform = scope.use(
  await servePlatform({
    dataDir,
    modules: 'api,worker',
    env: { ALERT_ROBOT_URL: robots.url('generic'), ALERT_ROBOT_KIND: 'generic', API_RATE_LIMIT: '0' },
  }),
)

interface AlertRow {
  readonly id: string
  readonly alarm_id: string
  readonly source: string
  readonly title: string
  readonly body: string
  readonly level: number
  readonly weight: number
  readonly severity: string
  readonly server_addr: string
  readonly status: string
  readonly count: number
}

interface TicketRow {
  readonly id: string
  readonly title: string
  readonly level: string
  readonly status: string
  readonly source: string
  readonly description: string
  readonly comments: readonly { readonly author: string; readonly text: string }[]
}

async function json<T>(path: string, method = 'GET', body?: object): Promise<T> {
  const answer = await platform.call(method, path, { ...(body && { body }) })
  assert.ok(answer.ok, `${method} ${path} → ${answer.status} ${await answer.clone().text()}`)
  return (await answer.json()) as T
}

async function alertNamed(alarmId: string): Promise<AlertRow | undefined> {
  const { items } = await json<{ items: AlertRow[] }>('/alerts?limit=1000')
  return items.find((each) => each.alarm_id === alarmId)
}

async function ticketTitled(title: string): Promise<TicketRow[]> {
  const { items } = await json<{ items: TicketRow[] }>('/tickets')
  const same = items.filter((each) => each.title === title)
  return Promise.all(same.map(({ id }) => json<TicketRow>(`/tickets/${id}`)))
}

/** The alerts of one run, with an outbox of its own; `through` stands between it and the platform. */
function nightAlerts(server: 'primary' | 'standby' = 'primary', through = (api: PlatformApi) => api) {
  const directory = mkdtempSync(join(tmpdir(), 'night-alerts-'))
  scope.defer(() => rmSync(directory, { recursive: true, force: true }))
  const logged: LoggedLine[] = []
  const api = through(scope.use(new PlatformClient({ url: platform.url, clock: systemClock })))
  const files = new DirectoryOutboxFiles(directory)
  const logger = recordingLogger(logged)
  const alerts = new NightAlerts({ ...NIGHT_ALERTS_OPTIONS, server, files, api, clock: systemClock, logger })
  const refusals = () => logged.filter(({ level }) => level === 'error' || level === 'warn')
  return { alerts, directory, refusals }
}

/** One night after the other: what is reported, and what the alert of that name is afterwards. */
const NIGHTS: readonly (readonly [
  NightEvent,
  status: string,
  severity: string,
  level: number,
  count: number,
])[] = [
  ['backup_started', 'firing', 'INFO', 1, 1],
  ['backup_failed', 'firing', 'ERROR', 3, 1],
  ['backup_failed_again', 'firing', 'HIGH', 4, 2],
  ['backup_failed_again', 'firing', 'HIGH', 3, 3],
  ['backup_succeeded', 'firing', 'INFO', 1, 1],
  ['retry_succeeded', 'firing', 'WARNING', 2, 1],
  ['failure_closed', 'recovered', 'CLOSE', 5, 3],
  ['cleaning_started', 'firing', 'WARNING', 2, 1],
  ['cleaning_ended', 'recovered', 'CLOSE', 5, 1],
  ['reboot_started', 'firing', 'HIGH', 4, 1],
  ['reboot_ended', 'recovered', 'CLOSE', 5, 1],
  ['reboot_started', 'firing', 'HIGH', 4, 2],
  ['reboot_not_begun', 'recovered', 'CLOSE', 5, 2],
  ['backup_started', 'firing', 'INFO', 1, 2],
  ['backup_failed', 'firing', 'ERROR', 3, 4],
  ['night_lost', 'firing', 'CRITICAL', 4, 1],
  ['lost_night_closed', 'recovered', 'CLOSE', 5, 1],
  ['failure_closed', 'recovered', 'CLOSE', 5, 4],
  ['reboot_blocked', 'firing', 'WARNING', 2, 1],
  ['reboot_allowed', 'recovered', 'CLOSE', 5, 1],
  ['selfcheck_failed', 'firing', 'CRITICAL', 4, 1],
  ['selfcheck_closed', 'recovered', 'CLOSE', 5, 1],
]

test('each report has the effect of its row: the alert is raised, repeated or closed', async () => {
  const { alerts, directory, refusals } = nightAlerts()
  for (const [event, status, severity, level, count] of NIGHTS) {
    await alerts.report(event, { backup_id: '20260131-020000', error_code: 'no_space', job_name: 'backup' })
    const { alarmId } = NIGHT_ALERTS[event]
    const alert = await alertNamed(alarmId)
    assert.deepEqual(
      [event, alert?.status, alert?.severity, alert?.level, alert?.count],
      [event, status, severity, level, count],
    )
    assert.equal(alert?.source, 'platform.backup.primary')
    assert.equal(alert?.server_addr, '192.0.2.10')
  }
  assert.deepEqual(refusals(), [])
  assert.equal(readFileSync(join(directory, 'outbox.jsonl'), 'utf8'), '')
  const covered = new Set(NIGHTS.map(([event]) => event))
  assert.deepEqual([...covered].sort(), Object.keys(NIGHT_ALERTS).sort())
})

test('only what is INFO is silent at the robot', async () => {
  const silent: string[] = []
  for (const alarmId of NIGHT_ALERT_NAMES) {
    const alert = await alertNamed(alarmId)
    const { items } = await json<{ items: { outcome: string }[] }>(`/alerts/${alert?.id}/decisions`)
    assert.notEqual(items.length, 0, alarmId)
    if (items.every(({ outcome }) => outcome === 'below_level')) silent.push(alarmId)
  }
  assert.deepEqual(silent, ['backup.start', 'backup.done'])
})

test('the standby reports under its own source', async () => {
  await nightAlerts('standby').alerts.report('backup_started', { backup_id: 'of-the-standby' })
  const alert = await alertNamed('backup.start')
  assert.deepEqual(
    [alert?.source, alert?.title],
    ['platform.backup.standby', 'Backup of-the-standby has begun'],
  )
  assert.match(alert?.body ?? '', /^weight=2 alarm_id=backup\.start\nJob/)
})

test('a lost night has one critical ticket for its date, from any process', async () => {
  const ticket = lostNightTicket('2026-01-31', 'It failed 8 times: no_space.')
  await nightAlerts().alerts.openTicket(ticket)
  await nightAlerts().alerts.openTicket(ticket)
  const tickets = await ticketTitled(ticket.title)
  assert.deepEqual(
    tickets.map(({ level, status, source, description }) => [level, status, source, description]),
    [['critical', 'open', 'platform.backup.primary', 'It failed 8 times: no_space.']],
  )
})

test('a failed self-check has a critical ticket', async () => {
  const ticket = selfcheckTicket('2026-01-31', 'database: malformed')
  await nightAlerts().alerts.openTicket(ticket)
  assert.deepEqual(
    (await ticketTitled(ticket.title)).map(({ level }) => level),
    ['critical'],
  )
})

test('a passed drill walks its ticket through restore completed, summary, resolved and closed', async () => {
  const { alerts, refusals } = nightAlerts()
  const drill = await DrillTicket.open(alerts, '20260131-020000')
  await drill.pass('11 checks passed')
  const [ticket] = await ticketTitled('Restore drill of backup 20260131-020000')
  assert.deepEqual(
    ticket?.comments.map(({ author, text }) => [author, text]),
    [
      ['platform-backup', 'restore completed'],
      ['platform-backup', 'summary: 11 checks passed'],
    ],
  )
  assert.deepEqual([ticket?.status, ticket?.level], ['closed', 'info'])
  const history = await json<{ items: { changes: { status?: string[] } }[] }>(
    `/tickets/${ticket?.id}/history`,
  )
  const moves = history.items.map(({ changes }) => changes.status?.[1]).filter(Boolean)
  assert.deepEqual(moves, ['open', 'resolved', 'closed'])
  assert.deepEqual(refusals(), [])
})

test('a failed drill leaves its ticket open with level high', async () => {
  const { alerts } = nightAlerts()
  const drill = await DrillTicket.open(alerts, '20260201-020000')
  await drill.fail('content-hash: orders differs')
  const [ticket] = await ticketTitled('Restore drill of backup 20260201-020000')
  assert.deepEqual([ticket?.status, ticket?.level], ['open', 'high'])
  assert.deepEqual(
    ticket?.comments.map(({ text }) => text),
    ['restore failed', 'summary: content-hash: orders differs'],
  )
})

test('a comment that was accepted is not written again by another process', async () => {
  const { alerts } = nightAlerts()
  const opening = await alerts.openTicket(lostNightTicket('2026-02-02', 'x'))
  await alerts.editTicket(opening, { comment: 'the drive is full' })
  await nightAlerts().alerts.editTicket(opening, { comment: 'the drive is full' })
  const [ticket] = await ticketTitled('There is no backup of 2026-02-02')
  assert.equal(ticket?.comments.length, 1)
})

test('an entry whose answer is lost is sent again, and changes nothing twice', async () => {
  const lost = new Set<string>()
  const { alerts, refusals } = nightAlerts('primary', (api) => ({
    async send(call) {
      const answer = await api.send(call)
      const name = `${call.method} ${JSON.stringify(call.body)}`
      if (call.method === 'GET' || lost.has(name)) return answer
      lost.add(name)
      return { outcome: 'unavailable', reason: 'the connection failed (ECONNRESET)', retryAfterMs: 0 }
    },
  }))
  const before = await alertNamed('backup.retry')
  await alerts.report('retry_succeeded', { backup_id: 'of-a-lost-answer' })
  const ticket = await alerts.openTicket(lostNightTicket('2026-02-03', 'x'))
  await alerts.editTicket(ticket, { comment: 'the drive is full' })
  await alerts.deliver()
  await alerts.deliver()
  assert.equal(alerts.waiting(), 0)
  assert.equal(lost.size, 3)
  assert.equal((await alertNamed('backup.retry'))?.count, (before?.count ?? 0) + 1)
  const tickets = await ticketTitled('There is no backup of 2026-02-03')
  assert.deepEqual(
    tickets.map(({ comments }) => comments.map(({ text }) => text)),
    [['the drive is full']],
  )
  assert.ok(refusals().every(({ message }) => message.includes('wait in the outbox')))
})

test('the heartbeats are made once, and beaten', async () => {
  interface HeartbeatRow {
    readonly name: string
    readonly every_seconds: number
    readonly grace_seconds: number
    readonly status: string
  }
  const rows = async () => {
    const { items } = await json<{ items: HeartbeatRow[] }>('/alerts/heartbeats')
    return items
      .map(({ name, every_seconds, grace_seconds, status }) => [name, every_seconds, grace_seconds, status])
      .toReversed()
  }
  const { alerts, refusals } = nightAlerts()
  await alerts.registerHeartbeats()
  await alerts.registerHeartbeats()
  assert.deepEqual(await rows(), [
    ['backup', 86_400, 7_200, 'waiting'],
    ['backup-restore-drill', 2_678_400, 86_400, 'waiting'],
  ])
  await alerts.beat('backup')
  await alerts.beat('backup-restore-drill')
  assert.deepEqual(
    (await rows()).map(([, , , status]) => status),
    ['ok', 'ok'],
  )
  assert.deepEqual(refusals(), [])
})

test('a beat of a heartbeat that nobody made is set aside, and what follows is delivered', async () => {
  await platform.call('DELETE', '/alerts/heartbeats/backup')
  const { alerts, directory, refusals } = nightAlerts()
  await alerts.beat('backup')
  await alerts.report('backup_succeeded', { backup_id: 'after-the-beat' })
  assert.equal((await alertNamed('backup.done'))?.title, 'Backup after-the-beat has succeeded')
  assert.deepEqual(
    refusals().map(({ message }) => message),
    ['set aside from the outbox'],
  )
  assert.match(readFileSync(join(directory, 'outbox.refused.jsonl'), 'utf8'), /HTTP status 404.*heartbeat/)
})
