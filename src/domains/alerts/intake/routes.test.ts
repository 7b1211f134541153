import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noNotifications } from '../../../../test/support/alerts.ts'
import { fakeClock } from '../../../../test/support/clock.ts'
import { startRouteServer } from '../../../../test/support/route-server.ts'
import { onEveryDialect, testStore } from '../../../../test/support/store.ts'
import { DeclaredAlerts } from '../../../kernel/alerts.ts'
import type { Role } from '../../../kernel/identity.ts'
import { silentLogger } from '../../../kernel/logger.ts'
import { noMetrics, type Metrics } from '../../../kernel/metrics.ts'
import { HOUR, MINUTE, SECOND, toRfc3339 } from '../../../kernel/time.ts'
import type { DialectName } from '../../../store/dialects/capabilities.ts'
import { alertTimeJob } from '../index.ts'
import { Alerts } from '../service.ts'
import { INTAKE_ALERTS } from './alerts.ts'
import { intakeRoutes } from './routes.ts'

const PATHS = { prometheus: '/api/v2/alerts', alertmanager: '/alerts/alertmanager' } as const
const FIRST_PAGE = { limit: 100 }
const alert = (name: string, more: object = {}) => ({
  labels: { alertname: name, severity: 'critical' },
  annotations: { summary: name },
  ...more,
})

/** How Go writes a time that is not set. */
const ZERO_TIME = '0001-01-01T00:00:00Z'
/** The default of an Alertmanager. */
const REPEAT_INTERVAL_MS = 4 * HOUR

/** What the webhook of an Alertmanager sends. */
const notification = (alerts: readonly object[], more: object = {}) => ({
  receiver: 'platform',
  status: 'firing',
  alerts: alerts.map((each) => ({ status: 'firing', fingerprint: 'b98c7a1e31d07a2b', ...each })),
  groupLabels: {},
  commonLabels: {},
  commonAnnotations: {},
  externalURL: 'http://alertmanager:9093',
  version: '4',
  groupKey: '{}:{}',
  truncatedAlerts: 0,
  ...more,
})

