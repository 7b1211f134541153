import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { doctorWorld } from '../../../test/support/doctor.ts'
import { startNats } from '../../../test/support/nats.ts'
import { OUTAGES } from '../../kernel/logger.ts'
import { DAY, HOUR, toRfc3339 } from '../../kernel/time.ts'
import type { DoctorFinding } from './doctor.ts'

async function openWorld(t: TestContext) {
  const world = doctorWorld(t)
  await world.migrate()
  return {
    ...world,
    run: (statement: string) => {
      using database = new DatabaseSync(join(world.dataDir, 'platform.db'))
      database.exec(statement)
    },
  }
}

const texts = (findings: readonly DoctorFinding[]) =>
  findings.map(({ result, subject, detail }) => `${result} ${subject}: ${detail}`)

const PROCESS = {
  host: 'one',
  processId: 7,
  version: '2.3.0',
  modules: ['api', 'worker'],
  startedAt: 0,
  dataDir: '/data',
  bus: 'nats://127.0.0.1:1',
  receivers: {},
}

function serving(...processes: object[]): string {
  const rows = processes.map(
    (each, index) =>
      `('serving:${index}', '${JSON.stringify({ ...PROCESS, ...each })}', ${Date.now() + 60_000})`,
  )
  return `insert into leases (name, holder, expires_at) values ${rows.join(', ')}`
}

test('two installations on one database are named with what differs', async (t) => {
  const { examine, run } = await openWorld(t)
  assert.deepEqual(texts((await examine()).of('processes')), [
    'skipped of this database: none runs, or only read-only ones',
  ])
  run(serving({}, { processId: 8, version: '2.2.0', dataDir: '/other', bus: 'nats://bus:4222' }))
  const found = (await examine()).of('processes')
  assert.deepEqual(texts(found), [
    'ok one, process 7: 2.3.0; api, worker; bus nats://127.0.0.1:1; data_dir /data; since 1970-01-01T00:00:00.000Z',
    'ok one, process 8: 2.2.0; api, worker; bus nats://bus:4222; data_dir /other; since 1970-01-01T00:00:00.000Z',
    'warning version: the processes have several: 2.2.0 and 2.3.0',
    'warning bus: the processes have several: nats://127.0.0.1:1 and nats://bus:4222; each event goes to one of them',
    'warning data_dir: the processes on one have several: /data and /other',
  ])
  assert.match(String(found.at(-1)?.remedy), /two installations, give one of them a database of its own/)
})

test('processes without a worker are named before an order is overdue', async (t) => {
  const { examine, run } = await openWorld(t)
  assert.deepEqual(texts((await examine()).of('worker')), ['ok orders: none waits to expire'])
  run(serving({ modules: ['api', 'gateway'] }))
  assert.deepEqual(texts((await examine()).of('worker')), [
    'warning processes: no process that serves this database is a worker',
  ])
})

test('a receiver that fails, and one that the platform has another address of, are named', async (t) => {
  const { dataDir, examine, run } = await openWorld(t)
  const env = { ALERT_ROBOT_URL: 'http://127.0.0.1:1/x', ALERT_ROBOT_KIND: 'generic' }
  assert.deepEqual(texts((await examine(env)).of('receivers')), ['ok robot (generic): nothing was sent yet'])
  run(`update alert_channels set failing_since = ${HOUR}, last_error = 'HTTP 404', last_success_at = 0`)
  const [failing] = (await examine(env)).of('receivers')
  assert.equal(
    `${failing?.result} ${failing?.detail}`,
    `error has failed since ${toRfc3339(HOUR)}: HTTP 404; last sent at ${toRfc3339(0)}; messages that wait: 0`,
  )
  assert.match(String(failing?.remedy), /then run: platform alerts test robot$/)
  run(serving({ receivers: { robot: 'another' } }))
  assert.match(
    texts((await examine({ ...env, JWT_SECRET: 'k'.repeat(40) })).of('receivers')).join(),
    /^warning .*process 7 on one has another address or secret for it/,
    dataDir,
  )
})

