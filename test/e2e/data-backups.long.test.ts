import assert from 'node:assert/strict'
import { copyFileSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { test, type TestContext } from 'node:test'
import { sql } from 'kysely'
import type { CommandContext } from '../../src/app/commands/context.ts'
import { verifyBackup } from '../../src/app/commands/data.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { silentLogger } from '../../src/kernel/logger.ts'
import { noMetrics } from '../../src/kernel/metrics.ts'
import { Secret } from '../../src/kernel/secret.ts'
import type { DialectName } from '../../src/store/dialects/capabilities.ts'
import { migrate, MIGRATIONS } from '../../src/store/migrate.ts'
import { openStore, type DatabaseAddress } from '../../src/store/open.ts'
import { openEventStream } from '../support/event-stream.ts'
import { eventually } from '../support/eventually.ts'
import {
  runPlatform,
  servePlatform,
  temporaryDirectory,
  testEnvironment,
  type CommandResult,
  type ServedPlatform,
} from '../support/platform.ts'
import { freePort } from '../support/loopback.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { chanceOf } from '../support/random.ts'
import { scopeOf } from '../support/scope.ts'
import { onEveryDialect } from '../support/store.ts'

interface Backup {
  readonly id: string
  readonly status: string
  readonly error: string | null
  readonly sha256: string
  readonly size_bytes: number
  readonly tables: Readonly<Record<string, number>>
}

/** A data directory, and the commands that use it. */
async function world(t: TestContext, dialect: DialectName) {
  const scope = scopeOf(t)
  const dataDir = scope.use(temporaryDirectory()).path
  const env: Record<string, string> = {}
  let address: DatabaseAddress = { kind: 'sqlite', path: join(dataDir, 'platform.db') }
  if (dialect === 'postgres') {
    const { url, drop } = await createTestDatabase()
    t.after(drop)
    env['DATABASE_URL'] = url
    address = { kind: 'postgres', url: new Secret(url) }
  }
  return {
    dataDir,
    env,
    address,
    backups: join(dataDir, 'backups'),
    run: (...args: string[]) => runPlatform(['data', ...args], { dataDir, env }),
    serve: async (more: Readonly<Record<string, string>> = {}, modules = 'api,worker') =>
      scope.use(await servePlatform({ dataDir, modules, env: { ...env, ...more } })),
  }
}

function succeeded({ code, stdout, stderr }: CommandResult): string {
  assert.deepEqual([code, stderr], [0, ''], stdout)
  return stdout
}

async function orderIds(platform: ServedPlatform): Promise<string[]> {
  const { items } = (await (await platform.call('GET', '/orders')).json()) as {
    items: { order_id: string }[]
  }
  return items.map(({ order_id }) => order_id).toSorted()
}

async function createOrder(platform: ServedPlatform, id: string): Promise<void> {
  const body = { order_id: id, platform: 'live', amount_cents: 4_990 }
  assert.equal((await platform.call('POST', '/orders', { body })).status, 201)
}

async function sendTelemetry(platform: ServedPlatform, ...numbers: number[]): Promise<void> {
  const body = { agent_id: 'agent', items: numbers.map((n) => ({ data: { n } })) }
  assert.equal((await platform.call('POST', '/api/v1/telemetry', { body })).status, 202)
}

function subjectOf({ data }: { readonly data: string }): string {
  return (JSON.parse(data) as { subject: string }).subject
}

async function backUp(platform: ServedPlatform): Promise<Backup> {
  const requested = await platform.call('POST', '/data/backups')
  assert.equal(requested.status, 202, await requested.clone().text())
  const { id } = (await requested.json()) as Backup
  return eventually('the end of the backup', async () => {
    const backup = (await (await platform.call('GET', `/data/backups/${id}`)).json()) as Backup
    return backup.status === 'running' ? undefined : backup
  })
}

/** Runs the statements of the guide that put the former tables back. */
async function swapSchemas(database: DatabaseAddress, former: string): Promise<void> {
  const guide = readFileSync(join(import.meta.dirname, '../../docs/guide/data-backups.md'), 'utf8')
  const statements = guide.match(/^ALTER SCHEMA .*;$/gm) ?? []
  assert.equal(statements.length, 2)
  const store = await openStore({ database, clock: systemClock, metrics: noMetrics, logger: silentLogger })
  await store.write(async ({ db }) => {
    for (const line of statements) await sql.raw(line.replace('before_restore_<time>', former)).execute(db)
  })
  await store.close()
}

onEveryDialect('backups of the database', (dialect) => {
  test('are downloaded whole, verified and restored; the former database is kept', async (t) => {
    const w = await world(t, dialect)
    const platform = await w.serve()
    await createOrder(platform, 'before')
    const request = { body: { reason: 'The scan is late.' } }
    const policy = { rules: { 'orders.expire-due': { roles: ['admin'], approval: 'two_person' } } }
    assert.equal((await platform.call('PUT', '/commands/policy', { body: policy })).status, 200)
    assert.equal((await platform.call('POST', '/commands/orders.expire-due/execute', request)).status, 202)
    const { id, status, sha256, tables } = await backUp(platform)
    assert.deepEqual([status, tables['orders']], ['completed', 1])
    const download = await platform.call('GET', `/data/backups/${id}/file`)
    const file = join(w.dataDir, 'download')
    writeFileSync(file, Buffer.from(await download.arrayBuffer()))
    assert.equal(download.headers.get('etag'), `"${sha256}"`)
    await createOrder(platform, 'after')
    assert.match(succeeded(await w.run('verify', file)), new RegExp(`is the backup ${id}, unchanged`))

    const refused = await w.run('restore', file)
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /in use by another process/)
    assert.deepEqual(await orderIds(platform), ['after', 'before'])

    assert.equal(await platform.stop(), 0)
    const said = succeeded(await w.run('restore', file))
    assert.match(
      said,
      /The former database is kept as .*before.restore.\d{8}t\d{9}z\. The next start migrates/i,
    )
    assert.match(succeeded(await w.run('list')), new RegExp(`${id} +failed .*interrupted`))
    const restored = await w.serve()
    assert.deepEqual(await orderIds(restored), ['before'])
    assert.equal((await backUp(restored)).status, 'completed')
    const alerts = (await (await restored.call('GET', '/alerts')).json()) as { items: unknown[] }
    assert.deepEqual(alerts.items, [], 'a restoration is no failure')
    const silences = (await (await restored.call('GET', '/alerts/silences?state=ended')).json()) as {
      items: { reason: string }[]
    }
    assert.deepEqual(
      silences.items.map(({ reason }) => reason),
      ['The database was restored from a backup.'],
    )
    const executions = await (await restored.call('GET', '/commands/executions')).json()
    const states = (executions as { items: { status: string }[] }).items.map((each) => each.status)
    assert.deepEqual(states, ['interrupted'], 'what waited in the backup does not wait in its copy')
  })

  test('are restored by mistake, and what the command and the guide say takes it back', async (t) => {
    const w = await world(t, dialect)
    const platform = await w.serve()
    const { id } = await backUp(platform)
    await createOrder(platform, 'after')
    assert.equal(await platform.stop(), 0)
    const extension = dialect === 'sqlite' ? 'db' : 'dump'
    const said = succeeded(await w.run('restore', join(w.backups, `${id}.${extension}`)))
    if (dialect === 'sqlite') {
      const [, former] = /^To go back to it, run: platform data restore (\S+)$/m.exec(said) ?? []
      succeeded(await w.run('restore', String(former)))
    } else {
      const [, former] = /is kept as the schema (\S+)\..*"When the wrong one was restored"/s.exec(said) ?? []
      await swapSchemas(w.address, String(former))
      const made = succeeded(await w.run('backup')).slice(0, id.length)
      succeeded(await w.run('restore', join(w.backups, `${made}.dump`)))
    }
    assert.deepEqual(await orderIds(await w.serve()), ['after'])
  })

  test('have events after them whose ids are never given out again', async (t) => {
    const w = await world(t, dialect)
    const platform = await w.serve()
    await createOrder(platform, 'before')
    const { id } = await backUp(platform)
    const path = '/events?subjects=order.created,telemetry.agent.*'
    using lost = await openEventStream(platform.url, path, { lastEventId: '0-0' })
    for (let order = 0; order < 6; order++) await createOrder(platform, `lost-${order}`)
    await sendTelemetry(platform, 1, 2, 3)
    const seen = await lost.count(10)
    assert.equal(await platform.stop(), 0)
    succeeded(await w.run('restore', join(w.backups, `${id}.${dialect === 'sqlite' ? 'db' : 'dump'}`)))

    const restored = await w.serve()
    const wanted = Array.from({ length: 12 }, (_, order) => `new-${order}`)
    for (const order of wanted) await createOrder(restored, order)
    await sendTelemetry(restored, 4, 5, 6)
    for (const event of [...seen.slice(1), { id: '9-0' }]) {
      using stream = await openEventStream(restored.url, path, { lastEventId: event.id })
      const events = await stream.count(15)
      assert.deepEqual(
        events.filter(({ event: subject }) => subject === 'order.created').map(subjectOf),
        wanted,
        event.id,
      )
      assert.ok(events.every((each) => seen.every((other) => other.id !== each.id)))
    }
    using telemetry = await openEventStream(restored.url, '/events?subjects=telemetry.agent.*', {
      lastEventId: `-${seen.at(-1)?.id.split('-')[1]}`,
    })
    assert.equal((await telemetry.count(3)).length, 3)
    using future = await openEventStream(restored.url, path, { lastEventId: '9007199254740991-0' })
    assert.deepEqual(
      (await future.count(1)).map(({ event }) => event),
      ['reset'],
    )
  })

  test('of an older schema are restored, and migrated by the next start', async (t) => {
    const w = await world(t, dialect)
    const parts = { clock: systemClock, metrics: noMetrics, logger: silentLogger }
    const older = join(w.dataDir, 'older')
    const store = await openStore({ database: w.address, ...parts })
    await migrate(store, systemClock, MIGRATIONS.slice(0, 6))
    await store.snapshot(older)
    await store.close()
    const first = await w.serve()
    await createOrder(first, 'newer')
    await first.stop()
    const said = succeeded(await w.run('restore', older))
    assert.match(said, /schema 0006-tickets\. It was not compared with a recorded sha256/)
    const migrated = await w.serve()
    assert.deepEqual(await orderIds(migrated), [])
    assert.equal((await backUp(migrated)).status, 'completed')
  })

  test('of a newer release that this one cannot work with are not restored', async (t) => {
    const w = await world(t, dialect)
    const parts = { clock: systemClock, metrics: noMetrics, logger: silentLogger }
    const newer = join(w.dataDir, 'newer')
    const store = await openStore({ database: w.address, ...parts })
    const step = { name: '9999-newer', breaking: true, up: async () => undefined }
    await migrate(store, systemClock, [...MIGRATIONS, step])
    await store.snapshot(newer)
    await store.write(({ db }) => sql`delete from schema_migrations where name = ${step.name}`.execute(db))
    await store.close()
    const { code, stderr } = await w.run('restore', newer)
    assert.equal(code, 1)
    assert.match(stderr, /is of a newer release \(9999-newer\), which this release cannot work with/)
    assert.deepEqual(await orderIds(await w.serve()), [])
  })

  test('are made by a command without a running platform, and by one beside it', async (t) => {
    const w = await world(t, dialect)
    assert.match((await w.run('backup')).stderr, /There is no (database|schema)/)
    await (await w.serve()).stop()
    const made = succeeded(await w.run('backup', '--note', 'by hand'))
    assert.match(
      made,
      /^[0-9a-f-]{36}: \d+ bytes, \d+ rows.*\nIt holds the database only; save \S+\/jwt-secret and \S+\/audit-key, too\.\n$/,
    )
    await w.serve()
    succeeded(await w.run('backup'))
    const list = succeeded(await w.run('list'))
    assert.equal(list.match(/completed/g)?.length, 2)
    assert.match(list, /by hand/)
    assert.equal(readdirSync(w.backups).length, 2)
  })

  test('of the worker come at their time, and only as many are kept as are wanted', async (t) => {
    const w = await world(t, dialect)
    const platform = await w.serve({ DATA_BACKUP_EVERY: '1s', DATA_BACKUP_KEEP: '2' })
    await eventually('the first backup is removed again', async () => {
      const { items } = (await (await platform.call('GET', '/data/backups')).json()) as { items: Backup[] }
      return items.length >= 2 && readdirSync(w.backups).length >= 2 && (await deletions(platform)) > 0
    })
    await platform.stop()
    const left = readdirSync(w.backups).filter((name) => /\.(db|dump)$/.test(name))
    assert.ok(left.length <= 4, `${left.length} are left`)
  })
})

