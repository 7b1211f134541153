import assert from 'node:assert/strict'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { DatabaseFiles } from '../../../src/ports/database-files.ts'
import {
  backupStatus,
  BackupParts,
  restore,
  retryBackup,
  runBackup,
  selfcheck,
} from '../../../programs/backup/index.ts'
import type { BackupRuntime } from '../../../programs/backup/parts.ts'
import { withRunLock } from '../../../programs/backup/commands/lock.ts'
import { nightOf } from '../../../programs/backup/night/state.ts'
import { loadConfig } from '../../../src/config/config.ts'
import { systemClock, type WaitingClock } from '../../../src/kernel/clock.ts'
import { HOUR, MINUTE } from '../../../src/kernel/time.ts'
import { Secret } from '../../../src/kernel/secret.ts'
import { fakeClock } from '../../support/clock.ts'
import { writeTokenFile } from '../../support/drive-world.ts'
import { eventually } from '../../support/eventually.ts'
import { fakeDatabases } from '../../support/night-world.ts'

function newDirectory(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'retry-loop-'))
  t.after(() => rmSync(directory, { recursive: true }))
  return directory
}

interface PartsOptions extends Partial<Pick<BackupRuntime, 'signal' | 'clock'>> {
  readonly platformApi?: string
}

/** 02:00 in Berlin. Every wait ends at once, after its time. */
function instantClock(): WaitingClock {
  const clock = fakeClock(Date.UTC(2026, 0, 31, 1))
  return {
    ...clock,
    async wait(milliseconds, signal) {
      if (!signal?.aborted) clock.advance(milliseconds)
    },
  }
}

/** The routine on a server whose drive is away, and its platform, too, unless it is named. */
function partsOf(
  directory: string,
  lines: string[],
  { signal, clock = instantClock(), platformApi = 'http://127.0.0.1:1' }: PartsOptions = {},
): BackupParts {
  mkdirSync(join(directory, 'certs/backend'), { recursive: true })
  writeTokenFile(join(directory, 'certs/backend/drive-token.json'))
  const secrets = join(directory, 'backup.env')
  writeFileSync(secrets, 'DRIVE_CLIENT_ID=app\nDRIVE_CLIENT_SECRET=canary\n', { mode: 0o600 })
  const loaded = loadConfig({
    cwd: directory,
    env: {
      BACKUP_INSTALL_ROOT: directory,
      BACKUP_DRIVE_API_URL: 'http://127.0.0.1:1',
      BACKUP_DRIVE_SECRETS_FILE: secrets,
      BACKUP_PLATFORM_API: platformApi,
      BACKUP_TIME_ZONE: 'Europe/Berlin',
    },
  })
  return new BackupParts({
    loaded,
    databases: fakeDatabases({ calls: [], faults: {} }) as DatabaseFiles,
    selfcheck: {
      gatewayUrl: undefined,
      hasWorker: false,
      workerUrls: [],
      isReadOnly: false,
      signToken: async () => new Secret(''),
      checkDatabase: async () => '',
    },
    program: { command: [], configFile: undefined, workingDirectory: '/' },
    clock,
    print: (line) => lines.push(line),
    progress: () => undefined,
    signal,
  })
}

test('retry waits and tries until the window ends, and then reports that the night is lost', async (t) => {
  const directory = newDirectory(t)
  const lines: string[] = []
  using parts = partsOf(directory, lines)
  assert.equal((await runBackup(parts, { scheduled: true })).exitCode, 1)
  const { exitCode, json } = await retryBackup(parts, {})
  assert.equal(exitCode, 1)
  assert.match(JSON.stringify(json), /"error_code":"drive_unreachable"/)
  const { failures, lostAt } = nightOf(parts.state.read(), '2026-01-31')
  assert.ok(failures >= 5 && failures <= 9, `${failures} tries`)
  assert.ok(lostAt !== undefined && lostAt >= Date.UTC(2026, 0, 31, 5))
  assert.equal((await retryBackup(parts, {})).exitCode, 0)
  const outbox = readFileSync(join(directory, 'backups/outbox.jsonl'), 'utf8')
  assert.equal(outbox.match(/alarm_id=backup\.failed\.critical/g)?.length, 1)
  assert.equal(outbox.match(/"dedup_key":"backup:2026-01-31"/g)?.length, 1)
  const log = readFileSync(join(directory, 'logs/backend/backup.log'), 'utf8')
  assert.ok(!log.includes('canary') && !outbox.includes('canary'))
  assert.deepEqual(lines, [])
})