test('a silence of all alerts is named with what ends it, and another one is shown', async (t) => {
  const { examine, run } = await openWorld(t)
  const env = { ALERT_ROBOT_URL: 'http://127.0.0.1:1/x', ALERT_ROBOT_KIND: 'generic' }
  const silence = (id: string, source: string, endsAt: number) =>
    run(`insert into alert_silences (id, matchers, reason, starts_at, ends_at, created_by, created_at, version)
      values ('${id}', '{"source":"${source}"}', 'A move', 0, ${endsAt}, 'ada', 0, 1)`)
  const endsAt = Date.now() + DAY
  silence('s-1', '*', endsAt)
  silence('s-2', 'shop.*', endsAt)
  silence('s-3', '*', Date.now() - HOUR)
  const found = (await examine(env)).of('receivers').slice(1)
  assert.deepEqual(texts(found), [
    `ok silence s-2: by ada until ${toRfc3339(endsAt)}: A move`,
    `warning silence s-1: by ada until ${toRfc3339(endsAt)}: no alert is sent (A move)`,
  ])
  assert.match(String(found[1]?.remedy), /DELETE \/alerts\/silences\/s-1/)
})

test('a platform without an enabled administrator, and a provider that does not answer, are named', async (t) => {
  const { examine, run } = await openWorld(t)
  const skipped = texts((await examine()).of('sign-in'))
  assert.match(
    skipped.join('\n'),
    /^skipped administrators: the first start .*\nskipped auth\.oidc\.issuer: is not set/,
  )
  run(`insert into users
    (id, name, name_key, password_hash, roles, enabled, token_generation, tokens_valid_from, created_at, updated_at)
    values ('u-1', 'ada', 'ada', '', 'admin', 0, 0, 0, 1, 1)`)
  const oidc = {
    AUTH_OIDC_ISSUER: 'https://127.0.0.1:1',
    AUTH_OIDC_CLIENT_ID: 'platform',
    AUTH_OIDC_CLIENT_SECRET: 'canary-canary-canary',
  }
  const [admins, provider] = (await examine(oidc)).of('sign-in')
  assert.deepEqual([admins?.result, provider?.result], ['warning', 'error'])
  assert.match(String(admins?.remedy), /platform user enable NAME/)
  assert.match(String(provider?.detail), /^does not answer: /)
  run('update users set enabled = 1')
  assert.equal((await examine()).of('sign-in')[0]?.result, 'ok')
})

test('a command that runs longer than its timeout is named', async (t) => {
  const { examine, run } = await openWorld(t)
  const execution = (id: string, status: string, at: number) =>
    run(`insert into command_executions
      (id, command_id, params, requested_by, status, approvals, created_at, started_at, host, attempts, queued_at)
      values ('${id}', 'disk', '{}', 'ada', '${status}', '[]', ${at}, ${at}, 'one', 0, ${at})`)
  execution('e-1', 'running', Date.now() - DAY)
  execution('e-2', 'running', Date.now())
  execution('e-3', 'queued', Date.now() - HOUR)
  const found = (await examine()).of('commands')
  assert.deepEqual(
    found.map(({ result, subject }) => `${result} ${subject}`),
    ['warning disk e-1', 'ok disk e-2', 'warning disk e-3'],
  )
  assert.match(String(found[0]?.remedy), /POST \/commands\/executions\/e-1\/cancel/)
})

