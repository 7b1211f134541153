import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { DatabaseFiles } from '../../../programs/backup/database-files.ts'
import { BackupParts, retryBackup, runBackup, selfcheck } from '../../../programs/backup/index.ts'
import { nightOf } from '../../../programs/backup/night/state.ts'
import { loadConfig } from '../../../src/config/config.ts'
import { Secret } from '../../../src/kernel/secret.ts'
import { fakeClock } from '../../support/clock.ts'
import { writeTokenFile } from '../../support/drive-world.ts'
import { fakeDatabases } from '../../support/night-world.ts'

function newDirectory(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'retry-loop-'))
  t.after(() => rmSync(directory, { recursive: true }))
  return directory
}

/** The routine on a server whose drive and platform are away. Every wait ends at once, after its time. */
function partsOf(directory: string, lines: string[], signal?: AbortSignal): BackupParts {
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
      BACKUP_PLATFORM_API: 'http://127.0.0.1:1',
      BACKUP_TIME_ZONE: 'Europe/Berlin',
    },
  })
  const clock = fakeClock(Date.UTC(2026, 0, 31, 1))
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
    clock: {
      ...clock,
      async wait(milliseconds, signal) {
        if (!signal?.aborted) clock.advance(milliseconds)
      },
    },
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

test('a self-check that is interrupted reports nothing, and the reboot stays to be confirmed', async (t) => {
  const directory = newDirectory(t)
  using parts = partsOf(directory, [], AbortSignal.abort())
  const pendingReboot = { backupId: '20260131-020000', at: 1 }
  parts.state.write({ ...parts.state.read(), pendingReboot })
  assert.equal((await selfcheck(parts)).exitCode, 1)
  assert.deepEqual(parts.state.read().pendingReboot, pendingReboot)
  assert.equal(existsSync(join(directory, 'backups/outbox.jsonl')), false)
})