async function startApi(dialect: DialectName = 'sqlite') {
  await using opening = new AsyncDisposableStack()
  const clock = fakeClock()
  const { store } = opening.use(await testStore(dialect, clock))
  const events: string[] = []
  const counted: Record<string, number> = {}
  const metrics: Metrics = {
    ...noMetrics,
    counter: ({ name }) => ({
      increment: (_labels, by = 1) => void (counted[name] = (counted[name] ?? 0) + by),
    }),
  }
  const alerts = new Alerts({
    store,
    clock,
    logger: silentLogger,
    metrics: noMetrics,
    events: { append: async (tx, { type }) => tx.afterCommit(() => events.push(type)) },
    notifications: noNotifications,
    acknowledgeForMs: 4 * HOUR,
    declared: new DeclaredAlerts(INTAKE_ALERTS),
  })
  const routes = intakeRoutes(alerts, {
    clock,
    logger: silentLogger,
    metrics,
    webhookStaleAfterMs: 24 * HOUR,
  })
  const server = opening.use(await startRouteServer({ store, clock, routes, user: 'prometheus' }))
  const opened = opening.move()
  return {
    clock,
    events,
    counted,
    alerts,
    /** Lets time pass, and the worker's job notice it. */
    async pass(milliseconds: number) {
      clock.advance(milliseconds)
      await alertTimeJob(alerts).run(new AbortController().signal)
    },
    post: async (path: string, body: unknown, role: Role = 'service', headers = {}) => {
      const response = await server.send('POST', path, { body, role, headers })
      return {
        status: response.status,
        type: response.headers.get('content-type'),
        text: await response.text(),
      }
    },
    list: async () =>
      (await alerts.list({}, FIRST_PAGE)).items.map(({ title, status, count }) => [title, status, count]),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

onEveryDialect('alerts of Prometheus', (dialect) => {
  test('appear, are counted while they are sent again, and recover, with one event for each change', async () => {
    await using api = await startApi(dialect)
    const answer = await api.post(PATHS.prometheus, [alert('Disk'), alert('Shop')])
    assert.deepEqual([answer.status, answer.text], [200, ''])
    await api.post(PATHS.prometheus, [alert('Disk', { annotations: { summary: 'Disk full' } })])
    assert.deepEqual(
      new Set(await api.list()),
      new Set([
        ['Shop', 'firing', 1],
        ['Disk full', 'firing', 2],
      ]),
    )
    const endsAt = toRfc3339(api.clock.now() - 1)
    for (let repetition = 0; repetition < 3; repetition++)
      await api.post(PATHS.prometheus, [alert('Disk', { endsAt })])
    assert.deepEqual(
      new Set(await api.list()),
      new Set([
        ['Shop', 'firing', 1],
        ['Disk', 'recovered', 2],
      ]),
    )
    assert.deepEqual(api.events, ['alert.raised', 'alert.raised', 'alert.recovered'])
  })

  test('recover by themselves 5 minutes after they were sent last', async () => {
    await using api = await startApi(dialect)
    await api.post(PATHS.prometheus, [alert('DiskFull', { endsAt: ZERO_TIME })])
    await api.pass(5 * MINUTE - 1)
    await api.post(PATHS.prometheus, [alert('DiskFull')])
    await api.pass(5 * MINUTE - 1)
    assert.deepEqual(await api.list(), [['DiskFull', 'firing', 2]])
    await api.pass(1)
    assert.deepEqual(await api.list(), [['DiskFull', 'recovered', 2]])
    assert.deepEqual(api.events, ['alert.raised', 'alert.recovered'])
  })

  test('recover by themselves at the end that was sent last', async () => {
    await using api = await startApi(dialect)
    const endingIn = (milliseconds: number) =>
      api.post(PATHS.prometheus, [alert('DiskFull', { endsAt: toRfc3339(api.clock.now() + milliseconds) })])
    await endingIn(HOUR)
    await endingIn(10 * SECOND)
    await api.pass(10 * SECOND - 1)
    assert.deepEqual(await api.list(), [['DiskFull', 'firing', 2]])
    await api.pass(1)
    assert.deepEqual(await api.list(), [['DiskFull', 'recovered', 2]])
  })

  test('of a group that an Alertmanager repeats every four hours fire until they are resolved', async () => {
    await using api = await startApi(dialect)
    const both = [alert('Disk', { endsAt: ZERO_TIME }), alert('Shop', { endsAt: ZERO_TIME })]
    await api.post(PATHS.alertmanager, notification(both))
    for (let repetition = 0; repetition < 12; repetition++) {
      await api.pass(REPEAT_INTERVAL_MS)
      // The second time and later the Alertmanager names only one of them: the other one is muted there.
      await api.post(PATHS.alertmanager, notification(both.slice(0, 1)))
    }
    assert.deepEqual(api.events, ['alert.raised', 'alert.raised'])
    const resolved = alert('Disk', { status: 'resolved', endsAt: toRfc3339(api.clock.now() - MINUTE) })
    await api.post(PATHS.alertmanager, notification([resolved, both[1] ?? {}]))
    assert.deepEqual(
      new Set((await api.list()).map(([title, status]) => `${title} ${status}`)),
      new Set(['Disk recovered', 'Shop firing']),
    )
  })

  test('of a group that is not heard of any more recover after a day', async () => {
    await using api = await startApi(dialect)
    const both = [alert('Disk'), alert('Shop')]
    await api.post(PATHS.alertmanager, notification(both.slice(0, 1)))
    await api.post(PATHS.alertmanager, notification(both.slice(1), { groupKey: '{}:{other}' }))
    await api.pass(HOUR)
    await api.post(PATHS.alertmanager, notification(both.slice(1), { groupKey: '{}:{other}' }))
    await api.pass(23 * HOUR - 1)
    assert.deepEqual(api.events, ['alert.raised', 'alert.raised'])
    await api.pass(1)
    assert.deepEqual(
      new Set(await api.list()),
      new Set([
        ['Disk', 'recovered', 1],
        ['Shop', 'firing', 2],
      ]),
    )
    await api.pass(HOUR)
    assert.deepEqual(
      new Set(await api.list()),
      new Set([
        ['Disk', 'recovered', 1],
        ['Shop', 'recovered', 2],
      ]),
    )
  })

  test('that come at the same time in different orders are all accepted', async () => {
    await using api = await startApi(dialect)
    const batch = ['a', 'b', 'c', 'd'].map((name) => alert(name))
    const answers = await Promise.all(
      [batch, batch.toReversed()].map((each) => api.post(PATHS.prometheus, each)),
    )
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200],
    )
    assert.deepEqual(
      (await api.list()).map(([, , count]) => count),
      [2, 2, 2, 2],
    )
  })
})