test('a receiver, a silence and a command are named however many others there are', async (t) => {
  const { dataDir, examine, run } = await openWorld(t)
  const many = (columns: string, values: string, table: string, count: number) =>
    run(`with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${count})
      insert into ${table} (${columns}) select ${values} from numbers`)
  const config = `${dataDir}.toml`
  const receiver = (n: number) => `[receivers.r-${n}]\nkind = "generic"\nurl = "http://127.0.0.1:1/"\n`
  writeFileSync(config, Array.from({ length: 120 }, (_, n) => receiver(n)).join(''), { mode: 0o600 })
  run(`insert into alert_channels (name, failing_since, last_error) values ('r-99', ${HOUR}, 'HTTP 404')`)
  const silence = 'id, matchers, reason, starts_at, ends_at, created_by, created_at, version'
  const until = Date.now() + DAY
  run(
    `insert into alert_silences (${silence}) values ('s-all', '{"source":"*"}', 'A move', 0, ${until}, 'ada', 0, 1)`,
  )
  many(silence, `'s-' || n, '{"source":"shop"}', 'A move', 0, ${until}, 'ada', 0, 1`, 'alert_silences', 120)
  const found = async (check: string) => (await examine({ PLATFORM_CONFIG: config })).of(check)
  const warned = async (check: string) =>
    (await found(check)).filter(({ result }) => result === 'warning' || result === 'error')
  assert.deepEqual(
    (await warned('receivers')).map(({ subject }) => subject),
    ['r-99 (generic)', 'silence s-all'],
  )
  assert.match(
    String(texts(await found('receivers')).at(-1)),
    /^skipped silences: 111 more that are active: GET/,
  )
  const execution =
    'id, command_id, params, requested_by, status, approvals, created_at, started_at, host, attempts, queued_at'
  const rest = `'{}', 'ada', 'queued', '[]', 0, null, null, 0, ${Date.now()}`
  many(execution, `'w-' || n, 'disk', ${rest}`, 'command_executions', 120)
  many(execution, `'e-1', 'disk', '{}', 'ada', 'running', '[]', 0, 0, 'one', 0, 0`, 'command_executions', 1)
  assert.deepEqual(
    (await warned('commands')).map(({ subject }) => subject),
    ['disk e-1'],
  )
  assert.match(String(texts(await found('commands')).at(-1)), /^skipped executions: 111 more that wait: GET/)
})

test('a program of a command that the worker cannot start is named', async (t) => {
  const { examine, dataDir } = await openWorld(t)
  const [config, program] = [`${dataDir}.toml`, `${dataDir}-program`]
  writeFileSync(program, '#!/bin/sh', { mode: 0o644 })
  const commands = [
    ['plain', program],
    ['lost', '/nowhere/lost'],
    ['unknown', 'no-such-program'],
    ['good', 'sh'],
  ]
  writeFileSync(config, commands.map(([id, run]) => `[commands.${id}]\nrun = ["${run}"]\n`).join(''), {
    mode: 0o600,
  })
  const found = async (module: string) =>
    texts((await examine({ PLATFORM_CONFIG: config, PATH: '/usr/bin:/bin', MODULE: module })).of('commands'))
  assert.deepEqual(await found('all'), [
    `warning commands.plain.run: the user of the service cannot execute ${program}`,
    'warning commands.lost.run: /nowhere/lost does not exist',
    'warning commands.unknown.run: no-such-program is in no directory of PATH (/usr/bin:/bin)',
    'ok executions: none runs or waits',
  ])
  assert.deepEqual(await found('api'), ['ok executions: none runs or waits'], 'an api starts none')
})

test('a webhook that fails is named before it is disabled', async (t) => {
  const { examine, run } = await openWorld(t)
  const webhook = (id: string, enabled: number, failingSince: number | null) =>
    run(`insert into webhooks (id, url, subjects, description, ordered, enabled, version, created_at, created_by,
      updated_at, updated_by, failing_since, pending, secret, place, attempts, queued_at)
      values ('${id}', 'https://hook.example/canary', '["order.*"]', '', 1, ${enabled}, 1, 0, 'ada', 0, 'ada',
        ${failingSince}, 3, 'x', 0, 0, 0)`)
  webhook('w-1', 1, null)
  webhook('w-2', 0, HOUR)
  assert.deepEqual(texts((await examine()).of('webhooks')), [
    'ok endpoints: 2 are registered; no enabled one fails',
  ])
  webhook('w-3', 1, HOUR)
  const found = (await examine()).of('webhooks')
  assert.deepEqual(texts(found), [
    `warning w-3: hook.example has failed since ${toRfc3339(HOUR)}; events that wait: 3; it is disabled after 5 days of failures`,
  ])
  assert.match(String(found[0]?.remedy), /GET \/webhooks\/w-3\/deliveries/)
})