test('retry waits while another call has the lock, and goes on after it', async (t) => {
  const directory = newDirectory(t)
  const instant = instantClock()
  const other = Promise.withResolvers<void>()
  const clock: WaitingClock = {
    ...instant,
    async wait(milliseconds, signal) {
      await instant.wait(milliseconds, signal)
      if (instant.now() > Date.UTC(2026, 0, 31, 1, 45)) other.resolve()
      await setImmediate()
    },
  }
  using parts = partsOf(directory, [], { clock })
  await runBackup(parts, { scheduled: true })
  const held = withRunLock(parts, () => other.promise)
  const { exitCode } = await retryBackup(parts, {})
  await held
  assert.equal(exitCode, 1)
  const { failures, lostAt } = nightOf(parts.state.read(), '2026-01-31')
  assert.ok(failures >= 5, `${failures} tries`)
  assert.ok(lostAt !== undefined)
})

test('retry ends when another call has the lock at the end of the window', async (t) => {
  using parts = partsOf(newDirectory(t), [])
  await runBackup(parts, { scheduled: true })
  const other = Promise.withResolvers<void>()
  const held = withRunLock(parts, () => other.promise)
  await assert.rejects(retryBackup(parts, {}), { code: 'backup_running' })
  assert.ok(parts.runtime.clock.now() >= Date.UTC(2026, 0, 31, 5))
  other.resolve()
  await held
})

test('a self-check that is interrupted reports nothing, and the reboot stays to be confirmed', async (t) => {
  const directory = newDirectory(t)
  using parts = partsOf(directory, [], { signal: AbortSignal.abort() })
  const pendingReboot = { backupId: '20260131-020000', at: 1 }
  parts.state.write({ ...parts.state.read(), pendingReboot })
  assert.equal((await selfcheck(parts)).exitCode, 1)
  assert.deepEqual(parts.state.read().pendingReboot, pendingReboot)
  assert.equal(existsSync(join(directory, 'backups/outbox.jsonl')), false)
})