async function deletions(platform: ServedPlatform): Promise<number> {
  const metrics = await (await platform.call('GET', '/metrics')).text()
  return Number(/platform_data_backups_total\{change="deleted"\} (\d+)/.exec(metrics)?.[1])
}

test('a restoration into an empty directory does not advise to create the database', async (t) => {
  const w = await world(t, 'sqlite')
  const other = scopeOf(t).use(temporaryDirectory()).path
  const file = join(w.dataDir, 'saved')
  const store = await openStore({
    database: w.address,
    clock: systemClock,
    metrics: noMetrics,
    logger: silentLogger,
  })
  await migrate(store, systemClock, MIGRATIONS)
  await store.snapshot(file)
  await store.close()
  const { code, stdout, stderr } = await runPlatform(['data', 'restore', file], { dataDir: other })
  assert.equal(code, 0, stderr)
  assert.match(
    stdout,
    /It was not compared with a recorded sha256: there is no database at \S+platform\.db\.\n/,
  )
  assert.doesNotMatch(stdout + stderr, /db migrate|platform serve/)
})

test('an api without a worker makes the backups that it accepts', async (t) => {
  const w = await world(t, 'sqlite')
  const platform = await w.serve({}, 'api')
  assert.equal((await backUp(platform)).status, 'completed')
})