test('what the bus has lost is an error until it was sent again', async (t) => {
  const { examine, run } = await openWorld(t)
  const nats = await startNats({ jetstream: true })
  t.after(() => nats.stop())
  run(`insert into leases (name, holder, expires_at)
    values ('bus-stream', '{"madeAt":2000,"lost":{"since":0,"until":3000}}', 1)`)
  const lost = (await examine({ BUS_SERVER: nats.url }))
    .of('bus')
    .find(({ subject }) => subject === 'messages')
  assert.equal(lost?.result, 'error')
  assert.match(
    String(lost?.remedy),
    /run: platform messages replay --since 1970-01-01T00:00:00\.000Z --until 1970-01-01T00:00:03\.000Z$/,
  )
})

test('what the bus has not stored is named while it has no JetStream, and until it was sent again', async (t) => {
  const { examine, run } = await openWorld(t)
  const [off, on] = [await startNats({ jetstream: false }), await startNats({ jetstream: true })]
  t.after(() => Promise.all([off.stop(), on.stop()]))
  const mark = (value: object) =>
    run(`insert or replace into leases (name, holder, expires_at)
      values ('bus-stream', '${JSON.stringify(value)}', 1)`)
  const found = async ({ url }: { readonly url: string }) =>
    (await examine({ BUS_SERVER: url }))
      .of('bus')
      .flatMap(({ remedy, cause }) => (cause?.code ? [`${cause.code}: ${remedy}`] : []))
  mark({ unstoredSince: HOUR })
  const since = '1970-01-01T01:00:00.000Z'
  const [open] = await found(off)
  assert.match(String(open), /^jetstream_off_since: .*then run: platform messages replay --since \S+Z$/)
  assert.deepEqual(await found(on), [`bus_unstored: run: platform messages replay --since ${since}`])
  mark({ madeAt: DAY, lost: { since: HOUR, until: DAY, isUnstored: true } })
  const until = '1970-01-02T00:00:00.000Z'
  assert.deepEqual(await found(on), [
    `bus_unstored: run: platform messages replay --since ${since} --until ${until}`,
  ])
})

test('with --module only what those modules need is examined', async (t) => {
  const { examine } = await openWorld(t)
  const checks = async (module: string) =>
    new Set((await examine({ MODULE: module })).report.findings.map(({ check }) => check))
  const [all, gateway] = [await checks('all'), await checks('gateway')]
  const left = [
    'engine',
    'worker',
    'payments',
    'certificates',
    'receivers',
    'alerts',
    'webhooks',
    'commands',
    'sign-in',
    'backup',
  ]
  assert.deepEqual([...all.difference(gateway)].toSorted(), left.toSorted())
  assert.deepEqual([...all.difference(await checks('worker'))].toSorted(), [
    'gateway',
    'ports',
    'sign-in',
    'standby',
    'tls',
  ])
})

test('where another platform serves the database no other key is suggested', async (t) => {
  const { examine, run, dataDir } = await openWorld(t)
  run("insert into leases (name, holder, expires_at) values ('signing-key', 'key-x', 1)")
  run(serving({}))
  const [key] = (await examine()).of('files')
  assert.match(
    String(key?.detail),
    /^the platform on one \(process 7, data_dir \/data\) serves this database, /,
  )
  assert.match(String(key?.remedy), /^copy its jwt-secret there.*a database of its own$/, dataDir)
})

test('the guide leads from a symptom to every check, and the report to the guide', async (t) => {
  const { examine, table } = await openWorld(t)
  const guide = readFileSync(
    join(import.meta.dirname, '../../../docs/guide/when-something-is-wrong.md'),
    'utf8',
  )
  const { report } = await examine()
  // The first finding of a wrong configuration; its errors name themselves.
  const checks = new Set(report.findings.map(({ check }) => check)).difference(
    new Set(['configuration', 'access']),
  )
  assert.deepEqual(
    [...checks].filter((check) => !guide.includes(`\`${check}\``)),
    [],
  )
  for (const { lasts } of [
    OUTAGES.database,
    OUTAGES.bus,
    OUTAGES.busStream,
    OUTAGES.delivery,
    OUTAGES.api,
    OUTAGES.primary,
  ])
    assert.ok(guide.includes(lasts.split(/[:,]/)[0] ?? ''), lasts)
  assert.match((await table()).output, /\nBy symptom: \S*docs\/guide\/when-something-is-wrong\.md\n$/)
})