test('a wrong alert is answered with 400 and a JSON text that names the field; the others are taken', async () => {
  await using api = await startApi()
  const answer = await api.post(PATHS.prometheus, [{ labels: {} }, alert('Disk'), { labels: { a: 1 } }])
  assert.deepEqual([answer.status, answer.type], [400, 'application/json; charset=utf-8'])
  assert.equal(
    JSON.parse(answer.text),
    '0.labels must have at least one label with a value; 2.labels.a must be a text',
  )
  assert.deepEqual(await api.list(), [['Disk', 'firing', 1]])
})

test('a body that is no list of alerts is 400', async () => {
  await using api = await startApi()
  for (const body of [{}, 'text', 7, Array.from({ length: 1_001 }, () => alert('Disk'))]) {
    const { status, text } = await api.post(PATHS.prometheus, body)
    assert.deepEqual([status, JSON.parse(text).code], [400, 'validation_failed'])
  }
  assert.deepEqual(await api.list(), [])
})

test('a notification of an Alertmanager raises and recovers alerts; its other keys are ignored', async () => {
  await using api = await startApi()
  const fired = await api.post(PATHS.alertmanager, notification([alert('Disk', { endsAt: ZERO_TIME })]))
  assert.deepEqual([fired.status, fired.text], [200, ''])
  assert.deepEqual(await api.list(), [['Disk', 'firing', 1]])
  const resolved = alert('Disk', { status: 'resolved', endsAt: toRfc3339(api.clock.now()) })
  await api.post(PATHS.alertmanager, notification([resolved]))
  assert.deepEqual(await api.list(), [['Disk', 'recovered', 1]])
})

test('a notification with a wrong alert is refused as a whole, and the field is named', async () => {
  await using api = await startApi()
  for (const [body, path] of [
    [{ alerts: [alert('Disk'), { labels: { a: '' } }] }, 'alerts.1.labels'],
    [{}, 'alerts'],
    [{ version: '3', alerts: [alert('Disk')] }, 'version'],
    [{ alerts: [alert('Disk', { status: 'pending' })] }, 'alerts.0.status'],
  ] as const) {
    const { status, text } = await api.post(PATHS.alertmanager, body)
    const { code, details } = JSON.parse(text)
    assert.deepEqual([status, code, details[0].path], [400, 'validation_failed', path])
  }
  assert.deepEqual(await api.list(), [])
})

test('an alert that comes by both ways is one alert', async () => {
  await using api = await startApi()
  await api.post(PATHS.prometheus, [alert('Disk')])
  await api.post(PATHS.alertmanager, { alerts: [alert('Disk')] })
  assert.deepEqual(await api.list(), [['Disk', 'firing', 2]])
})

test('only callers who may report alerts may send alerts of Prometheus and Alertmanager', async () => {
  await using api = await startApi()
  for (const path of Object.values(PATHS)) {
    assert.equal(
      (await api.post(path, path === PATHS.prometheus ? [] : { alerts: [] }, 'auditor')).status,
      403,
    )
    assert.equal(
      (await api.post(path, path === PATHS.prometheus ? [] : { alerts: [] }, 'devops')).status,
      200,
    )
  }
})

