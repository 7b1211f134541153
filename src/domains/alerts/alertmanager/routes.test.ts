import assert from 'node:assert/strict'
import { it, test } from 'node:test'
import { Type, type TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { alertWorld, FAILED } from '../../../../test/support/alerts.ts'
import { startRouteServer } from '../../../../test/support/route-server.ts'
import { onEveryDialect } from '../../../../test/support/store.ts'
import { silentLogger } from '../../../kernel/logger.ts'
import { noMetrics } from '../../../kernel/metrics.ts'
import { DAY, HOUR, toRfc3339 } from '../../../kernel/time.ts'
import type { DialectName } from '../../../store/dialects/capabilities.ts'
import { fingerprintOf } from '../labels.ts'
import { defaultRoute } from '../notifications/routing.ts'
import { Silences } from '../silences/service.ts'
import { alertmanagerRoutes } from './routes.ts'
import { Alertmanager } from './service.ts'

interface ShownAlert {
  readonly fingerprint: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
  readonly receivers: readonly object[]
  readonly startsAt: string
  readonly generatorURL?: string
  readonly status: {
    readonly state: string
    readonly silencedBy: readonly string[]
    readonly inhibitedBy: readonly string[]
  }
}
interface ShownSilence {
  readonly id: string
  readonly matchers: readonly object[]
  readonly createdBy: string
  readonly status: { readonly state: string }
}

async function startApi(dialect: DialectName) {
  await using opening = new AsyncDisposableStack()
  const world = opening.use(await alertWorld(dialect))
  const { clock, store } = world
  const silences = new Silences({
    store,
    clock,
    logger: silentLogger,
    metrics: noMetrics,
    events: { append: async () => undefined },
    alerts: {
      endSilence: async () => undefined,
      raise: async () => undefined,
      recoverIfRaised: async () => undefined,
    },
  })
  const userNames = async (ids: readonly string[]) => ids.map((id) => ({ id, name: `name of ${id}` }))
  const receivers = ['chat', 'mail']
  const routing = {
    receivers: receivers.toReversed(),
    routes: [defaultRoute(receivers, 0)],
    isDamping: false,
  }
  const deps = { store, clock, version: '1.2.3', routing, userNames }
  const server = opening.use(
    await startRouteServer({ routes: alertmanagerRoutes(new Alertmanager(deps), silences), store, clock }),
  )
  const get = async <T>(path: string) => {
    const answer = await server.send('GET', `/api/v2${path}`)
    assert.equal(answer.status, 200, path)
    return (await answer.json()) as T
  }
  const silenceBody = (matchers: readonly object[], more: object = {}) => ({
    matchers,
    startsAt: toRfc3339(clock.now()),
    endsAt: toRfc3339(clock.now() + HOUR),
    createdBy: 'somebody else',
    comment: 'Maintenance',
    ...more,
  })
  const opened = opening.move()
  return {
    ...world,
    get,
    silenceBody,
    send: server.send,
    alertsOf: (query = '') => get<ShownAlert[]>(`/alerts${query}`),
    async silence(matchers: readonly object[], more?: object) {
      const answer = await server.send('POST', '/api/v2/silences', { body: silenceBody(matchers, more) })
      assert.equal(answer.status, 200)
      return ((await answer.json()) as { silenceID: string }).silenceID
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

const titles = (alerts: readonly ShownAlert[]) => alerts.map(({ labels }) => labels['alertname'])
const equal = (name: string, value: string) => ({ name, value, isRegex: false, isEqual: true })

test('the fingerprint is that of an Alertmanager', () => {
  assert.equal(fingerprintOf({}), 'cbf29ce484222325')
  assert.equal(fingerprintOf({ source: 'platform.backup', alertname: 'BackupFailed' }), 'b98c7a1e31d07a2b')
})

test('the status names the first receiver of the default route', async () => {
  await using w = await startApi('sqlite')
  const { config } = await w.get<{ config: { original: string } }>('/status')
  assert.match(config.original, /^ {2}receiver: "chat"$/m)
})

onEveryDialect('the alerts of the interface of Alertmanager', (dialect) => {
  it('have the labels of their intake, or those of a report, and are filtered by matchers', async () => {
    await using w = await startApi(dialect)
    await w.report(FAILED)
    const labels = { alertname: 'DiskFull', severity: 'page' }
    await w.report({ ...FAILED, alarmId: 'disk', title: 'The disk is full', labels: JSON.stringify(labels) })
    await w.report({ ...FAILED, alarmId: 'over', level: 'CLOSE' })
    const [disk, report] = await w.alertsOf()
    assert.deepEqual(disk?.labels, labels)
    assert.equal(disk?.fingerprint, fingerprintOf(labels))
    assert.deepEqual(report?.labels, {
      alertname: FAILED.title,
      alarm_id: FAILED.alarmId,
      server_addr: FAILED.serverAddr,
      severity: 'error',
      source: FAILED.source,
    })
    assert.deepEqual(report?.annotations, { summary: FAILED.title, description: FAILED.body })
    assert.deepEqual(report?.receivers, [{ name: 'chat' }, { name: 'mail' }])
    const found = async (query: string) => titles(await w.alertsOf(query))
    assert.deepEqual(await found('?filter=severity%3D%22page%22'), ['DiskFull'])
    assert.deepEqual(await found('?filter=severity!%3Dpage&filter=source%3D~%22platform.*%22'), [
      FAILED.title,
    ])
    assert.deepEqual(await found('?receiver=ch.*'), ['DiskFull', FAILED.title])
    assert.deepEqual(await found('?receiver=ch'), [])
    assert.equal((await w.send('GET', '/api/v2/alerts?filter=a%3D~(')).status, 400)
  })

  it('begin when their sender says, and lead to it', async () => {
    await using w = await startApi(dialect)
    const start = w.clock.now()
    const generatorUrl = 'http://prometheus.example.org/graph?g0.expr=up'
    const shown = async () => {
      const [alert] = await w.alertsOf()
      return [Date.parse(alert?.startsAt ?? '') - start, alert?.generatorURL]
    }
    await w.report({ ...FAILED, startsAt: start - 60_000, generatorUrl })
    assert.deepEqual(await shown(), [-60_000, generatorUrl])
    w.clock.advance(1_000)
    await w.report({ ...FAILED, startsAt: start, generatorUrl })
    assert.deepEqual(await shown(), [-60_000, generatorUrl], 'the earliest start counts')
    await w.report({ ...FAILED, level: 'CLOSE' })
    await w.report(FAILED)
    assert.deepEqual(await shown(), [1_000, undefined], 'it has recovered meanwhile')
  })

  it('are active, silenced or inhibited', async () => {
    await using w = await startApi(dialect)
    await w.report(FAILED)
    await w.report({ ...FAILED, alarmId: `${FAILED.alarmId}.critical`, title: 'Critical' })
    const { alert } = await w.report({ ...FAILED, alarmId: 'quiet', title: 'Quiet' })
    await w.alerts.acknowledge(alert.id, null, 'anna')
    const silence = await w.silence([equal('alertname', 'Quiet')])
    const found = async (query: string) => titles(await w.alertsOf(query))
    assert.deepEqual(await found(''), ['Critical', FAILED.title, 'Quiet'])
    assert.deepEqual(await found('?active=false'), [FAILED.title, 'Quiet'])
    assert.deepEqual(await found('?silenced=false'), ['Critical', FAILED.title])
    assert.deepEqual(await found('?inhibited=false&silenced=false'), ['Critical'])
    const [critical, inhibited, silenced] = await w.alertsOf()
    assert.deepEqual(silenced?.status.silencedBy, [silence])
    assert.deepEqual(inhibited?.status.inhibitedBy, [critical?.fingerprint])
    assert.equal(critical?.status.state, 'active')
    const groups =
      await w.get<{ labels: object; receiver: { name: string }; alerts: ShownAlert[] }[]>('/alerts/groups')
    assert.deepEqual(
      groups.map(({ labels, receiver, alerts }) => [labels, receiver.name, alerts.length]),
      [
        [{ source: FAILED.source }, 'chat', 3],
        [{ source: FAILED.source }, 'mail', 3],
      ],
    )
  })
})

onEveryDialect('the silences of the interface of Alertmanager', (dialect) => {
  it('are created, replaced and ended, by the name of the caller', async () => {
    await using w = await startApi(dialect)
    const first = await w.silence([equal('alertname', 'a')])
    const second = await w.silence([equal('alertname', 'b')], { id: first })
    const [shown, replaced] = await w.get<ShownSilence[]>('/silences')
    assert.deepEqual([shown?.id, shown?.status.state], [second, 'active'])
    assert.deepEqual([replaced?.id, replaced?.status.state], [first, 'expired'])
    assert.match(shown?.createdBy ?? '', /^name of /)
    assert.deepEqual(await w.get<ShownSilence>(`/silence/${second}`), shown)
    assert.equal((await w.send('DELETE', `/api/v2/silence/${second}`)).status, 200)
    assert.equal((await w.get<ShownSilence>(`/silence/${second}`)).status.state, 'expired')
    w.clock.advance(5 * DAY)
    assert.deepEqual(await w.get('/silences'), [])
  })

  it('of the platform have matchers too', async () => {
    await using w = await startApi(dialect)
    const endsAt = w.clock.now() + HOUR
    const matchers = { source: 'shop.web*', title: 'Slow' }
    await w.silences.create({ matchers, reason: 'r', endsAt }, 'anna')
    const [shown] = await w.get<ShownSilence[]>('/silences?filter=alertname%3DSlow')
    assert.deepEqual(shown?.matchers, [
      { ...equal('source', 'shop\\.web.*'), isRegex: true },
      equal('alertname', 'Slow'),
    ])
    assert.deepEqual(await w.get('/silences?filter=alertname%3DOther'), [])
  })

  it('that match every alert, take too long to match, or replace none are refused', async () => {
    await using w = await startApi(dialect)
    const refused = async (status: number, matcher: object, more?: object) => {
      const body = w.silenceBody([matcher], more)
      assert.equal((await w.send('POST', '/api/v2/silences', { body })).status, status)
    }
    await refused(400, { name: 'a', value: '.*', isRegex: true })
    await refused(400, { name: 'a', value: '(?:x{50}){50}', isRegex: true })
    await refused(400, { name: 'a', value: '(?<=x)y', isRegex: true })
    await refused(400, equal('a', 'b'), { endsAt: toRfc3339(w.clock.now() + 31 * DAY) })
    await refused(404, equal('a', 'b'), { id: 'unknown' })
  })
})

const TIME = Type.String({ pattern: String.raw`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$` })
const TEXTS = Type.Record(Type.String(), Type.String())
const MATCHER = {
  name: Type.String(),
  value: Type.String(),
  isRegex: Type.Boolean(),
  isEqual: Type.Boolean(),
}

// What karma decodes: internal/mapper/v017/api.go of prymitive/karma at 17e3d7e5
const KARMA_ALERT = Type.Object({
  startsAt: TIME,
  annotations: TEXTS,
  labels: TEXTS,
  fingerprint: Type.String(),
  status: Type.Object({
    state: Type.Enum(['active', 'suppressed', 'unprocessed']),
    inhibitedBy: Type.Array(Type.String()),
    silencedBy: Type.Array(Type.String()),
  }),
})
const KARMA_GROUPS = Type.Array(
  Type.Object({
    labels: TEXTS,
    receiver: Type.Object({ name: Type.String() }),
    alerts: Type.Array(KARMA_ALERT),
  }),
  { minItems: 1 },
)
const KARMA_SILENCE = Type.Object({
  id: Type.String(),
  startsAt: TIME,
  endsAt: TIME,
  comment: Type.String(),
  createdBy: Type.String(),
  matchers: Type.Array(Type.Object(MATCHER), { minItems: 1 }),
})

// What Grafana decodes: public/app/plugins/datasource/alertmanager/types.ts of grafana/grafana at 042c1c53
const GRAFANA_ALERT = Type.Interface([KARMA_ALERT], {
  updatedAt: TIME,
  endsAt: TIME,
  receivers: Type.Array(Type.Object({ name: Type.String() }), { minItems: 1 }),
})
const GRAFANA_GROUPS = Type.Array(
  Type.Object({
    labels: TEXTS,
    receiver: Type.Object({ name: Type.String() }),
    alerts: Type.Array(GRAFANA_ALERT),
  }),
  { minItems: 1 },
)
const GRAFANA_SILENCE = Type.Interface([KARMA_SILENCE], {
  updatedAt: TIME,
  status: Type.Object({ state: Type.Enum(['active', 'pending', 'expired']) }),
})
const GRAFANA_STATUS = Type.Object({
  cluster: Type.Object({ peers: Type.Array(Type.Unknown()), status: Type.String() }),
  config: Type.Object({ original: Type.String() }),
  uptime: TIME,
  versionInfo: Type.Object({
    branch: Type.String(),
    buildDate: Type.String(),
    buildUser: Type.String(),
    goVersion: Type.String(),
    revision: Type.String(),
    version: Type.String(),
  }),
})

/** The requests of a client, and what it decodes; `{silence}` is the id of its silence. */
const CLIENTS: Readonly<Record<string, readonly (readonly [path: string, schema: TSchema])[]>> = {
  karma: [
    ['/api/v2/alerts/groups', KARMA_GROUPS],
    ['/api/v2/silences', Type.Array(KARMA_SILENCE, { minItems: 1 })],
  ],
  // It passes on the parameters of its own pages.
  Grafana: [
    ['/api/v2/status', GRAFANA_STATUS],
    ['/api/v2/alerts?silenced=true&active=true&inhibited=true', Type.Array(GRAFANA_ALERT, { minItems: 1 })],
    ['/api/v2/alerts?unprocessed=true&filter=alertname%3D%22Backup%20failed%22', Type.Array(GRAFANA_ALERT)],
    ['/api/v2/alerts/groups?receiver=chat&active=true', GRAFANA_GROUPS],
    ['/api/v2/silences?ruleMetadata=true&accesscontrol=true', Type.Array(GRAFANA_SILENCE, { minItems: 1 })],
    ['/api/v2/silence/{silence}?ruleMetadata=true&accesscontrol=true', GRAFANA_SILENCE],
  ],
}

for (const [client, requests] of Object.entries(CLIENTS))
  test(`${client} finds what it asks for, creates a silence, and ends it`, async () => {
    await using w = await startApi('sqlite')
    await w.report(FAILED)
    await w.report({ ...FAILED, alarmId: 'disk', labels: JSON.stringify({ alertname: 'DiskFull' }) })
    // The proxy of karma sends what the browser sent.
    const headers = { origin: 'https://karma.example.org', 'accept-encoding': 'gzip', accept: '*/*' }
    const matchers = [{ name: 'alertname', value: '(DiskFull|Disk\\.Slow)', isRegex: true, isEqual: true }]
    const created = await w.send('POST', '/api/v2/silences', { body: w.silenceBody(matchers), headers })
    assert.equal(created.status, 200)
    const { silenceID } = (await created.json()) as { silenceID: string }
    for (const [path, schema] of requests) {
      const answer = await w.send('GET', path.replace('{silence}', silenceID), { headers })
      assert.equal(answer.status, 200, path)
      assert.match(answer.headers.get('content-type') ?? '', /json/)
      assert.deepEqual([...Value.Errors(schema, await answer.json())], [], path)
    }
    const ended = await w.send('DELETE', `/api/v2/silence/${silenceID}`, { headers })
    assert.equal(ended.status, 200)
  })