test('two processes on one database make one backup at a time', async (t) => {
  const w = await world(t, 'sqlite')
  const [one, other] = [await w.serve(), await w.serve()]
  const request = (_: unknown, index: number) => (index % 2 ? one : other).call('POST', '/data/backups')
  const answers = await Promise.all(Array.from({ length: 8 }).map(request))
  const statuses = answers.map(({ status }) => status)
  assert.ok(statuses.every((status) => status === 202 || status === 409))
  const { items } = (await (await one.call('GET', '/data/backups')).json()) as { items: Backup[] }
  assert.equal(statuses.filter((status) => status === 202).length, items.length)
  assert.ok(items.filter(({ status }) => status === 'running').length <= 1)
})

test('a platform that is killed while it makes a backup: the next one records the interruption', async (t) => {
  const w = await world(t, 'sqlite')
  const platform = await w.serve()
  const requested = (await (await platform.call('POST', '/data/backups')).json()) as Backup
  await platform.kill()
  const next = await w.serve()
  const ended = await eventually('the end of the backup', async () => {
    const backup = (await (await next.call('GET', `/data/backups/${requested.id}`)).json()) as Backup
    return backup.status === 'running' ? undefined : backup
  })
  // A small backup may have been completed before the end of its process.
  if (ended.status === 'failed') {
    assert.equal(ended.error, 'interrupted')
    assert.deepEqual(existsSync(w.backups) ? readdirSync(w.backups) : [], [])
  }
  assert.equal((await backUp(next)).status, 'completed')
})