test('the third alert within ten minutes that has ended before it arrives raises an alert about the clock', async () => {
  await using w = await startApi()
  const arrive = (name: string, agoMs: number, headers = {}) => {
    const endsAt = toRfc3339(w.clock.now() - agoMs)
    return w.post(PATHS.prometheus, [alert(name, { endsAt })], 'service', headers)
  }
  const clockAlert = async () => {
    const { items } = await w.alerts.list({ source: 'platform.alerts' }, FIRST_PAGE)
    return items.map(({ alarmId, status, body }) => [alarmId, status, body] as const)
  }
  await w.post(PATHS.prometheus, [alert('normal')])
  // Prometheus repeats the end of an alert for 15 minutes.
  const ended = alert('normal', { endsAt: toRfc3339(w.clock.now()) })
  for (let minutes = 0; minutes < 15; minutes++) {
    w.clock.advance(MINUTE)
    await w.post(PATHS.prometheus, [ended])
  }
  assert.equal(w.counted['alerts_ended_on_arrival_total'], undefined)
  for (const agoMs of [HOUR, HOUR]) {
    await arrive('late', agoMs)
    w.clock.advance(MINUTE)
  }
  assert.deepEqual(await clockAlert(), [])
  const date = new Date(w.clock.now() - HOUR).toUTCString()
  await arrive('late', HOUR, { date })
  const [raised] = await clockAlert()
  assert.deepEqual(raised?.slice(0, 2), ['alertmanager.clock:127.0.0.1', 'firing'])
  assert.match(raised?.[2] ?? '', /Date header .* is 3600 s behind/)
  assert.equal(w.counted['alerts_ended_on_arrival_total'], 3)
  await w.pass(HOUR - MINUTE)
  await arrive('late', HOUR)
  assert.match((await clockAlert())[0]?.[2] ?? '', /Compare the clocks/)
  await w.pass(HOUR - 1)
  assert.equal((await clockAlert())[0]?.[1], 'firing')
  await w.pass(1)
  assert.equal((await clockAlert())[0]?.[1], 'recovered')
})

test('the third resolved alert that has never fired here raises an alert about the clock of an Alertmanager', async () => {
  await using w = await startApi()
  const date = new Date(w.clock.now() - HOUR).toUTCString()
  const clockAlerts = async () => (await w.alerts.list({ source: 'platform.alerts' }, FIRST_PAGE)).items
  for (const [name, raised] of [
    ['a', 0],
    ['b', 0],
    ['b', 0],
    ['c', 1],
  ] as const) {
    const alerts = [alert(name, { status: 'resolved', endsAt: toRfc3339(w.clock.now() - HOUR) })]
    await w.post(PATHS.alertmanager, { alerts }, 'service', { date })
    assert.equal((await clockAlerts()).length, raised, name)
  }
  assert.match((await clockAlerts())[0]?.body ?? '', /Date header .* is 3600 s behind/)
  assert.equal(w.counted['alerts_ended_on_arrival_total'], 3)
})

test('a notification that is not whole raises an alert until each such group is whole or gone', async () => {
  await using w = await startApi()
  const truncated = async () => {
    const { items } = await w.alerts.list({ source: 'platform.alerts' }, FIRST_PAGE)
    return items.map(({ alarmId, status }) => `${alarmId} ${status}`)
  }
  const notify = (groupKey: string, truncatedAlerts: number, names: readonly string[]) =>
    w.post(
      PATHS.alertmanager,
      notification(
        names.map((name) => alert(name)),
        { groupKey, truncatedAlerts },
      ),
    )
  await notify('a', 0, ['one', 'two'])
  assert.deepEqual(await truncated(), [])
  await notify('a', 1, ['one'])
  await notify('b', 2, ['three'])
  assert.deepEqual(await truncated(), ['alertmanager.truncated firing'])
  assert.equal(w.counted['alertmanager_truncated_alerts_total'], 3)
  await w.pass(23 * HOUR)
  await notify('a', 1, ['one'])
  await w.pass(2 * HOUR)
  assert.deepEqual(
    (await w.list()).filter(([title]) => title === 'two').map(([, status]) => status),
    ['firing'],
    'what was left out does not recover by its absence',
  )
  await notify('a', 0, ['one', 'two'])
  await w.pass(0)
  assert.deepEqual(await truncated(), ['alertmanager.truncated recovered'])
  await notify('a', 1, ['one'])
  await notify('a', 0, ['one', 'two'])
  assert.deepEqual(await truncated(), ['alertmanager.truncated recovered'])
})
