import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { takeProcessLock } from '../../programs/files/process-lock.ts'
import { PROGRAM, runPlatform, temporaryDirectory } from '../support/platform.ts'

const skip = process.getuid?.() !== 0 && 'the backup needs root'
const SERVICE = 'etc/systemd/system/platform-backup.service'
const TOKENS =
  '{"access_token":"none","refresh_token":"canary","expires_in":7200,"updated_at":"2026-01-31T02:00:00Z","drive_id":"any","root_dir":"servers/main"}'

/** A server without a platform, and the settings of its backup. */
function server() {
  const directory = temporaryDirectory()
  const path = (name: string) => join(directory.path, name)
  const write = (name: string, text: string, mode: number) => {
    mkdirSync(dirname(path(name)), { recursive: true })
    writeFileSync(path(name), text)
    chmodSync(path(name), mode)
  }
  write('server/certs/backend/drive-token.json', TOKENS, 0o600)
  write('server/backup.env', 'DRIVE_CLIENT_ID=app\nDRIVE_CLIENT_SECRET=canary\n', 0o600)
  mkdirSync(path('image'))
  const env = {
    BACKUP_INSTALL_ROOT: path('server'),
    BACKUP_DRIVE_API_URL: 'http://127.0.0.1:1',
    BACKUP_DRIVE_SECRETS_FILE: path('server/backup.env'),
    BACKUP_PLATFORM_API: 'http://127.0.0.1:1',
    BACKUP_TIME_ZONE: 'Europe/Berlin',
    BACKUP_REBOOT: 'false',
    BACKUP_CLEAN: 'none',
  }
  return {
    path,
    write,
    files: () => readdirSync(directory.path, { recursive: true, encoding: 'utf8' }).sort(),
    run: (...args: string[]) => runPlatform(['backup', ...args], { dataDir: directory.path, env }),
    [Symbol.dispose]: () => directory[Symbol.dispose](),
  }
}

test('install --print prints the units and leaves no trace', { skip }, async () => {
  using host = server()
  const before = host.files()
  const { code, stdout } = await host.run('install', '--print')
  assert.equal(code, 0)
  assert.match(stdout, /^OnCalendar=\*-\*-\* 02:00:00 Europe\/Berlin$/m)
  assert.deepEqual(host.files(), before)
})

test(
  'install --root writes into the image only; the heartbeats wait in it for its platform',
  { skip },
  async () => {
    using host = server()
    const before = host.files()
    const { code, stdout } = await host.run('install', '--root', host.path('image'))
    assert.deepEqual([code, /^written .*platform-backup\.timer$/m.test(stdout)], [0, true], stdout)
    const command = `${process.execPath} ${PROGRAM} backup run --scheduled`
    assert.ok(readFileSync(host.path(`image/${SERVICE}`), 'utf8').includes(`\nExecStart=${command}\n`))
    const outbox = readFileSync(join(host.path('image'), host.path('server/backups/outbox.jsonl')), 'utf8')
    assert.deepEqual(
      [...outbox.matchAll(/"kind":"heartbeat","name":"([\w-]+)"/g)].map(([, name]) => name),
      ['backup', 'backup-restore-drill'],
    )
    assert.deepEqual(
      host.files().filter((name) => !name.startsWith('image/')),
      before,
    )

    const removal = await host.run('uninstall', '--root', host.path('image'))
    assert.equal(removal.code, 0)
    assert.deepEqual(
      host.files().filter((name) => /platform-backup/.test(name)),
      [],
    )
  },
)

test(
  'install with a token file that others can read is exit code 2, and writes nothing',
  { skip },
  async () => {
    using host = server()
    host.write('server/certs/backend/drive-token.json', TOKENS, 0o644)
    const before = host.files()
    const { code, stdout, stderr } = await host.run('install', '--root', host.path('image'))
    assert.deepEqual([code, stdout], [2, ''])
    assert.match(stderr, /^platform: .*drive-token\.json: group or others have access to it; chmod 600 it\n$/)
    assert.deepEqual(host.files(), before)
  },
)

test(
  'while a run is in progress, a second one fails, but the calls of the timers have nothing to do',
  { skip },
  async () => {
    using host = server()
    mkdirSync(host.path('server/backups'))
    const lock = takeProcessLock(host.path('server/backups/run.lock'))
    assert.ok(typeof lock === 'function')
    using _held = { [Symbol.dispose]: lock }
    const byHand = await host.run('run')
    assert.equal(byHand.code, 1)
    assert.match(byHand.stderr, new RegExp(`process ${process.pid}`))
    for (const call of [
      ['run', '--scheduled'],
      ['retry', '--once'],
    ]) {
      const { code, stdout } = await host.run(...call)
      assert.deepEqual([code, /^nothing to do: .*lock/.test(stdout)], [0, true], stdout)
    }
  },
)