// `BIT_FLIPS=200` for the long form.
const BIT_FLIPS = Number(process.env['BIT_FLIPS'] ?? 40)

/** Runs `platform data verify` in this process: a process for each flip would take minutes. */
async function verifyHere(dataDir: string, file: string): Promise<string> {
  let output = ''
  const stdout = new Writable({
    write(chunk: Buffer, _encoding, done) {
      output += chunk.toString()
      done()
    },
  })
  const env = testEnvironment(dataDir, {}) as Record<string, string>
  const context: CommandContext = { env, cwd: dataDir, stdin: Readable.from([]), stdout, stderr: stdout }
  await verifyBackup(context, file, {})
  return output
}

test(`each of ${BIT_FLIPS} flipped bits is found by the recorded SHA-256`, async (t) => {
  const chance = chanceOf(t)
  const w = await world(t, 'sqlite')
  await (await w.serve()).stop()
  succeeded(await w.run('backup'))
  const [name = ''] = readdirSync(w.backups)
  const path = join(w.backups, name)
  const whole = readFileSync(path)
  for (let flip = 0; flip < BIT_FLIPS; flip++) {
    const bit = chance.between(0, whole.length * 8 - 1)
    const damaged = Buffer.from(whole)
    damaged[bit >> 3] = (damaged[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    writeFileSync(path, damaged)
    await assert.rejects(verifyHere(w.dataDir, path), { code: 'snapshot_damaged' }, `bit ${bit}`)
  }
  writeFileSync(path, whole)
  assert.match(await verifyHere(w.dataDir, path), /unchanged/)
})

test('what is no backup of this database is not restored', async (t) => {
  const w = await world(t, 'sqlite')
  await (await w.serve()).stop()
  succeeded(await w.run('backup'))
  const before = statSync(join(w.dataDir, 'platform.db')).ino
  const [name = ''] = readdirSync(w.backups)
  const cases: readonly (readonly [file: string, reason: RegExp])[] = [
    [
      join(w.dataDir, 'missing'),
      /There is no file .*missing\. Name the file of a backup, such as one in \S+backups\./,
    ],
    [w.backups, /backups is no regular file/],
    [file('text', 'no database'), /neither a SQLite file nor an archive/],
    [file('archive', 'PGDMP and more'), /database\.url names a database of the other kind/],
    [file('empty', ''), /neither a SQLite file nor an archive/],
    [truncated(), /was changed|is damaged/],
  ]
  for (const [path, reason] of cases) {
    const { code, stderr } = await w.run('restore', path)
    assert.equal(code, 1, path)
    assert.match(stderr, reason)
  }
  assert.equal(statSync(join(w.dataDir, 'platform.db')).ino, before)
  assert.deepEqual(
    readdirSync(w.dataDir).filter((each) => each.includes('before-restore') || each.includes('restoring')),
    [],
  )

  function file(label: string, text: string): string {
    writeFileSync(join(w.dataDir, label), text)
    return join(w.dataDir, label)
  }

  function truncated(): string {
    const path = join(w.dataDir, basename(name))
    copyFileSync(join(w.backups, name), path)
    writeFileSync(path, readFileSync(path).subarray(0, 100_000))
    return path
  }
})

test('a restoration to a directory without a database asks whether it is the right one', async (t) => {
  const w = await world(t, 'sqlite')
  await (await w.serve()).stop()
  succeeded(await w.run('backup'))
  const [name = ''] = readdirSync(w.backups)
  const other = await world(t, 'sqlite')
  const { code, stderr, stdout } = await other.run('restore', join(w.backups, name))
  assert.equal(code, 0, stderr)
  assert.match(stderr, /^platform: There is no former database \(data_dir: environment DATA_DIR\): is this/)
  assert.ok(stderr.includes(`It restores to ${join(other.dataDir, 'platform.db')}; `), stderr)
  assert.match(stdout, /There was no former database\./)
})

test('a server of PostgreSQL that is away is named by a restoration', async (t) => {
  const w = await world(t, 'sqlite')
  const archive = join(w.dataDir, 'archive')
  writeFileSync(archive, 'PGDMP and more')
  w.env['DATABASE_URL'] = `postgres://platform@127.0.0.1:${await freePort()}/shop`
  const { code, stderr } = await w.run('restore', archive)
  assert.equal(code, 1)
  assert.match(stderr, /^platform: The database postgres:.*\/shop cannot be used: connect ECONNREFUSED/)
})
