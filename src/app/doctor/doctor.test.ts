import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { createServer, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { sql } from 'kysely'
import { stripVTControlCharacters } from 'node:util'
import { lostNightDirectory } from '../../../programs/backup/index.ts'
import { EMPTY_STATE } from '../../../programs/backup/night/state.ts'
import { fakeClock } from '../../../test/support/clock.ts'
import { COLUMNS, doctorWorld } from '../../../test/support/doctor.ts'
import { startNats } from '../../../test/support/nats.ts'
import { startRouteServer } from '../../../test/support/route-server.ts'
import { emptyDatabase, testStore } from '../../../test/support/store.ts'
import { silentLogger } from '../../kernel/logger.ts'
import { noMetrics } from '../../kernel/metrics.ts'
import { HOUR } from '../../kernel/time.ts'
import type { Tx } from '../../store/store.ts'
import { loadConfig } from '../../config/config.ts'
import { migrateDatabase } from '../commands/db.ts'
import { printUsers } from '../commands/user.ts'
import { openCurrentDatabase } from '../database.ts'
import { filesCheck } from './checks/host.ts'
import { doctorParts, type DoctorFinding } from './doctor.ts'
import { warning, type DoctorParts } from './check.ts'
import { doctorRoute } from './route.ts'

const NARROWEST_DETAIL = 30
const ESCAPE = '\u001b['

const resultsOf = (findings: readonly DoctorFinding[]) => findings.map(({ result }) => result)

test('on a new server every check but that of the bus is fine or skipped, and nothing is created', async (t) => {
  const { dataDir, examine } = doctorWorld(t)
  const { exitCode, report, of } = await examine()
  const grave = report.findings.filter(({ result }) => result === 'error')
  assert.deepEqual(
    grave.map(({ check }) => check),
    ['bus'],
  )
  assert.match(grave[0]?.remedy ?? '', /nats-server -a 127\.0\.0\.1 -p 1 -js -sd nats-data/)
  assert.deepEqual([exitCode, report.status], [1, 'error'])
  assert.deepEqual(
    resultsOf(['files', 'database', 'standby', 'backup'].flatMap(of)),
    Array(4).fill('skipped'),
  )
  assert.throws(() => statSync(dataDir), { code: 'ENOENT' })
})

test('before the first start nothing that it makes is a fault, and the exit code is 0', async (t) => {
  const { dataDir, examine } = doctorWorld(t)
  const bus = await startNats({ jetstream: true })
  t.after(() => bus.stop())
  const api = 'http://127.0.0.1:1'
  const made = /^is not made yet: the first `platform serve` makes it/
  const findings = async (env: Record<string, string>) => {
    const { exitCode, report } = await examine({ BUS_SERVER: bus.url, ...env })
    assert.deepEqual([exitCode, report.status], [0, 'ok'], JSON.stringify(report))
    return report.findings.filter(({ detail }) => made.test(detail)).map(({ subject }) => subject)
  }
  const path = join(dataDir, 'platform.db')
  assert.deepEqual(await findings({}), [dataDir, path, path])
  assert.deepEqual(await findings({ MODULE: 'gateway', GATEWAY_API_URL: api }), [
    dataDir,
    path,
    'signing key',
  ])
  const { address, drop } = await emptyDatabase('postgres')
  t.after(drop)
  assert.ok(address.kind === 'postgres')
  const [directory, database, ...others] = await findings({ DATABASE_URL: address.url.reveal() })
  assert.deepEqual([directory, others], [dataDir, []])
  assert.match(String(database), /^postgres/)
})

test('of a database it checks integrity, schema and journal, and does not change it', async (t) => {
  const { dataDir, migrate, examine } = doctorWorld(t)
  const bus = await startNats({ jetstream: true })
  t.after(() => bus.stop())
  await migrate()
  const path = join(dataDir, 'platform.db')
  const before = readFileSync(path)
  const { exitCode, report, of } = await examine({ BUS_SERVER: bus.url })
  assert.deepEqual([exitCode, report.status], [0, 'ok'], JSON.stringify(report))
  assert.deepEqual(
    of('database').map(({ detail }) => detail.replace(/^\d{4}-.*/, '<step>')),
    ['quick_check: ok', '<step>', 'wal'],
  )
  assert.match(of('bus')[0]?.detail ?? '', /^NATS \d/)
  assert.ok(of('bus').some(({ subject, result }) => subject === 'jetstream' && result === 'ok'))
  assert.deepEqual(readFileSync(path), before)
})

test('a bus without JetStream is a warning', async (t) => {
  const { examine } = doctorWorld(t)
  const bus = await startNats({ jetstream: false })
  t.after(() => bus.stop())
  const { exitCode, of } = await examine({ BUS_SERVER: bus.url })
  assert.deepEqual(resultsOf(of('bus')), ['ok', 'ok', 'warning'])
  assert.equal(exitCode, 0)
})

test('a damaged database is an error with the way out', async (t) => {
  const { dataDir, migrate, examine } = doctorWorld(t)
  await migrate()
  writeFileSync(join(dataDir, 'platform.db'), 'this is no database, but a text of some length'.repeat(100))
  const { exitCode, of } = await examine()
  assert.deepEqual(resultsOf(of('database')), ['error'])
  assert.equal(of('database')[0]?.detail, 'file is not a database')
  assert.deepEqual(resultsOf(of('engine')), ['skipped'])
  const remedy = async () => (await examine()).of('database')[0]?.remedy ?? ''
  assert.match(await remedy(), /platform data restore FILE \(there is no file in .*backup restore --latest/)
  assert.equal(exitCode, 1)
  // `platform data list` needs the database.
  mkdirSync(join(dataDir, 'backups'))
  for (const [index, name] of ['older.db', 'newer.db', 'other.dump'].entries()) {
    const path = join(dataDir, 'backups', name)
    writeFileSync(path, 'a backup')
    utimesSync(path, 1_000 + index, 1_000 + index)
  }
  assert.match(await remedy(), /data restore \S+newer\.db \(the newest of 2 files in \S+backups\)$/)
})

test('rows that another program has deleted are named with the way back', async (t) => {
  const { dataDir, migrate, examine } = doctorWorld(t)
  await migrate()
  {
    // As sqlite3 does it.
    using database = new DatabaseSync(join(dataDir, 'platform.db'), { enableForeignKeyConstraints: false })
    database.exec(`insert into order_history (order_id, version, at, from_status, to_status, actor)
      values ('o-1', 1, 0, '', 'pending', 'ada')`)
  }
  const finding = (await examine()).of('database').find(({ subject }) => subject === 'table orders')
  assert.match(
    `${finding?.result} ${finding?.detail} ${finding?.remedy}`,
    /^warning rows of it were deleted .* 1 of order_history .* data restore/,
  )
})

test('files that others can write or read are named, with the command that mends them', async (t) => {
  const { dataDir, migrate, examine } = doctorWorld(t)
  await migrate()
  const secret = join(dataDir, 'jwt-secret')
  writeFileSync(secret, 'x'.repeat(40))
  chmodSync(secret, 0o644)
  chmodSync(join(dataDir, 'platform.db'), 0o666)
  const { of } = await examine()
  const remedies = of('files').map(({ remedy }) => remedy)
  assert.deepEqual(remedies, [`run: chmod -R o= ${join(dataDir, 'platform.db')}`, `run: chmod 600 ${secret}`])
  const named = join(dataDir, "ada's copy; of $HOME")
  writeFileSync(named, '')
  chmodSync(named, 0o666)
  const mend = async () => {
    for (const { remedy } of (await examine()).of('files'))
      execFileSync('sh', ['-c', String(remedy?.replace('run: ', ''))])
  }
  await mend()
  assert.deepEqual(resultsOf((await examine()).of('files')), ['ok'])
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) writeFileSync(join(dataDir, name), '', { mode: 0o600 })
  execFileSync('chmod', ['-R', '777', dataDir])
  await mend()
  assert.deepEqual(resultsOf((await examine()).of('files')), ['ok'])
})

test(
  'a file of another owner is an error',
  { skip: process.getuid?.() !== 0 && 'only root can give files away' },
  async (t) => {
    const { dataDir, migrate, examine } = doctorWorld(t)
    await migrate()
    const found = async () => {
      const [finding] = (await examine()).of('files')
      return `${finding?.result} ${finding?.detail} ${finding?.remedy}`
    }
    chownSync(dataDir, 65_534, 65_534)
    assert.match(
      await found(),
      /^error belongs to the user 65534, and 1 in it to the user 0: \S+platform\.db run as root: chown -R 65534:65534 \S+data$/,
    )
    // Root can use the files of others, and they cannot use its own.
    chownSync(dataDir, 0, 0)
    chownSync(join(dataDir, 'platform.db'), 65_534, 65_534)
    assert.match(
      await found(),
      /^error belongs to the user 0, and 1 in it to the user 65534: \S+platform\.db run as root: chown -R 65534:65534 \S+data$/,
    )
  },
)

test(
  'a directory that root has copied is compared with the one above it, and with the user of the running program',
  { skip: process.getuid?.() !== 0 && 'only root can give files away' },
  async (t) => {
    const { dataDir, migrate, examine } = doctorWorld(t)
    await migrate()
    const found = async (check: string) =>
      (await examine())
        .of(check)
        .map(({ result, detail, remedy }) => `${result} ${detail} ${remedy}`)
        .join('\n')
    assert.match(await found('files'), /^ok 1 file, all of the user 0, as the directory/)
    assert.match(
      await found('access'),
      /^skipped is not known: .* belongs to root\. .* chown -R USER: \S+data/,
    )
    chownSync(dirname(dataDir), 65_534, 65_534)
    assert.match(
      await found('files'),
      /^warning belongs to root, .* to the user 65534 if .* run as root: chown -R 65534:65534 \S+data$/,
    )
    const program = spawn('sleep', ['60'], { uid: 65_534, gid: 65_534 })
    t.after(() => program.kill())
    await once(program, 'spawn')
    const facts = { host: hostname(), processId: program.pid, modules: ['worker'], receivers: {}, bus: '' }
    using database = new DatabaseSync(join(dataDir, 'platform.db'))
    database.exec(`insert into leases (name, holder, expires_at)
      values ('serving:1', '${JSON.stringify(facts)}', ${Date.now() + 60_000})`)
    assert.match(
      await found('access'),
      /error belongs to 0:0, mode 7\d\d: the user 65534 of the service cannot use it run: chown -R 65534:65534 \S+data/,
    )
  },
)

test(
  'what root can use and the user of the service cannot is an error',
  { skip: process.getuid?.() !== 0 && 'only root can give files away' },
  async (t) => {
    const { dataDir, migrate, examine } = doctorWorld(t)
    await migrate()
    chmodSync(dirname(dataDir), 0o755)
    for (const path of [dataDir, ...readdirSync(dataDir).map((name) => join(dataDir, name))])
      chownSync(path, 65_534, 65_534)
    const file = `${dataDir}.toml`
    writeFileSync(file, '', { mode: 0o640 })
    const found = async () =>
      (await examine({ PLATFORM_CONFIG: file })).of('access').map(({ result, remedy }) => [result, remedy])
    assert.deepEqual(await found(), [['error', `run: chgrp 65534 ${file} && chmod u=rw,g=r,o= ${file}`]])
    chownSync(file, 0, 65_534)
    assert.deepEqual(await found(), [['ok', null]])
    // As a renewal by root leaves them.
    const [cert, key] = [`${dataDir}.crt`, `${dataDir}.key`]
    for (const path of [cert, key]) writeFileSync(path, '', { mode: path === key ? 0o600 : 0o644 })
    const tls = { API_TLS_CERT_FILE: cert, API_TLS_KEY_FILE: key, PLATFORM_CONFIG: file }
    assert.deepEqual(
      (await examine(tls)).of('access').map(({ result, remedy }) => [result, remedy]),
      [['error', `run: chgrp 65534 ${key} && chmod u+r,g+r ${key}`]],
    )
  },
)

test('a directory of data may be a link; a link to nothing is an error', async (t) => {
  const { dataDir, migrate, examine } = doctorWorld(t)
  await migrate()
  renameSync(dataDir, `${dataDir}.disk`)
  symlinkSync(`${dataDir}.disk`, dataDir)
  assert.deepEqual(resultsOf((await examine()).of('files')), ['ok'])
  renameSync(`${dataDir}.disk`, `${dataDir}.gone`)
  const [finding] = (await examine()).of('files')
  assert.match(
    `${finding?.result} ${finding?.detail} ${finding?.remedy}`,
    /^error .*data is a link to .*data\.disk, which does not exist Mount the disk/,
  )
})

test('the user of the doctor gets files that root has copied, and no files of another user', async (t) => {
  const { dataDir, migrate } = doctorWorld(t)
  await migrate()
  const env = { DATA_DIR: dataDir, LISTEN_ADDR: '127.0.0.1:0', GATEWAY_LISTEN_ADDR: '127.0.0.1:0' }
  const loaded = loadConfig({ env, cwd: '/', systemConfigPath: '/nowhere' })
  const remedy = async (parts: Partial<DoctorParts> = {}) => {
    const [finding] = await filesCheck.run({ ...doctorParts(loaded, {}), userId: 4_711, ...parts })
    return finding?.remedy ?? finding?.detail
  }
  const asOwner = /^run this command as that user: sudo -u \S+ platform doctor$/
  const user = (uid: number) => ({ serviceUser: async () => ({ uid, gids: [uid] }) })
  if (process.getuid?.() !== 0) {
    assert.match(String(await remedy()), asOwner)
    return
  }
  assert.equal(await remedy(), `run as root: chown -R 4711:${process.getgid?.()} ${dataDir}`)
  assert.equal(await remedy(user(65_534)), `run as root: chown -R 65534:65534 ${dataDir}`)
  // The files of a platform that runs as root stay those of root.
  assert.match(String(await remedy(user(0))), /^belongs to root, as which the platform runs/)
  chownSync(dataDir, 65_534, 65_534)
  assert.match(String(await remedy()), asOwner)
  assert.match(
    String(await remedy(user(4_712))),
    /^belongs to the user 65534, .* to the user 4712 of the service: see "access"$/,
  )
})

test(
  'a database that this user may not see is not gone, and its files stay those of the platform that answers',
  { skip: process.getuid?.() !== 0 && 'only root can become another user' },
  async (t) => {
    const { dataDir, migrate } = doctorWorld(t)
    await migrate()
    chmodSync(dirname(dataDir), 0o755)
    const health = JSON.stringify({ status: 'ok', version: '9.9.9', modules: ['worker'] })
    const server = createHttpServer((_request, response) => response.end(health)).listen(0, '127.0.0.1')
    t.after(() => server.close().closeAllConnections())
    await once(server, 'listening')
    const program = join(import.meta.dirname, '../../../bin/platform.ts')
    const doctor = spawn(process.execPath, [program, 'doctor', '--json'], {
      uid: 65_534,
      gid: 65_534,
      cwd: '/',
      env: {
        DATA_DIR: dataDir,
        WORKER_LISTEN_ADDR: `127.0.0.1:${(server.address() as AddressInfo).port}`,
        LISTEN_ADDR: '127.0.0.1:0',
        GATEWAY_LISTEN_ADDR: '127.0.0.1:0',
        BUS_SERVER: 'nats://127.0.0.1:1',
      },
    })
    const { findings } = JSON.parse(await text(doctor.stdout)) as {
      readonly findings: readonly DoctorFinding[]
    }
    const found = findings.filter(({ check }) => check === 'files' || check === 'database')
    assert.equal(found[0]?.remedy, 'run this command as that user: sudo -u root platform doctor')
    assert.match(String(found[1]?.detail), /^this process runs as the user 65534 and cannot write /)
  },
)

test('an order that nobody expires is a warning', async (t) => {
  const { dataDir, migrate, examine } = doctorWorld(t)
  await migrate()
  const worker = async () => (await examine()).of('worker').map(({ result, detail }) => [result, detail])
  assert.deepEqual(await worker(), [['ok', 'none waits to expire']])
  using database = new DatabaseSync(join(dataDir, 'platform.db'))
  database.exec(`insert into orders
    (order_id, platform, amount_cents, status, expires_at, created_at, created_by, updated_at, version)
    values ('o-1', 'live', 100, 'pending', 1, 1, 'ada', 1, 1)`)
  assert.match(String(await worker()), /^warning,one is pending \d+ min after its end: no worker expires it$/)
})

test('a payment channel whose provider opens none of the last payments is a warning', async (t) => {
  const { dataDir, migrate, examine } = doctorWorld(t)
  await migrate()
  const secrets = join(dataDir, 'pay.env')
  writeFileSync(secrets, 'STRIPE_SECRET_KEY=sk_test\nSTRIPE_WEBHOOK_SECRET=whsec_test\n', { mode: 0o600 })
  const toml = join(dataDir, 'pay.toml')
  const channel = (name: string) =>
    `[payments.channels.${name}]\nkind = "stripe"\nsecrets_file = "${secrets}"\n`
  writeFileSync(toml, `[payments]\npublic_url = "http://127.0.0.1:9"\n${channel('card')}${channel('other')}`)
  using database = new DatabaseSync(join(dataDir, 'platform.db'))
  for (const name of ['a', 'b', 'c', 'd', 'e'])
    database.exec(`insert into payments
      (id, order_id, channel, status, amount_cents, currency, number, created_at, created_by, refunded_cents,
        reserved_cents, parameters, is_closing, attempts, queued_at)
      values ('${name}', 'o-${name}', 'card', 'failed', 1, 'CNY', '${name}', ${Date.now()}, 'ada', 0, 0, '', 0, 0, 0)`)
  const { of } = await examine({ PLATFORM_CONFIG: toml })
  writeFileSync(secrets, 'STRIPE_SECRET_KEY=sk_test\n')
  assert.match(
    JSON.stringify((await examine({ PLATFORM_CONFIG: toml })).of('configuration')),
    /"error","detail":"payments\.channels\.card\.secrets_file: none","remedy":"it has to be a line STRIPE_WEBHOOK_SECRET/,
  )
  assert.deepEqual(
    of('payments').map(({ subject, result, detail }) => [subject, result, detail]),
    [
      ['card', 'warning', 'the provider has opened none of the last 5 payments'],
      ['other', 'ok', 'its last payments do not all fail'],
    ],
  )
})

test('a port that another program uses is an error that names the setting', async (t) => {
  const { examine } = doctorWorld(t)
  const server = createServer((socket) => void socket.destroy()).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const { of } = await examine({ WORKER_LISTEN_ADDR: address })
  assert.deepEqual(resultsOf(of('ports')), ['skipped', 'skipped', 'error'])
  const [finding] = of('ports').slice(-1)
  assert.equal(finding?.subject, `worker.listen ${address}`)
  assert.match(finding?.detail ?? '', /^another program uses this port, or a platform that does not answer/)
  assert.match(finding?.remedy ?? '', /change worker\.listen/)
})

test('a platform that answers and cannot use its database is an error that says what to do', async (t) => {
  const { examine } = doctorWorld(t)
  const health = JSON.stringify({ status: 'failing', version: '9.9.9', modules: ['worker'] })
  const server = createHttpServer((_request, response) => response.writeHead(503).end(health))
  server.listen(0, '127.0.0.1')
  t.after(() => server.close().closeAllConnections())
  await once(server, 'listening')
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const [finding] = (await examine({ WORKER_LISTEN_ADDR: address })).of('ports').slice(-1)
  assert.equal(finding?.result, 'error')
  assert.match(finding.detail, /^a platform answers: 9\.9\.9, worker, failing: it cannot use its database$/)
  assert.match(finding.remedy ?? '', /^see the finding of the database; .* restart it$/)
})

test('a platform that answers and does not serve this database is named', async (t) => {
  const { examine, migrate, run } = doctorWorld(t)
  await migrate()
  const answer = { status: 'ok', version: '9.9.9', modules: ['worker'], uptime_seconds: 60 }
  const server = createHttpServer((_request, response) => response.end(JSON.stringify(answer)))
  server.listen(0, '127.0.0.1')
  t.after(() => server.close().closeAllConnections())
  await once(server, 'listening')
  const env = { WORKER_LISTEN_ADDR: `127.0.0.1:${(server.address() as AddressInfo).port}` }
  const [finding] = (await examine(env)).of('processes')
  assert.match(
    `${finding?.result} ${finding?.detail} ${finding?.remedy}`,
    /^warning none runs, and the platform at worker\.listen serves another database: .* \(systemctl cat .* DATA_DIR/,
  )
  const listed = () => run((context) => printUsers(context, {}), env)
  assert.match(
    (await listed()).errors,
    /^platform: processes of this database: .* serves another database: .* \(systemctl cat/,
  )
  Object.assign(answer, { read_only: true })
  assert.equal((await listed()).errors, '')
  assert.deepEqual(resultsOf((await examine(env)).of('processes')), ['skipped'])
})

test('a database that is not there while a platform answers is not taken for one that is not made yet', async (t) => {
  const { examine } = doctorWorld(t)
  const health = JSON.stringify({ status: 'failing', version: '9.9.9', modules: ['worker'] })
  const server = createHttpServer((_request, response) => response.writeHead(503).end(health))
  server.listen(0, '127.0.0.1')
  t.after(() => server.close().closeAllConnections())
  await once(server, 'listening')
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const { of } = await examine({ WORKER_LISTEN_ADDR: address })
  const [database] = of('database')
  assert.match(
    `${database?.result} ${database?.detail} ${database?.remedy}`,
    /^error is not there, .* a platform answers at worker\.listen: it has lost .* put it back and restart/,
  )
  assert.deepEqual(
    of('files').map(({ detail }) => detail),
    ['does not exist: see the finding of the database'],
  )
})

test('a platform that was started before its configuration was changed is to be restarted', async (t) => {
  const { dataDir, examine } = doctorWorld(t)
  const file = `${dataDir}.toml`
  writeFileSync(file, '# the defaults\n')
  let uptime = 3_600
  const server = createHttpServer((_request, response) =>
    response.end(
      JSON.stringify({ status: 'ok', version: '9.9.9', modules: ['worker'], uptime_seconds: uptime }),
    ),
  )
  server.listen(0, '127.0.0.1')
  t.after(() => server.close().closeAllConnections())
  await once(server, 'listening')
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const found = async () =>
    (await examine({ WORKER_LISTEN_ADDR: address, PLATFORM_CONFIG: file })).of('ports').at(-1)
  assert.match(JSON.stringify(await found()), /"warning".*was changed after its start.*restart it/)
  const twoHoursAgo = Date.now() / 1_000 - 7_200
  utimesSync(file, twoHoursAgo, twoHoursAgo)
  assert.equal((await found())?.result, 'ok')
  uptime = 10_000
  assert.equal((await found())?.result, 'warning')
})

test('an error in the configuration is the only finding, and exit code 2', async (t) => {
  const { examine } = doctorWorld(t)
  const { exitCode, report } = await examine({ ORDER_EXPIRY: 'soon' })
  assert.equal(exitCode, 2)
  assert.equal(report.findings.length, 1)
  assert.match(report.findings[0]?.detail ?? '', /^environment ORDER_EXPIRY: orders\.expiry: expected /)
})

test('the table is aligned, has what to do below each fault, and colors on a terminal only', async (t) => {
  const { table } = doctorWorld(t)
  const plain = (await table()).output
  assert.match(plain, /^CHECK +RESULT +SUBJECT +DETAIL\n/)
  assert.match(plain, /^bus +error +nats:\/\/127\.0\.0\.1:1 .*\n {4}→ start it/m)
  assert.match(plain, /\n\n1 error, \d+ warning, \d+ ok, \d+ skipped\nBy symptom: \S+\n$/)
  assert.ok(!plain.includes(ESCAPE))
  const shown = (await table(true)).output
  assert.ok(shown.includes(ESCAPE))
  // One without words is as long as its address or path.
  const rows = stripVTControlCharacters(shown)
    .split('\n')
    .filter((line) => !line.startsWith('    →'))
  const detailAt = rows[0]?.indexOf('DETAIL') ?? 0
  const widest = Math.max(COLUMNS, detailAt + NARROWEST_DETAIL)
  assert.ok(
    rows.every((line) => line.length <= widest || !line.slice(widest - NARROWEST_DETAIL).includes(' ')),
  )
  assert.ok(
    rows.some((line) => /^ +\S/.test(line) && line.search(/\S/) === detailAt),
    shown,
  )
})

test('a night that failed, or is late, and a data backup that was never made are named', async (t) => {
  const { dataDir, migrate, examine } = doctorWorld(t)
  await migrate()
  const root = join(dirname(dataDir), 'night')
  const env = { BACKUP_DRIVE_API_URL: 'http://127.0.0.1:1', BACKUP_INSTALL_ROOT: root }
  const found = async () =>
    (await examine(env)).of('backup').find(({ subject }) => subject === 'nightly backup')
  assert.equal((await found())?.result, 'skipped')
  mkdirSync(join(root, 'backups'), { recursive: true })
  assert.match(JSON.stringify(await found()), /"error".*no night has succeeded yet/)
  const saveNight = (at: number, failure?: object) => {
    const lastSuccess = { backupId: '20260131-020000', at, size: 1, sha256: 'b', path: 'c' }
    const run = failure && {
      backupId: '20260131-020000',
      date: '2026-01-31',
      startedAt: at,
      status: 'failed',
      reached: 'started',
      job: 'package',
      durations: {},
      failure,
    }
    const state = { ...EMPTY_STATE, lastSuccess, ...(run && { run }) }
    writeFileSync(join(root, 'backups', 'state.json'), JSON.stringify(state))
  }
  saveNight(Date.now())
  assert.equal((await found())?.result, 'ok')
  saveNight(Date.now(), { errorCode: 'no_space', message: 'No room.', job: 'package', at: 1 })
  assert.match(JSON.stringify(await found()), /"warning".*then no_space: No room\./)
  saveNight(Date.now() - 27 * HOUR)
  assert.match(JSON.stringify(await found()), /"error".*the last success was at /)
  saveNight(Date.now() + 2 * HOUR)
  assert.match(JSON.stringify(await found()), /"error".*later than now: the clock was ahead/)

  const dataBackup = async () =>
    (await examine()).of('backup').find(({ subject }) => subject === 'data backup')
  assert.match(JSON.stringify(await dataBackup()), /"ok".*was never made/)
  using database = new DatabaseSync(join(dataDir, 'platform.db'))
  database.exec(`insert into data_backups
    (id, status, size_bytes, sha256, tables, schema_version, created_at, finished_at, verified_at, requested_by,
      is_placed, is_alerted, attempts, queued_at)
    values ('b-1', 'completed', 5, 'x', '{}', 'x', ${Date.now()}, ${Date.now()}, 1, 'ada', 1, 0, 1, 1)`)
  assert.match(JSON.stringify(await dataBackup()), /"warning".*was last made at .*b-1 has no file/)
  mkdirSync(join(dataDir, 'backups'))
  writeFileSync(join(dataDir, 'backups', 'b-1.db'), '12345')
  assert.match(JSON.stringify(await dataBackup()), /"ok".*was last made at /)
  database.exec('delete from data_backups')
  database.exec('update schema_migrations set applied_at = 1')
  assert.match(JSON.stringify(await dataBackup()), /"warning".*was never made.*data\.backup_every/)
})

test('a restore drill that failed is named until one passes', async (t) => {
  const { dataDir, examine } = doctorWorld(t)
  const root = join(dirname(dataDir), 'night')
  mkdirSync(join(root, 'backups'), { recursive: true })
  const env = { BACKUP_DRIVE_API_URL: 'http://127.0.0.1:1', BACKUP_INSTALL_ROOT: root }
  const found = async (passed: boolean) => {
    const drill = { backupId: '20260131-020000', endedAt: Date.now(), passed, rtoSeconds: 1, rpoSeconds: 1 }
    writeFileSync(join(root, 'backups', 'state.json'), JSON.stringify({ ...EMPTY_STATE, drill }))
    return (await examine(env)).of('backup').find(({ subject }) => subject === 'restore drill')
  }
  assert.match(
    JSON.stringify(await found(false)),
    /"warning".*has failed at .*restore-drill-20260131-020000\.md/,
  )
  assert.equal((await found(true))?.result, 'ok')
})

test('files of the night that are cut off, and its lost state, are named', async (t) => {
  const { dataDir, examine } = doctorWorld(t)
  const root = join(dirname(dataDir), 'night')
  mkdirSync(root)
  const [token, secrets] = [join(root, 'token.json'), join(root, 'secrets')]
  writeFileSync(token, '{"access_token":"a to', { mode: 0o600 })
  writeFileSync(secrets, '', { mode: 0o600 })
  const env = {
    BACKUP_DRIVE_API_URL: 'http://127.0.0.1:1',
    BACKUP_INSTALL_ROOT: root,
    BACKUP_DRIVE_TOKEN_FILE: token,
    BACKUP_DRIVE_SECRETS_FILE: secrets,
  }
  const found = (await examine(env)).of('backup').filter(({ result }) => result === 'error')
  assert.deepEqual(
    found.slice(0, 2).map(({ detail }) => detail),
    ['it must be a JSON object', 'DRIVE_CLIENT_ID is missing; add the line DRIVE_CLIENT_ID=…'],
  )
  const { config } = loadConfig({ env, cwd: '/', systemConfigPath: '/nowhere' })
  assert.equal(lostNightDirectory(config, root), undefined)
  writeFileSync(join(root, 'platform-backup.timer'), '')
  assert.equal(lostNightDirectory(config, root), join(root, 'backups'))
  mkdirSync(join(root, 'backups'))
  assert.equal(lostNightDirectory(config, root), undefined)
})

test('a database of a newer release is an error that names the way back, which is no damage', async (t) => {
  const { dataDir, migrate, examine } = doctorWorld(t)
  await migrate()
  using database = new DatabaseSync(join(dataDir, 'platform.db'))
  database.exec("insert into schema_migrations values ('9999-newer', 1, 0)")
  const [finding] = (await examine()).of('database')
  assert.match(finding?.detail ?? '', /of a newer release \(9999-newer\)/)
  assert.match(finding?.remedy ?? '', /^install that release/)
})

test('a key that the platform would refuse is an error', async (t) => {
  const { dataDir, migrate, examine } = doctorWorld(t)
  await migrate()
  writeFileSync(join(dataDir, 'jwt-secret'), '', { mode: 0o600 })
  const [finding] = (await examine()).of('files')
  assert.deepEqual([finding?.result, finding?.detail], ['error', 'is refused: 0 bytes'])
  assert.match(finding?.remedy ?? '', /platform db migrate --new" to have another one generated$/)
})

test('a lost database and a lost key are errors with the way back', async (t) => {
  const { dataDir, migrate, examine } = doctorWorld(t)
  await migrate()
  const path = join(dataDir, 'platform.db')
  const database = new DatabaseSync(path)
  database.exec("insert into leases (name, holder, expires_at) values ('signing-key', 'in use', 1)")
  database.close()
  const [key] = (await examine()).of('files')
  assert.match(
    `${key?.result} ${key?.detail} ${key?.remedy}`,
    /^error .*jwt-secret is gone.*db migrate --new/,
  )
  writeFileSync(join(dataDir, 'jwt-secret'), randomBytes(48).toString('base64'), { mode: 0o600 })
  rmSync(path)
  const [lost] = (await examine()).of('database')
  assert.match(
    `${lost?.result} ${lost?.detail} ${lost?.remedy}`,
    /^warning does not exist, or is empty, but jwt-secret is there .*data restore FILE/,
  )
  writeFileSync(path, '')
  assert.deepEqual((await examine()).of('database'), [lost], 'an empty file is no database')
  mkdirSync(join(dataDir, 'backups'))
  writeFileSync(join(dataDir, 'backups', 'one.db'), 'a backup')
  const [grave] = (await examine()).of('database')
  assert.match(
    `${grave?.result} ${grave?.detail} ${grave?.remedy}`,
    /^error is gone, .*backups .*data restore \S+one\.db .*db migrate --new/,
  )
})

test('a registered certificate whose file is gone is an error', async (t) => {
  const { dataDir, migrate, examine } = doctorWorld(t)
  await migrate()
  const database = new DatabaseSync(join(dataDir, 'platform.db'))
  const fingerprint = 'f'.repeat(64)
  database.exec(`insert into certificates
    (id, name, fingerprint_sha256, serial, subject, issuer, names, not_before, not_after, key, signature, is_ca,
      chain, warnings, ends_at, expires_first, created_by, created_at, file_sha256, has_file_alert)
    values ('c-1', 'shop', '${fingerprint}', '1', 'x', 'x', '[]', 1, 4000000000000, 'x', 'x', 0,
      '[]', '[]', 4000000000000, 'x', 'ada', 1, 'x', 0)`)
  database.close()
  const lost = async () =>
    (await examine()).of('certificates').find(({ subject }) => subject === join(dataDir, 'certs'))
  assert.match(String((await lost())?.detail), /^does not have the files of 1 registered: shop$/)
  mkdirSync(join(dataDir, 'certs'))
  writeFileSync(join(dataDir, 'certs', `${fingerprint}.pem`), 'a certificate')
  assert.equal(await lost(), undefined)
})

test('a lost key of the audit trail is a warning', async (t) => {
  const { dataDir, migrate, examine } = doctorWorld(t)
  await migrate()
  const database = new DatabaseSync(join(dataDir, 'platform.db'))
  database.exec("insert into audit_seals values (1, 1, 1, 'one-key', '', '[[1, \"a code\"]]')")
  database.close()
  const [finding] = (await examine()).of('files')
  assert.deepEqual([finding?.subject, finding?.result], [join(dataDir, 'audit-key'), 'warning'])
  assert.match(String(finding?.detail), /^does not have the key one-key: /)
  writeFileSync(join(dataDir, 'audit-key'), 'garbage\n', { mode: 0o600 })
  const refused = await examine()
  assert.match(String(refused.of('files')[0]?.detail), /^is refused: /)
  assert.equal(refused.of('database')[0]?.result, 'ok')
})

test('a seal that the trail lacks, and an empty configuration, are named', async (t) => {
  const { dataDir, migrate, examine } = doctorWorld(t)
  await migrate()
  writeFileSync(join(dataDir, 'audit-seal'), `25:${'x'.repeat(22)}\n`)
  const file = `${dataDir}.toml`
  writeFileSync(file, '\n')
  const { of } = await examine({ PLATFORM_CONFIG: file })
  assert.match(
    JSON.stringify(of('files')),
    /"error".*the seal 25:x+, which the audit trail does not contain.*run: platform audit accept 25:x+"/,
  )
  assert.match(JSON.stringify(of('configuration')), /"warning".*is empty, so every setting has its default/)
})

test('a configuration that comes from a pipe is not taken for an empty file', (t) => {
  const { dataDir } = doctorWorld(t)
  const script = `exec "$0" bin/platform.ts doctor --json --config <(echo 'log = { level = "info" }')`
  const { stdout } = spawnSync('bash', ['-c', script, process.execPath], {
    encoding: 'utf8',
    env: { ...process.env, DATA_DIR: dataDir, BUS_SERVER: 'nats://127.0.0.1:1', LISTEN_ADDR: '127.0.0.1:0' },
  })
  const { findings } = JSON.parse(stdout) as { readonly findings: readonly DoctorFinding[] }
  const [configuration, ...others] = findings.filter(({ check }) => check === 'configuration')
  assert.match(String(configuration?.subject), /^\/dev\/fd\/\d+$/)
  assert.deepEqual(others, [])
})

test('a SQLite file that an empty PostgreSQL has replaced is named at the start, and by the doctor until it was copied', async (t) => {
  const { dataDir, migrate, examine } = doctorWorld(t)
  await migrate()
  const file = new DatabaseSync(join(dataDir, 'platform.db'))
  const user = `insert into users
    (id, name, name_key, password_hash, roles, enabled, token_generation, tokens_valid_from, created_at, updated_at)
    values ('u-1', 'ada', 'ada', '', 'admin', 1, 0, 0, 1, 1)`
  file.exec(user)
  file.close()
  const { address, drop } = await emptyDatabase('postgres')
  t.after(drop)
  assert.ok(address.kind === 'postgres')
  const env = { DATABASE_URL: address.url.reveal(), DATA_DIR: dataDir }
  const { config } = loadConfig({ env, cwd: '/', systemConfigPath: '/nowhere' })
  const errors: string[] = []
  const logger = { ...silentLogger, error: (_: object, message: string) => void errors.push(message) }
  const open = () => openCurrentDatabase({ config, logger, metrics: noMetrics })
  await (await open()).close()
  const store = await open()
  t.after(() => store.close())
  assert.equal(errors.length, 1)
  assert.match(errors.join(), /platform\.db has one with data, which is not used: .*"platform db copy"/)
  const left = async () => (await examine(env)).of('database').find(({ subject }) => subject.endsWith('.db'))
  assert.equal((await left())?.result, 'warning')
  await store.write(({ db }) => sql.raw(user).execute(db))
  assert.equal(await left(), undefined)
})

test('a server of PostgreSQL that takes no changes is an error, except for a read-only process', async (t) => {
  const { dataDir, examine } = doctorWorld(t)
  const { address, drop } = await emptyDatabase('postgres')
  t.after(drop)
  assert.ok(address.kind === 'postgres')
  const env = { DATABASE_URL: address.url.reveal(), DATA_DIR: dataDir }
  const { config } = loadConfig({ env, cwd: '/', systemConfigPath: '/nowhere' })
  const store = await openCurrentDatabase({ config, logger: silentLogger, metrics: noMetrics })
  const name = new URL(address.url.reveal()).pathname.slice(1)
  // As on a standby, every transaction is read-only.
  await store.write(({ db }) =>
    sql`alter database ${sql.id(name)} set default_transaction_read_only = on`.execute(db),
  )
  await store.close()
  const found = async (more: Record<string, string> = {}) =>
    (await examine({ ...env, ...more }))
      .of('database')
      .find(({ cause }) => cause?.code === 'database_read_only')
  assert.match(String((await found())?.remedy), /pg_promote/)
  assert.equal(await found({ READ_ONLY: '1' }), undefined)
})

test('an empty database of PostgreSQL in the place of one that had backups is refused, and named', async (t) => {
  const { dataDir, examine, run } = doctorWorld(t)
  const { address, drop } = await emptyDatabase('postgres')
  t.after(drop)
  assert.ok(address.kind === 'postgres')
  mkdirSync(join(dataDir, 'backups'), { recursive: true })
  writeFileSync(join(dataDir, 'backups', 'one.dump'), 'a backup')
  const file = `${dataDir}.toml`
  writeFileSync(file, '# the defaults\n')
  const env = { DATABASE_URL: address.url.reveal(), DATA_DIR: dataDir, PLATFORM_CONFIG: file }
  const { config } = loadConfig({ env, cwd: '/', systemConfigPath: '/nowhere' })
  const open = () =>
    openCurrentDatabase({ config, configFile: file, logger: silentLogger, metrics: noMetrics })
  const lost =
    /is empty, but not \S+backups\. Look which server .* data restore \S+one\.dump --config \S+\.toml .* db migrate --new"/
  await assert.rejects(open(), lost)
  await assert.rejects(
    run((context) => migrateDatabase(context, {}), env),
    lost,
  )
  const [finding] = (await examine(env)).of('database')
  assert.deepEqual([finding?.result, finding?.cause?.code], ['error', 'database_gone'])
  await run((context) => migrateDatabase(context, { new: true }), env)
  await (await open()).close()
})

test('a table of PostgreSQL that somebody has locked hides nothing of the others', async (t) => {
  const { dataDir, examine } = doctorWorld(t)
  const { address, drop } = await emptyDatabase('postgres')
  t.after(drop)
  assert.ok(address.kind === 'postgres')
  const env = { DATABASE_URL: address.url.reveal(), DATA_DIR: dataDir }
  const { config } = loadConfig({ env, cwd: '/', systemConfigPath: '/nowhere' })
  const store = await openCurrentDatabase({ config, logger: silentLogger, metrics: noMetrics })
  t.after(() => store.close())
  const whileLocked = async ({ db }: Tx) => {
    await sql`lock table orders`.execute(db)
    let isExamined = false
    const examined = examine(env).finally(() => (isExamined = true))
    while (!isExamined) await sql`select pg_sleep(0.1)`.execute(db)
    return examined
  }
  const { of } = await store.write(whileLocked, { longRunning: true })
  const locked = of('database').find(({ result }) => result === 'error')
  assert.match(String(locked?.detail), /lock timeout/)
  assert.match(String(locked?.remedy), /pg_terminate_backend/)
  assert.deepEqual(
    of('worker').map(({ subject, detail }) => `${subject} ${detail}`),
    ['orders needs the database'],
  )
  for (const check of ['certificates', 'alerts', 'webhooks', 'commands', 'processes', 'sign-in'])
    assert.ok(!JSON.stringify(of(check)).includes('needs the database'), check)
})

test('a key that was lost with its whole directory is an error where PostgreSQL has the database', async (t) => {
  const { dataDir, examine } = doctorWorld(t)
  const { address, drop } = await emptyDatabase('postgres')
  t.after(drop)
  assert.ok(address.kind === 'postgres')
  const env = { DATABASE_URL: address.url.reveal(), DATA_DIR: dataDir }
  assert.deepEqual(resultsOf((await examine(env)).of('files')), ['skipped'])
  const { config } = loadConfig({ env, cwd: '/', systemConfigPath: '/nowhere' })
  const store = await openCurrentDatabase({ config, logger: silentLogger, metrics: noMetrics })
  t.after(() => store.close())
  const mark = "insert into leases (name, holder, expires_at) values ('signing-key', 'in use', 1)"
  await store.write(({ db }) => sql.raw(mark).execute(db))
  const [key] = (await examine(env)).of('files')
  assert.match(
    `${key?.result} ${key?.detail} ${key?.remedy}`,
    /^error .*jwt-secret is gone.*db migrate --new/,
  )
})

test('a configuration with a secret that every user can read stays readable for the group of the data', async (t) => {
  const { dataDir, migrate, examine } = doctorWorld(t)
  await migrate()
  const file = `${dataDir}.toml`
  writeFileSync(file, `[auth]\njwt_secret = "${randomBytes(48).toString('base64')}"\n`)
  chmodSync(file, 0o644)
  const [, finding] = (await examine({ PLATFORM_CONFIG: file })).of('configuration')
  assert.match(finding?.detail ?? '', /every user can read auth\.jwt_secret$/)
  const { gid } = statSync(dataDir)
  assert.equal(finding?.remedy, `run: chgrp ${gid} ${file} && chmod u=rw,g=r,o= ${file}`)
})

test('a configuration that every user can read is fine while no address in it has a login', async (t) => {
  const { dataDir, examine } = doctorWorld(t)
  const file = `${dataDir}.toml`
  const results = async (bus: string) => {
    writeFileSync(file, `[bus]\nserver = "nats://${bus}127.0.0.1:1"\n`, { mode: 0o644 })
    // The variable of the test would count before the file.
    const findings = (await examine({ PLATFORM_CONFIG: file, BUS_SERVER: '' })).of('configuration')
    return findings.map(({ result }) => result)
  }
  assert.deepEqual([await results(''), await results('ada:secret@')], [['ok'], ['ok', 'warning']])
})

test('a variable that counts before the configuration file is named', async (t) => {
  const { dataDir, examine } = doctorWorld(t)
  const file = `${dataDir}.toml`
  writeFileSync(file, '[api]\nrate_limit = 6000\n')
  const env = { PLATFORM_CONFIG: file, API_RATE_LIMIT: '3' }
  const [, finding] = (await examine(env)).of('configuration')
  assert.deepEqual(
    [finding?.result, finding?.subject, finding?.detail],
    ['ok', 'environment API_RATE_LIMIT', `overrides api.rate_limit of file ${file}:2`],
  )
})

test('a configuration that every user can change is an error', async (t) => {
  const { dataDir, examine } = doctorWorld(t)
  const file = `${dataDir}.toml`
  writeFileSync(file, 'log = { level = "info" }\n')
  chmodSync(file, 0o646)
  const [, finding] = (await examine({ PLATFORM_CONFIG: file })).of('configuration')
  assert.deepEqual([finding?.result, finding?.remedy], ['error', `run: chmod u=rw,g=r,o= ${file}`])
})

test('GET /doctor answers as the command does, and keeps its report for five minutes', async () => {
  await using world = await testStore('sqlite')
  const clock = fakeClock()
  let examinations = 0
  const examine = async () => {
    if (++examinations === 1) throw new Error('the first one fails')
    return [{ check: 'disk', ...warning('/data', 'inodes_low', { free: 1, all: 20, command: 'du' }) }]
  }
  const routes = [doctorRoute(clock, examine)]
  await using server = await startRouteServer({ store: world.store, clock, routes })
  const ask = () => server.send('GET', '/doctor', { role: 'admin' })
  assert.equal((await ask()).status, 500)
  const answers = await Promise.all([ask(), ask()])
  const [report] = await Promise.all(answers.map((each) => each.json()))
  assert.deepEqual(report, {
    status: 'warning',
    examined_at: new Date(clock.now()).toISOString(),
    findings: [
      {
        check: 'disk',
        subject: '/data',
        result: 'warning',
        detail: '1 of 20 inodes are free',
        remedy: 'remove files that nobody needs; this shows where most of them are: du',
        cause: { code: 'inodes_low', values: { free: 1, all: 20, command: 'du' } },
      },
    ],
  })
  await ask()
  assert.equal(examinations, 2)
  clock.advance(300_000)
  await ask()
  assert.equal(examinations, 3)
})
