import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { sql } from 'kysely'
import { NIGHT_ALERTS, type NightEvent } from '../../programs/backup/alerts/events.ts'
import { readableStateAlert, unreadableStateAlert } from '../../programs/ticket-notify/notices.ts'
import { needsPerson } from '../../src/domains/payments/model.ts'
import { DECLARED_ALERTS, jobsOf } from '../../src/app/domains.ts'
import { settingsOf } from '../../src/domains/heartbeats/model.ts'
import { AddressPool } from '../../src/domains/pool/index.ts'
import { parseUpload } from '../../src/domains/telemetry/routes.ts'
import { DAY, HOUR, MINUTE, toRfc3339 } from '../../src/kernel/time.ts'
import type { OutboxMessage } from '../../src/ports/outbox.ts'
import type { Callback } from '../../src/ports/payments.ts'
import { isCheckDue, requestCheck } from '../../src/store/work/marks.ts'
import { bundleOf } from '../support/certificate-world.ts'
import { MemoryChannel } from '../support/memory-channel.ts'
import { overviewOn } from '../support/overview.ts'
import { startRouteServer } from '../support/route-server.ts'
import { testStore } from '../support/store.ts'
import { fakeWaitingClock } from '../support/waiting-clock.ts'

/** The whole platform of one process on an empty database. */
async function openWorld() {
  await using opening = new AsyncDisposableStack()
  const clock = fakeWaitingClock()
  const { store } = opening.use(await testStore('sqlite', clock))
  const dataDir = mkdtempSync(join(tmpdir(), 'alert-ends-'))
  opening.defer(() => rmSync(dataDir, { recursive: true }))
  const channel = new MemoryChannel(clock)
  const channels = new Map([[channel.name, channel]])
  const world = overviewOn(store, clock, { DATA_DIR: dataDir }, channels)
  const server = opening.use(await startRouteServer({ ...world, store, clock }))
  const { domains } = world
  const opened = opening.move()
  return {
    ...world,
    clock,
    store,
    dataDir,
    channel,
    post: (path: string, body: unknown) => server.send('POST', path, { body }),
    /** Runs a job of the worker, or of the api. */
    async job(name: string) {
      const jobs = [...jobsOf(domains, 'worker'), ...jobsOf(domains, 'api')]
      const job = jobs.find((each) => each.name === name) ?? assert.fail(`there is no job ${name}`)
      await job.run(new AbortController().signal)
    },
    async pass(milliseconds: number) {
      clock.advance(milliseconds)
      await this.job('alert-time')
    },
    /** What the bus answers to what waits in an outbox. */
    async settle(
      outbox: typeof domains.messages.service | typeof domains.telemetry.outbox,
      outcome: 'delivered' | 'refused',
    ) {
      const waiting: OutboxMessage[] = await outbox.pending(100, ['alert.*'])
      const entries = waiting.map((message) => ({ ...message, reason: 'too large' }))
      await outbox.settle({ delivered: [], failed: [], refused: [], [outcome]: entries })
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

type World = Awaited<ReturnType<typeof openWorld>>
type Step = (w: World) => unknown
interface Case {
  readonly raise: Step
  readonly end: Step
}

const night =
  (event: NightEvent): Step =>
  async (w) => {
    const { alarmId, level } = NIGHT_ALERTS[event]
    const response = await w.post('/alerts/report', { alarm_id: alarmId, source: 'n', title: 't', level })
    assert.ok(response.ok)
  }

const afterADay: Step = (w) => w.pass(DAY)
const upload = (w: World) => {
  const parsed = parseUpload({ agent_id: 'a', items: [{ data: { n: 1 } }] }, w.clock.now())
  return w.store.write((tx) => w.domains.telemetry.service.accept(tx, parsed, 'collector'))
}
const dueExecution =
  (status: 'queued' | 'running'): Step =>
  async ({ store, clock, job }) => {
    const now = clock.now()
    const holder = status === 'running' ? 'a dead worker' : null
    await store.write(({ db }) =>
      sql`insert into command_executions
        (id, command_id, params, requested_by, status, approvals, created_at, due_at, lease_holder, attempts, queued_at)
        values ('e-1', 'orders.expire-due', '{}', 'ada', ${status}, '[]', ${now}, ${now}, ${holder}, 1, ${now})`.execute(
        db,
      ),
    )
    for (let runs = 0; runs < 2; runs++) {
      await job('command-end')
      clock.advance(HOUR + MINUTE)
    }
    await job('command-end')
  }
const afterItsRemoval: Step = async (w) => {
  w.clock.advance(91 * DAY)
  await w.job('command-prune')
}
const register: (w: World, endsInMs: number) => Promise<string> = async (w, endsInMs) => {
  const { service: certificates } = w.domains.certificates
  const bundle = bundleOf({ notAfter: w.clock.now() + endsInMs }, w.clock.now())
  const registration = await certificates.store('shop', bundle)
  return (await w.store.write((tx) => certificates.register(tx, registration, 'ada'))).id
}
const certificateIds = async ({ domains }: World) =>
  (await domains.certificates.service.list({}, { limit: 10 })).items.map(({ id }) => id)
const poolOf = ({ store, clock, domains }: World) =>
  new AddressPool({ store, clock, alerts: domains.alerts.service, cidr: '192.0.2.0/29', coolDownMs: MINUTE })
const deleteCertificates: Step = async (w) => {
  for (const id of await certificateIds(w))
    await w.store.write((tx) => w.domains.certificates.service.remove(tx, id, 'ada'))
}

const openPayment = async ({ store, domains, channel }: World, orderId = 'o-1') => {
  const { service: payments } = domains.payments
  const order = { orderId, platform: 'live', amountCents: 4_990 }
  await store.write((tx) => domains.orders.service.create(tx, order, 'shop'))
  const wanted = { orderId, channel: channel.name }
  const { payment } = await store.write((tx) => payments.create(tx, wanted, 'shop'))
  return payments.complete(payment.id)
}
const receive = ({ store, domains, channel }: World, callback: Callback) =>
  store.write((tx) => domains.payments.service.callbacks.receive(tx, channel.name, callback))
const moveOrder = ({ store, domains }: World, status: 'paid' | 'expired') =>
  store.write((tx) => domains.orders.service.move(tx, 'o-1', status, 'shop'))
const resolvePayments: Step = async ({
  store,
  domains: {
    payments: { service: payments },
  },
}) => {
  const { items } = await payments.list({}, { limit: 10 })
  for (const payment of items) {
    if (!needsPerson(payment)) continue
    await store.write((tx) => payments.resolve(tx, payment.id, `seen: ${payment.attention}`, 'ada'))
  }
}
const reconcile: Step = (w) =>
  w.domains.payments.reconciliations.runNow(w.channel.name, '2026-01-30', undefined, 'ada')

/** How each alert of docs/reference/alerts.md is raised, and how its cause is removed. */
const CASES: Readonly<Record<string, Case>> = {
  'payment.late:*': {
    async raise(w) {
      const { number } = await openPayment(w)
      await moveOrder(w, 'expired')
      await receive(w, w.channel.pay(number))
    },
    end: resolvePayments,
  },
  'payment.duplicate:*': {
    async raise(w) {
      const first = await openPayment(w)
      await w.store.write((tx) => w.domains.payments.service.requestClose(tx, first.id, 'shop'))
      await w.domains.payments.service.close(first.id)
      const wanted = { orderId: 'o-1', channel: w.channel.name }
      const { payment } = await w.store.write((tx) => w.domains.payments.service.create(tx, wanted, 'shop'))
      const second = await w.domains.payments.service.complete(payment.id)
      for (const { number } of [second, first]) await receive(w, w.channel.pay(number))
    },
    end: resolvePayments,
  },
  'payment.amount_mismatch:*': {
    async raise(w) {
      const { number } = await openPayment(w)
      await receive(w, w.channel.pay(number, 1))
    },
    end: resolvePayments,
  },
  'payment.unknown_order:*': {
    raise: (w) => receive(w, w.channel.pay('0'.repeat(32), 4_990)),
    end: resolvePayments,
  },
  'payment.refund_failed:*': {
    async raise(w) {
      const { id, number } = await openPayment(w)
      await receive(w, w.channel.pay(number))
      const refund = await w.store.write((tx) =>
        w.domains.payments.service.refunds.create(tx, id, { reason: 'broken' }, 'ada'),
      )
      await receive(w, w.channel.refundCallback(refund.number, 'failed'))
    },
    end: resolvePayments,
  },
  'payment.channel_failing:*': {
    async raise(w) {
      for (let orders = 0; orders < 5; orders++) {
        w.channel.faults.push({ call: 'create', outcome: 'refused', isDone: false })
        await openPayment(w, `o-${orders}`)
      }
      await w.job('payment-channels')
    },
    async end(w) {
      await openPayment(w, 'o-5')
      await w.job('payment-channels')
    },
  },
  'payment.bad_signature:*': {
    async raise({ domains: { payments }, channel }) {
      const verified = payments.service.callbacks.verify(
        channel.name,
        { 'x-signature': 'bad' },
        Buffer.from('{}'),
      )
      await assert.rejects(verified, { code: 'bad_signature' })
    },
    end: (w) => w.pass(3 * HOUR + MINUTE),
  },
  'payment.reconciliation:*': {
    async raise(w) {
      w.channel.books = [
        {
          type: 'payment',
          number: '0'.repeat(32),
          providerId: 'p',
          status: 'succeeded',
          amountCents: 1,
        },
      ]
      await reconcile(w)
    },
    async end(w) {
      w.channel.books = []
      await reconcile(w)
    },
  },
  'bus.emptied': {
    async raise(w) {
      const { service: messages } = w.domains.messages
      await messages.noteStream(w.clock.now())
      await w.order('o-1')
      await w.settle(messages, 'delivered')
      w.clock.advance(HOUR)
      await messages.noteStream(w.clock.now())
    },
    end: (w) => w.domains.messages.service.replay({ since: 0, until: w.clock.now() }),
  },
  'message.dead:*': {
    async raise(w) {
      await w.order('o-1')
      await w.settle(w.domains.messages.service, 'refused')
    },
    end: (w) => w.domains.messages.service.redriveDead(new AbortController().signal),
  },
  'order.timeout:*': {
    async raise(w) {
      await w.order('o-1')
      w.clock.advance(HOUR)
      await w.domains.orders.service.expireDue(10)
    },
    end: afterADay,
  },
  'telemetry.refused': {
    async raise(w) {
      await upload(w)
      await w.settle(w.domains.telemetry.outbox, 'refused')
    },
    async end(w) {
      await upload(w)
      await w.settle(w.domains.telemetry.outbox, 'delivered')
    },
  },
  'heartbeat.missed:*': {
    async raise(w) {
      const settings = settingsOf({ everySeconds: 30, source: 's' })
      await w.store.write((tx) => w.domains.heartbeats.service.put(tx, 'nightly', settings, 'ada'))
      for (let checks = 0; checks < 8; checks++) {
        await w.domains.heartbeats.service.checkDue()
        w.clock.advance(10_000)
      }
    },
    end: (w) => w.store.write((tx) => w.domains.heartbeats.service.beat(tx, 'nightly', 'ada')),
  },
  'webhook.disabled:*': {
    async raise(w) {
      const { service: webhooks } = w.domains.webhooks
      const settings = { url: 'https://one.example/', subjects: ['a'], description: '', ordered: true }
      await w.store.write(async (tx) => {
        const { id } = await webhooks.create(tx, { ...settings, enabled: true }, 'ada', 0)
        const { id: delivery, ...rest } = await webhooks.test(tx, id, 'ada')
        const result = { status: 410, headers: [], body: '' }
        await webhooks.settle(tx, id, [{ delivery: { ...rest, id: delivery }, result }])
      })
    },
    async end(w) {
      const { service: webhooks } = w.domains.webhooks
      const [webhook] = (await webhooks.list({ limit: 1 })).items
      await w.store.write((tx) => webhooks.remove(tx, webhook?.id ?? '', 'ada', undefined))
    },
  },
  'receiver.failing:*': {
    raise: (w) => w.store.write((tx) => w.domains.alerts.notices.report(tx, 'mail', 'away')),
    end: (w) => w.store.write((tx) => w.domains.alerts.notices.report(tx, 'mail', undefined)),
  },
  'vpn.pool:*': {
    async raise(w) {
      const pool = poolOf(w)
      await w.store.write(async (tx) => {
        await pool.open(tx)
        for (const sessionId of ['a', 'b', 'c', 'd', 'e', 'f'])
          await pool.lease(tx, { sessionId, userId: 'u', device: null }).catch(() => undefined)
      })
      await pool.updateAlert(await pool.usage())
    },
    async end(w) {
      const { rows } = await sql<{ address: number; session_id: string }>`
        select address, session_id from vpn_leases where session_id is not null`.execute(w.store.read.db)
      const pool = poolOf(w)
      await w.store.write(async (tx) => {
        for (const { address, session_id: id } of rows) await pool.release(tx, address, id, w.clock.now())
      })
      // The job of a gateway with another pool.
      await w.job('vpn-pool')
    },
  },
  'certificate.expiring:*': {
    async raise(w) {
      await register(w, 2 * DAY)
      await w.domains.certificates.service.inspect(AbortSignal.timeout(60_000))
    },
    end: deleteCertificates,
  },
  'certificate.file:*': {
    async raise(w) {
      await register(w, 365 * DAY)
      rmSync(join(w.dataDir, 'certs'), { recursive: true })
      await w.domains.certificates.service.inspect(AbortSignal.timeout(60_000))
    },
    end: deleteCertificates,
  },
  'data.backup.failed': {
    async raise(w) {
      const { service: backups } = w.domains['data-backups']
      await w.store.write(async (tx) => {
        const backup = await backups.create(tx, {}, 'ada')
        await backups.finish(tx, backup, { status: 'failed', error: 'no space' })
      })
    },
    async end(w) {
      const { service: backups } = w.domains['data-backups']
      const [failed] = (await backups.list({ limit: 1 })).items
      await w.store.write((tx) => backups.remove(tx, failed?.id ?? '', 'ada'))
    },
  },
  'data.damaged': {
    async raise(w) {
      writeFileSync(join(w.dataDir, 'platform.db'), 'this is no database '.repeat(100))
      await w.store.write(requestCheck)
      await w.job('database-check')
    },
    async end(w) {
      rmSync(join(w.dataDir, 'platform.db'))
      new DatabaseSync(join(w.dataDir, 'platform.db')).close()
      await w.job('database-check')
      assert.equal(await isCheckDue(w.store.read), false)
    },
  },
  'command.incomplete:*': { raise: dueExecution('running'), end: afterItsRemoval },
  'command.not_started:*': { raise: dueExecution('queued'), end: afterItsRemoval },
  'alertmanager.clock:*': {
    async raise(w) {
      for (const alertname of ['a', 'b', 'c'])
        await w.post('/api/v2/alerts', [{ labels: { alertname }, endsAt: toRfc3339(w.clock.now() - HOUR) }])
    },
    end: (w) => w.pass(HOUR),
  },
  'alertmanager.truncated': {
    raise: (w) => w.post('/alerts/alertmanager', { groupKey: 'g', truncatedAlerts: 1, alerts: [] }),
    end: (w) => w.post('/alerts/alertmanager', { groupKey: 'g', truncatedAlerts: 0, alerts: [] }),
  },
  'silence.ending:*': {
    async raise(w) {
      const repeat = { days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'], from: '02:00', to: '03:00' }
      const body = { matchers: { title: 'x' }, reason: 'r', repeat: { ...repeat, time_zone: 'UTC' } }
      await w.post('/alerts/silences', body)
      w.clock.advance(365 * DAY)
      await w.job('alert-silence-end')
    },
    async end(w) {
      w.clock.advance(DAY + MINUTE)
      await w.job('alert-silence-end')
    },
  },
  'backup.start': { raise: night('backup_started'), end: afterADay },
  'backup.done': { raise: night('backup_succeeded'), end: afterADay },
  'backup.failed': { raise: night('backup_failed'), end: night('failure_closed') },
  'backup.failed.critical': { raise: night('night_lost'), end: night('lost_night_closed') },
  'backup.retry': { raise: night('retry_succeeded'), end: afterADay },
  'backup.clean': { raise: night('cleaning_started'), end: night('cleaning_ended') },
  'system.reboot.init': { raise: night('reboot_started'), end: night('reboot_ended') },
  'system.reboot.blocked': { raise: night('reboot_blocked'), end: night('reboot_allowed') },
  'system.selfcheck.failed': { raise: night('selfcheck_failed'), end: night('selfcheck_closed') },
  'ticket-notify.state': {
    raise: (w) => w.post('/alerts/report', unreadableStateAlert('/state', 'no JSON', 'host')),
    end: (w) => w.post('/alerts/report', readableStateAlert('/state', 'host')),
  },
}

for (const [pattern, { severities }] of Object.entries(DECLARED_ALERTS))
  test(`the alert ${pattern} fires, and ends when its cause is gone`, async () => {
    const { raise, end } = CASES[pattern] ?? assert.fail('add a case that raises and ends it')
    await using w = await openWorld()
    const find = async () => {
      const { items } = await w.domains.alerts.service.list({}, { limit: 100 })
      const named = items.filter(({ alarmId }) => alarmId?.startsWith(pattern.replace(/\*$/, '')))
      return named.find(({ alarmId }) => alarmId === pattern) ?? named[0]
    }
    await raise(w)
    const raised = await find()
    assert.equal(raised?.status, 'firing')
    const weights = { CRITICAL: 6, HIGH: 5, ERROR: 4, WARNING: 3, INFO: 2 } as const
    assert.ok(
      severities.some((severity) => weights[severity] === raised.weight),
      `weight ${raised.weight}`,
    )
    await end(w)
    assert.equal((await find())?.status, 'recovered')
  })