test('a file of a receiver that cannot be used is named, and says nothing about the database', async (t) => {
  const { examine, dataDir } = await openWorld(t)
  const [config, file] = [`${dataDir}.toml`, `${dataDir}-url`]
  writeFileSync(config, `[receivers.chat]\nkind = "slack"\nurl_file = "${file}"\n`, { mode: 0o600 })
  writeFileSync(file, 'http://127.0.0.1:1/canary', { mode: 0o644 })
  const { of } = await examine({ PLATFORM_CONFIG: config })
  const errors = of('configuration').filter(({ result }) => result === 'error')
  assert.deepEqual(texts(errors), [`error file ${file}: receivers.chat.url_file: mode 644`])
  assert.equal(of('database')[0]?.result, 'ok')
  assert.ok(!JSON.stringify(errors).includes('canary'))
})

test('what the bus does not take, and what it has refused, is named', async (t) => {
  const { examine, run } = await openWorld(t)
  const nats = await startNats({ jetstream: true })
  t.after(() => nats.stop())
  const ofMessages = async () =>
    (await examine({ BUS_SERVER: nats.url })).of('bus').filter(({ subject }) => subject.endsWith('messages'))
  const message = (id: string, status: string, at: number) =>
    run(`insert into messages (id, subject, payload, headers, status, attempts, last_error, created_at)
      values ('${id}', 'order.paid', '{}', '{}', '${status}', 1, 'insufficient resources', ${at})`)
  message('m-1', 'pending', Date.now())
  assert.deepEqual(texts(await ofMessages()), [])
  message('m-2', 'dead', 0)
  run(`update messages set created_at = ${HOUR} where id = 'm-1'`)
  assert.deepEqual(texts(await ofMessages()), [
    `error waiting messages: order.paid waits since ${toRfc3339(HOUR)}: insufficient resources`,
    'warning dead messages: 1 refused for good',
  ])
})

test('an alert of the platform that needs a person is named with what to do', async (t) => {
  const { examine, run } = await openWorld(t)
  const alert = (alarmId: string, status: string, source: string) =>
    run(`insert into alerts (id, alarm_id, source, title, body, level, weight, status, count, first_at, last_at,
      identity, swings, version) values ('${alarmId}', '${alarmId}', '${source}', 'The title', 'The\nbody', 3, 4,
      '${status}', 1, 0, 0, '${alarmId}', '[]', 1)`)
  assert.deepEqual(texts((await examine()).of('alerts')), ['ok of the platform: none needs a person'])
  alert('webhook.disabled:w-1', 'firing', 'platform.webhooks')
  alert('vpn.pool:100.64.0.0/29', 'firing', 'platform.vpn')
  alert('heartbeat.missed:nightly', 'acknowledged', 'platform.heartbeats')
  alert('order.timeout:o-1', 'firing', 'platform.orders')
  alert('shop.slow', 'firing', 'shop')
  const found = (await examine()).of('alerts')
  assert.deepEqual(texts(found), [
    'warning vpn.pool:100.64.0.0/29: since 1970-01-01T00:00:00.000Z: The title: The body',
    'warning webhook.disabled:w-1: since 1970-01-01T00:00:00.000Z: The title: The body',
  ])
  assert.match(String(found[1]?.remedy), /^Repair the endpoint\./)
})

test('alerts of orders hide none of the platform, and those that are not shown are counted', async (t) => {
  const { examine, run } = await openWorld(t)
  const alerts = (count: number, alarmId: string, source: string, weight: number) =>
    run(`with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${count})
      insert into alerts (id, alarm_id, source, title, body, level, weight, status, count, first_at, last_at,
      identity, swings, version) select '${alarmId}' || n, '${alarmId}' || n, '${source}', 'T', '', 3, ${weight},
      'firing', 1, 0, 0, '${alarmId}' || n, '[]', 1 from numbers`)
  alerts(150, 'order.timeout:', 'platform.orders', 5)
  alerts(12, 'webhook.disabled:', 'platform.webhooks', 4)
  const found = (await examine()).of('alerts')
  assert.equal(found.length, 11)
  assert.equal(
    texts(found).at(-1),
    'skipped of the platform: 2 more that need a person: GET /alerts?status=firing',
  )
})