/** A healthy platform that takes every report. */
async function startPlatform(t: TestContext) {
  const reports: string[] = []
  const ticketLevels: string[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const {
        level,
        body = '',
        dedup_key: key,
      } = JSON.parse(Buffer.concat(chunks).toString() || '{}') as Record<string, string>
      if (request.url === '/alerts/report') reports.push(`${/alarm_id=(\S+)/.exec(body)?.[1]} ${level}`)
      if (request.url === '/tickets') reports.push(`ticket ${key}`)
      if (request.url?.startsWith('/tickets/') && level !== undefined) ticketLevels.push(level)
      response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"status":"ok","id":"made"}')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return { reports, ticketLevels, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

test('status that is interrupted ends while the platform does not answer, and what waits stays', async (t) => {
  const directory = newDirectory(t)
  using away = partsOf(directory, [])
  await runBackup(away, { scheduled: true })
  const outbox = readFileSync(join(directory, 'backups/outbox.jsonl'), 'utf8')
  const interrupt = new AbortController()
  const server = createServer(() => interrupt.abort()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const platformApi = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  using parts = partsOf(directory, [], { clock: systemClock, platformApi, signal: interrupt.signal })
  const begun = performance.now()
  assert.equal((await backupStatus(parts)).exitCode, 0)
  assert.ok(performance.now() - begun < 5_000)
  assert.equal(readFileSync(join(directory, 'backups/outbox.jsonl'), 'utf8'), outbox)
  server.closeAllConnections()
})

test('a self-check that passes closes the alert of one that failed, and sends what waited', async (t) => {
  const directory = newDirectory(t)
  using failing = partsOf(directory, [])
  const pendingReboot = { backupId: '20260131-020000', at: 1 }
  failing.state.write({ ...failing.state.read(), pendingReboot })
  assert.equal((await selfcheck(failing)).exitCode, 1)
  assert.deepEqual(failing.state.read().openAlerts, ['selfcheck'])

  const platform = await startPlatform(t)
  using passing = partsOf(directory, [], { clock: systemClock, platformApi: platform.url })
  assert.equal((await selfcheck(passing)).exitCode, 0)
  assert.deepEqual(platform.reports, [
    'system.selfcheck.failed CRITICAL',
    'ticket selfcheck:2026-01-31',
    'system.reboot.init CLOSE',
    'system.selfcheck.failed CLOSE',
  ])
  const { openAlerts, pendingReboot: pending } = passing.state.read()
  assert.deepEqual([openAlerts, pending], [[], undefined])
  assert.equal((await selfcheck(passing)).exitCode, 0)
  assert.equal(platform.reports.length, 4)
})

test('a self-check changes the state after the run that has the lock', async (t) => {
  const directory = newDirectory(t)
  const platform = await startPlatform(t)
  using parts = partsOf(directory, [], { clock: systemClock, platformApi: platform.url })
  parts.state.write({ ...parts.state.read(), pendingReboot: { backupId: '20260131-020000', at: 1 } })
  let checking: ReturnType<typeof selfcheck> | undefined
  await withRunLock(parts, async () => {
    checking = selfcheck(parts)
    await eventually('the report', () => platform.reports.length === 1)
    parts.state.write({ ...parts.state.read(), rebootedOn: '2026-01-31' })
  })
  assert.equal((await checking)?.exitCode, 0)
  const { pendingReboot, rebootedOn } = parts.state.read()
  assert.deepEqual([pendingReboot, rebootedOn], [undefined, '2026-01-31'])
})

test('a run that cannot write its state reports it: a failure, then HIGH, then a lost night', async (t) => {
  const directory = newDirectory(t)
  const platform = await startPlatform(t)
  let now = Date.UTC(2026, 0, 31, 1)
  const clock = { ...systemClock, now: () => now }
  using parts = partsOf(directory, [], { clock, platformApi: platform.url })
  writeFileSync(join(directory, 'backups'), 'no directory')
  const run = await runBackup(parts, { scheduled: true })
  assert.deepEqual([run.exitCode, platform.reports], [1, ['backup.failed ERROR']])
  assert.match(run.text, /^the backup has failed: internal: EEXIST: /)
  now += 30 * MINUTE
  assert.equal((await retryBackup(parts, { once: true })).exitCode, 1)
  now += 3.5 * HOUR
  assert.equal((await retryBackup(parts, { once: true })).exitCode, 1)
  assert.deepEqual(platform.reports.slice(1), [
    'backup.failed HIGH',
    'backup.failed HIGH',
    'backup.failed.critical CRITICAL',
    'ticket backup:2026-01-31',
  ])
})

test('a token file that others can read is refused and reported: a failure, then a lost night, and no run; a success closes both alerts', async (t) => {
  const directory = newDirectory(t)
  const platform = await startPlatform(t)
  let now = Date.UTC(2026, 0, 31, 1)
  const clock = { ...systemClock, now: () => now }
  using parts = partsOf(directory, [], { clock, platformApi: platform.url })
  const refusal = { name: 'ConfigError', message: /token_file: expected a file that only its owner can read/ }
  chmodSync(join(directory, 'certs/backend/drive-token.json'), 0o644)
  await assert.rejects(runBackup(parts, { scheduled: true, dryRun: true }), refusal)
  assert.deepEqual(platform.reports, [])
  await assert.rejects(runBackup(parts, { scheduled: true }), refusal)
  assert.deepEqual(platform.reports, ['backup.failed ERROR'])
  now += 4 * HOUR
  await assert.rejects(retryBackup(parts, { once: true }), refusal)
  assert.deepEqual(platform.reports.slice(1), [
    'backup.failed HIGH',
    'backup.failed.critical CRITICAL',
    'ticket backup:2026-01-31',
  ])
  const { run, openAlerts } = parts.state.read()
  assert.deepEqual([run, openAlerts], [undefined, ['failed', 'critical']])
})

test('a run that cannot read its state reports it, and leaves the file', async (t) => {
  const directory = newDirectory(t)
  const platform = await startPlatform(t)
  const clock = { ...systemClock, now: () => Date.UTC(2026, 0, 31, 1) }
  using parts = partsOf(directory, [], { clock, platformApi: platform.url })
  mkdirSync(join(directory, 'backups/state.json'), { recursive: true })
  const run = await runBackup(parts, { scheduled: true })
  assert.deepEqual([run.exitCode, platform.reports], [1, ['backup.failed ERROR']])
  assert.match(run.text, /state\.json cannot be read: EISDIR/)
  assert.deepEqual(
    readdirSync(join(directory, 'backups')).filter((name) => name.startsWith('state')),
    ['state.json'],
  )
})

test('a retry that finds no run, because its state was not written, is a failure too', async (t) => {
  const directory = newDirectory(t)
  const platform = await startPlatform(t)
  const clock = { ...systemClock, now: () => Date.UTC(2026, 0, 31, 5) }
  using parts = partsOf(directory, [], { clock, platformApi: platform.url })
  mkdirSync(join(directory, 'backups/state.json.tmp'), { recursive: true })
  assert.equal((await retryBackup(parts, { once: true })).exitCode, 1)
  assert.deepEqual(platform.reports, [
    'backup.failed HIGH',
    'backup.failed.critical CRITICAL',
    'ticket backup:2026-01-31',
  ])
})

test('retry goes on at its period to the end of the window without a state, too', async (t) => {
  const directory = newDirectory(t)
  using parts = partsOf(directory, [])
  writeFileSync(join(directory, 'backups'), 'no directory')
  const { exitCode, json } = await retryBackup(parts, {})
  assert.equal(exitCode, 1)
  assert.match(JSON.stringify(json), /"error_code":"internal"/)
  const log = readFileSync(join(directory, 'logs/backend/backup.log'), 'utf8')
  const tries = log.match(/"job":"start"/g)?.length ?? 0
  assert.ok(tries >= 5 && tries <= 9, `${tries} tries`)
})

test('a call that cannot take its lock does nothing when the state has the success of the date', async (t) => {
  const directory = newDirectory(t)
  const platform = await startPlatform(t)
  const now = Date.UTC(2026, 0, 31, 1)
  using parts = partsOf(directory, [], {
    clock: { ...systemClock, now: () => now },
    platformApi: platform.url,
  })
  const run = { backupId: '20260131-020000', date: '2026-01-31', startedAt: now, durations: {} }
  parts.state.write({
    ...parts.state.read(),
    run: { ...run, status: 'done', reached: 'cleaned', job: 'clean' },
    nights: [{ date: '2026-01-31', failures: 0, succeededAt: now }],
  })
  mkdirSync(join(directory, 'backups/run.lock'))
  for (const call of [runBackup(parts, { scheduled: true }), retryBackup(parts, { once: true })]) {
    const { exitCode, text } = await call
    assert.deepEqual([exitCode, text.slice(0, 14)], [0, 'nothing to do:'])
  }
  assert.deepEqual(platform.reports, [])
  assert.equal((await runBackup(parts, {})).exitCode, 1)
  assert.deepEqual(platform.reports, ['backup.failed ERROR'])
})

test('a drill that cannot read the drive has a report and an open ticket of level high', async (t) => {
  const directory = newDirectory(t)
  const platform = await startPlatform(t)
  using parts = partsOf(directory, [], { clock: systemClock, platformApi: platform.url })
  const backupId = '20260131-020000'
  const at = Date.UTC(2026, 0, 31, 1)
  const lastSuccess = { backupId, at, size: 1, sha256: 'a'.repeat(64), path: 'p' }
  parts.state.write({ ...parts.state.read(), lastSuccess })
  rmSync(join(directory, 'certs/backend/drive-token.json'))
  const { exitCode, text } = await restore(parts, { backupId: undefined, latest: true })
  assert.equal(exitCode, 1)
  assert.match(
    text,
    /^the restore drill of backup 20260131-020000 has failed at archive-hash: token_unreadable: /,
  )
  const report = readFileSync(join(directory, `backups/restore-drill-${backupId}.json`), 'utf8')
  const { passed, checks } = JSON.parse(report) as { passed: boolean; checks: { name: string }[] }
  assert.deepEqual([passed, checks.map(({ name }) => name)], [false, ['archive-hash']])
  assert.match(
    readFileSync(join(directory, `backups/restore-drill-${backupId}.md`), 'utf8'),
    /\*\*This backup could not be restored\.\*\*/,
  )
  assert.equal(parts.state.read().drill?.passed, false)
  // Each edit finds the ticket by its key.
  assert.deepEqual([...new Set(platform.reports)], [`ticket restore-drill:${backupId}`])
  assert.deepEqual(platform.ticketLevels, ['high'])
  assert.equal(parts.openAlerts().waiting(), 0)
})

test('restore refuses an empty directory name as wrong usage', async (t) => {
  using parts = partsOf(newDirectory(t), [])
  await assert.rejects(restore(parts, { backupId: undefined, latest: true, into: '' }), { code: 'usage' })
})

test('restore refuses what is no id of a backup as wrong usage', async (t) => {
  using parts = partsOf(newDirectory(t), [])
  for (const backupId of ['../../etc', '20260131-02000', '20260131-0200000', ''])
    await assert.rejects(restore(parts, { backupId }), {
      code: 'usage',
      message: `${JSON.stringify(backupId)} is no id of a backup; expected YYYYMMDD-HHMMSS`,
    })
})

for (const [command, call] of [
  ['status', (parts: BackupParts) => backupStatus(parts)],
  [
    'restore',
    (parts: BackupParts) => restore(parts, { backupId: undefined, latest: true }).catch(() => undefined),
  ],
] as const)
  test(`${command} sends what waits for the platform, also without a report of its own`, async (t) => {
    const directory = newDirectory(t)
    using away = partsOf(directory, [])
    await away.openAlerts().report('backup_started', {})
    const platform = await startPlatform(t)
    using parts = partsOf(directory, [], { clock: systemClock, platformApi: platform.url })
    rmSync(join(directory, 'certs/backend/drive-token.json'))
    await call(parts)
    assert.deepEqual(platform.reports, ['backup.start INFO'])
    assert.equal(parts.openAlerts().waiting(), 0)
  })
