import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { bytesSource } from '../../../programs/backup/drive/sources.ts'
import { BackupError, ERROR_CODES, type ErrorCode } from '../../../programs/backup/errors.ts'
import { nightResult } from '../../../programs/backup/commands/night-result.ts'
import type { NightOutcome } from '../../../programs/backup/night/night.ts'
import { RemoteIndex } from '../../../programs/backup/night/remote-index.ts'
import { HOUR, MINUTE } from '../../../src/kernel/time.ts'
import { storeUnavailable } from '../../../src/store/unavailable.ts'
import { driveScenarios } from '../../support/mock-drive.ts'
import { DATABASE_CONTENT, nightWorld, type NightWorld } from '../../support/night-world.ts'

const ARCHIVE = 'backup-20260131-020000.tar.zst'
const SUCCESS = ['backup.done INFO 2', 'beat backup']
const AFTERWARDS = ['backup.clean WARNING 3', 'backup.clean CLOSE 0', 'system.reboot.init HIGH 5']
const RETRY_SUCCESS = ['backup.done INFO 2', 'backup.retry WARNING 3', 'backup.failed CLOSE 0', 'beat backup']

const unreachable = new BackupError('drive_unreachable', 'The drive cannot be reached.')

/** Makes the calls of the drive of that name fail. */
function failAt(name: string, error: Error = unreachable) {
  return (method: string) => {
    if (method === name) throw error
  }
}

describe('a good night', () => {
  test('reports its steps, in their order, and leaves a backup that can be restored', async () => {
    await using world = await nightWorld()
    mkdirSync(join(world.directory, 'certs'))
    writeFileSync(join(world.directory, 'certs', `${'0a'.repeat(32)}.pem`), 'PEM')
    const outcome = await world.night().runScheduled()
    assert.equal(outcome.outcome, 'succeeded')
    assert.deepEqual(world.alerts, ['backup.start INFO 2', ...SUCCESS, ...AFTERWARDS])
    assert.deepEqual(await world.remote(), ['MANIFEST.json', ARCHIVE])
    assert.deepEqual(world.staging(), [])
    assert.equal(await world.restore('20260131-020000'), DATABASE_CONTENT)
    const [entry = {}] = await world.index()
    assert.partialDeepStrictEqual(entry, {
      backup_id: '20260131-020000',
      file: ARCHIVE,
      created_at: '2026-01-31T01:00:00.000Z',
      contents: ['database/platform.db', 'certs', 'logs', 'journal.export'],
      servers: ['primary'],
    })
    const { pendingReboot, rebootedOn, run } = world.state()
    assert.equal(pendingReboot?.backupId, '20260131-020000')
    assert.equal(rebootedOn, '2026-01-31')
    assert.deepEqual([run?.reached, run?.status], ['rebooting', 'done'])
  })

  test('is not repeated on the same date, and is on the next one', async () => {
    await using world = await nightWorld()
    await world.night().runScheduled()
    world.clock.advance(HOUR)
    const second = await world.night().runScheduled()
    assert.deepEqual(
      [second.outcome, second.message],
      ['nothing', 'the backup of 2026-01-31 has succeeded already'],
    )
    assert.equal((await world.night().retryOnce()).outcome, 'nothing')
    world.clock.advance(23 * HOUR)
    const third = await world.night().runScheduled()
    assert.equal(third.run?.backupId, '20260201-020000')
  })

  test('does not reboot with --no-reboot, or when a gate is closed, and says which', async () => {
    await using world = await nightWorld()
    assert.equal((await world.night({ mayReboot: false }).run()).reboot, 'off')
    assert.ok(!world.calls.includes('gates'))
    world.faults = { gate: 'no command is running' }
    const { outcome, reboot, heldBackBy } = await world.night().run()
    assert.deepEqual([outcome, reboot, heldBackBy?.gate], ['succeeded', 'held_back', 'no command is running'])
    assert.equal(world.alerts.at(-1), 'system.reboot.blocked WARNING 3 no command is running: it is closed')
    assert.equal(world.state().pendingReboot, undefined)
    assert.ok(!world.calls.includes('reboot'))
  })

  test('closes the alert of a reboot that was held back when the next one is not, once', async () => {
    await using world = await nightWorld()
    world.faults = { gate: 'no command is running' }
    for (let nights = 0; nights < 2; nights++) {
      await world.night().run()
      world.clock.advance(24 * HOUR)
    }
    world.faults = {}
    for (let nights = 0; nights < 2; nights++) {
      await world.night().run()
      world.clock.advance(24 * HOUR)
    }
    assert.deepEqual(
      world.alerts.filter((alert) => alert.startsWith('system.')),
      [
        'system.reboot.blocked WARNING 3 no command is running: it is closed',
        'system.reboot.blocked WARNING 3 no command is running: it is closed',
        'system.reboot.blocked CLOSE 0',
        'system.reboot.init HIGH 5',
        'system.reboot.init HIGH 5',
      ],
    )
  })

  test('closes the alert of a reboot that could not be begun, and reports why', async () => {
    await using world = await nightWorld()
    world.faults = { reboot: 'systemctl: exit code 1' }
    const { outcome, message } = await world.night().run()
    assert.deepEqual([outcome, message], ['failed', 'The server was not rebooted: systemctl: exit code 1'])
    assert.deepEqual(world.alerts.slice(-3), [
      'system.reboot.init HIGH 5',
      'system.reboot.init CLOSE 0',
      'system.reboot.blocked WARNING 3 reboot_command: systemctl: exit code 1',
    ])
    const { run, pendingReboot } = world.state()
    assert.equal(pendingReboot, undefined)
    assert.deepEqual(
      [run?.status, run?.failure?.errorCode, run?.failure?.job, run?.failure?.message],
      ['failed', 'internal', 'reboot', message],
    )
    assert.equal((await world.night().retryOnce()).outcome, 'nothing')
  })
})

test('a success closes no alert of a self-check', async () => {
  await using world = await nightWorld()
  world.setState({ ...world.state(), openAlerts: ['failed', 'selfcheck'] })
  await world.night().runScheduled()
  assert.deepEqual(world.state().openAlerts, ['selfcheck'])
  assert.deepEqual(world.alerts.slice(1, 3), ['backup.done INFO 2', 'backup.failed CLOSE 0'])
})

describe('a night with failures', () => {
  test('is retried with the same id, and one failure is an ERROR', async () => {
    await using world = await nightWorld()
    world.faults = { drive: failAt('upload') }
    assert.equal((await world.night().runScheduled()).errorCode, 'drive_unreachable')
    assert.deepEqual(world.staging(), [ARCHIVE])
    world.faults = {}
    world.clock.advance(30 * MINUTE)
    assert.equal((await world.night().retryOnce()).outcome, 'succeeded')
    assert.deepEqual(world.alerts, [
      'backup.start INFO 2',
      'backup.failed ERROR 4 drive_unreachable',
      ...RETRY_SUCCESS,
      ...AFTERWARDS,
    ])
    assert.deepEqual(await world.remote(), ['MANIFEST.json', ARCHIVE])
    assert.equal(world.calls.filter((call) => call === 'snapshot').length, 1)
    assert.equal(await world.restore('20260131-020000'), DATABASE_CONTENT)
  })

  test('is HIGH from the second failure on', async () => {
    await using world = await nightWorld()
    world.faults = { drive: failAt('ensureFolder') }
    await world.night().runScheduled()
    for (const _ of [1, 2]) {
      world.clock.advance(30 * MINUTE)
      await world.night().retryOnce()
    }
    world.faults = {}
    world.clock.advance(30 * MINUTE)
    await world.night().retryOnce()
    assert.deepEqual(world.alerts, [
      'backup.start INFO 2',
      'backup.failed ERROR 4 drive_unreachable',
      'backup.failed HIGH 5 drive_unreachable',
      'backup.failed HIGH 5 drive_unreachable',
      ...RETRY_SUCCESS,
      ...AFTERWARDS,
    ])
  })

  test('is lost at the end of the window: CRITICAL and a ticket once, and no more retries', async () => {
    await using world = await nightWorld()
    world.faults = { drive: failAt('upload') }
    await world.night().runScheduled()
    const outcomes: string[] = []
    for (let call = 0; call < 10; call++) {
      world.clock.advance(30 * MINUTE)
      outcomes.push((await world.night().retryOnce()).outcome)
    }
    assert.deepEqual(outcomes, [...Array.from({ length: 7 }, () => 'failed'), 'lost', 'nothing', 'nothing'])
    assert.deepEqual(world.alerts, [
      'backup.start INFO 2',
      'backup.failed ERROR 4 drive_unreachable',
      ...Array.from({ length: 7 }, () => 'backup.failed HIGH 5 drive_unreachable'),
      'backup.failed.critical CRITICAL 6 drive_unreachable',
      'ticket critical backup:2026-01-31',
    ])
    const late = await world.night().runScheduled()
    assert.deepEqual(
      [late.outcome, late.message],
      ['nothing', 'the window of 2026-01-31 is over since 06:00'],
    )
    world.faults = {}
    world.alerts.length = 0
    world.clock.advance(19 * HOUR)
    await world.night().runScheduled()
    assert.deepEqual(world.alerts, [
      'backup.start INFO 2',
      'backup.done INFO 2',
      'backup.failed.critical CLOSE 0',
      'backup.failed CLOSE 0',
      'beat backup',
      ...AFTERWARDS,
    ])
    assert.deepEqual(await world.remote(), [])
    assert.deepEqual(await world.remote('202602'), ['MANIFEST.json', 'backup-20260201-020000.tar.zst'])
  })

  test('a try that began in the window and fails after it is escalated at once', async () => {
    await using world = await nightWorld()
    world.faults = { drive: failAt('upload') }
    world.clock.advance(3.9 * HOUR)
    world.faults.drive = (method) => {
      if (method !== 'upload') return
      world.clock.advance(HOUR)
      throw unreachable
    }
    assert.equal((await world.night().runScheduled()).outcome, 'failed')
    assert.deepEqual(world.alerts.slice(-2), [
      'backup.failed.critical CRITICAL 6 drive_unreachable',
      'ticket critical backup:2026-01-31',
    ])
    assert.equal((await world.night().retryOnce()).outcome, 'nothing')
  })

  test('the second call of the timer leaves a failed run to its retries', async () => {
    await using world = await nightWorld()
    world.faults = { drive: failAt('upload') }
    await world.night().runScheduled()
    world.clock.advance(HOUR)
    assert.equal((await world.night().runScheduled()).outcome, 'nothing')
  })

  test('a failed cleaning does not take the success back: no reboot, no retry', async () => {
    await using world = await nightWorld()
    world.faults = { cleaning: new BackupError('clean_failed', 'Cleaning has failed. tmp: failed') }
    const { outcome, errorCode } = await world.night().runScheduled()
    assert.deepEqual([outcome, errorCode], ['failed', 'clean_failed'])
    assert.deepEqual(world.alerts, [
      'backup.start INFO 2',
      ...SUCCESS,
      'backup.clean WARNING 3',
      'backup.clean CLOSE 0',
      'backup.failed ERROR 4 clean_failed',
    ])
    assert.ok(!world.calls.includes('reboot'))
    assert.equal((await world.night().retryOnce()).outcome, 'nothing')
    assert.equal(world.state().lastSuccess?.backupId, '20260131-020000')
  })
})

describe('a night without some of its logs', () => {
  test('that are whole directories has failed, and its backup of the rest stays: no reboot, no retry', async () => {
    await using world = await nightWorld()
    const gone = join(world.directory, 'gone')
    const settings = { logs: [join(world.directory, 'logs'), gone] }
    for (const failure of ['backup.failed ERROR 4 log_missing', 'backup.failed ERROR 4 log_missing']) {
      world.alerts.length = 0
      const outcome = await world.night({}, settings).runScheduled()
      assert.deepEqual([outcome.outcome, outcome.errorCode], ['failed', 'log_missing'])
      assert.match(outcome.message, new RegExp(`no logs of ${gone}: .* backup.logs_optional`))
      assert.deepEqual(world.alerts, [
        'backup.start INFO 2',
        `backup.done INFO 2 not in the package: 1: ${gone} (no such file or directory)`,
        'beat backup',
        failure,
      ])
      assert.equal((await world.night().retryOnce()).outcome, 'nothing')
      world.clock.advance(24 * HOUR)
    }
    assert.ok(!world.calls.includes('reboot') && !world.calls.includes('clean'))
    const [json] = [nightResult(await world.night({}, settings).run()).json as Record<string, unknown>]
    const leftOut = {
      count: 1,
      files: [{ path: gone, reason: 'no such file or directory' }],
      missing_roots: [gone],
    }
    assert.deepEqual(json['left_out'], leftOut)
    assert.deepEqual(world.state().lastSuccess?.leftOut, leftOut)
    world.alerts.length = 0
    await world.night({}, { ...settings, optionalLogs: [gone] }).run()
    assert.deepEqual(world.alerts.slice(2, 4), ['backup.failed CLOSE 0', 'beat backup'])
  })
})

test('a journal that could not be exported is told, and one of a server without one is not', async () => {
  await using world = await nightWorld()
  for (const [isLost, done] of [
    [true, 'backup.done INFO 2 not in the package: 1: journal.export (it has failed)'],
    [false, 'backup.done INFO 2'],
  ] as const) {
    world.faults = { journal: { reason: 'it has failed', isLost } }
    assert.equal((await world.night().run()).outcome, 'succeeded')
    assert.equal(
      world.alerts.findLast((line) => line.startsWith('backup.done')),
      done,
    )
  }
})

describe('each error code has a fault of its own', () => {
  const fullDisk = Object.assign(new Error('ENOSPC: no space left on device, write'), {
    code: 'ENOSPC',
    syscall: 'write',
  })
  const faults: Readonly<Record<ErrorCode, (world: NightWorld) => AbortSignal | void | Promise<void>>> = {
    snapshot_failed: (world) => {
      world.faults = { databases: { snapshot: new Error('database is locked') } }
    },
    archive_failed: (world) => {
      world.faults = {
        journal: Object.assign(new Error('input/output error'), { code: 'EIO', syscall: 'write' }),
      }
    },
    log_missing: ({ directory }) => rmSync(join(directory, 'logs'), { recursive: true }),
    no_space: (world) => {
      world.faults = { databases: { snapshot: fullDisk } }
    },
    token_unreadable: ({ drives }) => rmSync(drives.tokenPath),
    token_refresh_failed: ({ drives }) => {
      const tokens = { ...drives.tokens(), refresh_token: 'used' }
      writeFileSync(drives.tokenPath, JSON.stringify(tokens))
      chmodSync(drives.tokenPath, 0o600)
    },
    drive_unreachable: ({ drives }) => drives.mock.close(0),
    drive_rejected: (world) => {
      world.faults = { drive: failAt('upload', new BackupError('drive_rejected', 'QuotaExhausted')) }
    },
    upload_failed: (world) => {
      world.faults = { drive: failAt('upload', new BackupError('upload_failed', 'a part')) }
    },
    verify_mismatch: (world) => {
      world.faults = { drive: failAt('stat', new BackupError('verify_mismatch', 'another size')) }
    },
    clean_failed: (world) => {
      world.faults = { cleaning: new BackupError('clean_failed', 'tmp') }
    },
    interrupted: () => AbortSignal.abort(),
    internal: (world) => {
      world.faults = { journal: new TypeError('x is not a function') }
    },
  }
  for (const code of ERROR_CODES) {
    test(code, async () => {
      await using world = await nightWorld()
      const signal = (await faults[code](world)) ?? undefined
      const { outcome, errorCode } = await world.night({}, {}, signal).run()
      assert.deepEqual([outcome, errorCode], ['failed', code])
      assert.equal(world.alerts.at(-1), `backup.failed ERROR 4 ${code}`)
      const failure = world.state().run?.failure
      assert.equal(failure?.errorCode, code)
      assert.ok(
        world.staging().every((name) => name === ARCHIVE),
        String(world.staging()),
      )
    })
  }
})

test('the reason of a failure is one line', async () => {
  await using world = await nightWorld()
  const error = new BackupError('snapshot_failed', 'pg_dump ended with 1: permission denied\nQuery was: LOCK')
  world.faults.databases = { snapshot: error }
  const { message } = await world.night().runScheduled()
  assert.equal(
    message,
    'The database was not copied: pg_dump ended with 1: permission denied Query was: LOCK',
  )
})

describe('a run whose failure cannot be stored', () => {
  test('is reported once', async () => {
    await using world = await nightWorld()
    world.faults = {
      drive(method) {
        if (method !== 'ensureFolder') return
        mkdirSync(join(world.directory, 'state.json.tmp'))
        throw unreachable
      },
    }
    const outcome = await world.night().runScheduled()
    assert.deepEqual([outcome.outcome, outcome.errorCode], ['failed', 'drive_unreachable'])
    assert.deepEqual(world.alerts, ['backup.start INFO 2', 'backup.failed ERROR 4 drive_unreachable'])
    assert.equal(world.state().run?.status, 'running')
    // The caller reports the next one.
    await assert.rejects(world.night().retryOnce(), { code: 'ERR_FS_EISDIR' })
    assert.equal(world.alerts.length, 2)
  })

  test('is recorded all the same when the staging directory cannot be used', async () => {
    await using world = await nightWorld()
    const staging = join(world.directory, 'a file')
    writeFileSync(staging, '')
    const outcome = await world.night({}, { staging }).runScheduled()
    assert.equal(outcome.errorCode, 'archive_failed')
    assert.deepEqual(world.alerts, ['backup.start INFO 2', 'backup.failed ERROR 4 archive_failed'])
    assert.equal(world.state().run?.status, 'failed')
  })

  test('leaves files of others in the staging directory', async () => {
    await using world = await nightWorld()
    const database = join(world.directory, 'staging/platform.db')
    mkdirSync(dirname(database), { recursive: true })
    for (const name of ['platform.db', 'backup-20250101-020000.tar.zst', 'database.snapshot'])
      writeFileSync(join(dirname(database), name), 'x')
    assert.equal((await world.night().runScheduled()).outcome, 'succeeded')
    assert.deepEqual(world.staging(), ['platform.db'])
  })

  test('is lost once at the end of the window', async () => {
    await using world = await nightWorld()
    world.faults.drive = failAt('ensureFolder')
    await world.night().runScheduled()
    world.clock.advance(5 * HOUR)
    mkdirSync(join(world.directory, 'state.json.tmp'))
    world.alerts.length = 0
    assert.equal((await world.night().retryOnce()).outcome, 'lost')
    assert.deepEqual(world.alerts, [
      'backup.failed.critical CRITICAL 6 drive_unreachable',
      'ticket critical backup:2026-01-31',
    ])
  })
})

test('a database that cannot be read is named with the reason of the engine', async () => {
  await using world = await nightWorld()
  world.faults = { databases: { databaseBytes: storeUnavailable(new Error('file is not a database')) } }
  const { errorCode, message } = await world.night().run()
  assert.deepEqual(
    [errorCode, message],
    ['snapshot_failed', 'The database cannot be read: file is not a database'],
  )
})

test('the free space is asked for once, before anything is written', async () => {
  await using world = await nightWorld()
  const log = join(world.directory, 'logs/huge.log')
  writeFileSync(log, '')
  truncateSync(log, 2 ** 43)
  const { errorCode, message } = await world.night().run()
  assert.equal(errorCode, 'no_space')
  assert.match(message, /free space; a package needs \d{13}\.$/)
  assert.deepEqual(world.calls, ['databaseBytes'])
  assert.deepEqual(world.staging(), [])
})

describe('a run that was killed', () => {
  const killedAt = async (world: NightWorld, method: string) => {
    world.faults = { drive: failAt(method) }
    await world.night().runScheduled()
    world.faults = {}
    world.alerts.length = 0
    const { run, ...state } = world.state()
    if (!run) throw new Error('there is no run')
    world.setState({ ...state, nights: [], openAlerts: [], run: { ...run, status: 'running' } })
  }

  test('is reported by the next call, which goes on with its id', async () => {
    await using world = await nightWorld()
    await killedAt(world, 'upload')
    world.clock.advance(30 * MINUTE)
    const { outcome, run } = await world.night().retryOnce()
    assert.deepEqual([outcome, run?.backupId], ['succeeded', '20260131-020000'])
    assert.deepEqual(world.alerts, ['backup.failed ERROR 4 interrupted', ...RETRY_SUCCESS, ...AFTERWARDS])
    assert.deepEqual(await world.remote(), ['MANIFEST.json', ARCHIVE])
  })

  test('is gone on with by a run, too, without a second start', async () => {
    await using world = await nightWorld()
    await killedAt(world, 'stat')
    const { run } = await world.night().runScheduled()
    assert.equal(run?.backupId, '20260131-020000')
    assert.deepEqual(world.alerts.slice(0, 2), ['backup.failed ERROR 4 interrupted', 'backup.done INFO 2'])
    assert.deepEqual(await world.remote(), ['MANIFEST.json', ARCHIVE])
  })

  test('on an earlier date is given up, and its archive leaves the drive', async () => {
    await using world = await nightWorld()
    await killedAt(world, 'stat')
    assert.deepEqual(await world.remote(), [ARCHIVE])
    world.clock.advance(24 * HOUR)
    const { run } = await world.night().runScheduled()
    assert.equal(run?.backupId, '20260201-020000')
    assert.deepEqual(world.alerts.slice(0, 2), ['backup.failed ERROR 4 interrupted', 'backup.start INFO 2'])
    assert.deepEqual(await world.remote(), [])
  })

  test('after the end of the window is a lost night', async () => {
    await using world = await nightWorld()
    await killedAt(world, 'upload')
    world.clock.advance(4 * HOUR)
    assert.equal((await world.night().retryOnce()).outcome, 'lost')
    assert.deepEqual(world.alerts, [
      'backup.failed ERROR 4 interrupted',
      'backup.failed.critical CRITICAL 6 interrupted',
      'ticket critical backup:2026-01-31',
    ])
  })
})

describe('the drive', () => {
  test('an archive with another hash is not verified, and leaves the drive', async () => {
    const wrong = { endpoint: 'get', scenario: 'wrong_hash' }
    await using world = await nightWorld(driveScenarios(wrong))
    assert.equal((await world.night().run()).errorCode, 'verify_mismatch')
    assert.deepEqual(await world.remote(), [])
    assert.deepEqual(await world.index(), [])
    assert.equal((await world.night().retryOnce()).outcome, 'succeeded')
    assert.equal(await world.restore('20260131-020000'), DATABASE_CONTENT)
  })

  for (const [what, text] of [
    ['no JSON', '{"backups": ['],
    // An entry without a time, which a restoration could not use.
    [
      'an entry is incomplete',
      `{"backups": [{"backup_id": "20260130-020000", "file": "backup-20260130-020000.tar.zst", "size": 1, "sha256": "${'a'.repeat(64)}"}]}`,
    ],
  ] as const)
    test(`a damaged index is kept beside the new one: ${what}`, async () => {
      await using world = await nightWorld()
      await world.night().run()
      const drive = world.drives.open()
      const folderId = (await drive.findFolder('servers/main/backup/202601')) ?? ''
      for (const { fileId, name } of await drive.list(folderId))
        if (name === 'MANIFEST.json') await drive.delete(fileId)
      await drive.upload({ folderId, name: 'MANIFEST.json' }, bytesSource(text))
      world.clock.advance(MINUTE)
      assert.equal((await world.night().run()).outcome, 'succeeded')
      assert.ok((await world.remote()).includes('MANIFEST.damaged-20260131-020100.json'))
      assert.deepEqual(
        (await world.index()).map((entry) => entry['backup_id']),
        ['20260131-020100'],
      )
    })

  test('keeps what remote_keep names, in the indexes too, and the newest backup always', async () => {
    await using world = await nightWorld()
    const remoteKeep = { daily: 2, weekly: 0, monthly: 0 }
    for (let day = 0; day < 4; day++) {
      assert.equal((await world.night({}, { remoteKeep, reboot: false }).runScheduled()).outcome, 'succeeded')
      world.clock.advance(24 * HOUR)
    }
    assert.deepEqual(await world.remote('202601'), ['MANIFEST.json'])
    assert.deepEqual(await world.index('202601'), [])
    const ids = (await world.index('202602')).map((entry) => entry['backup_id'])
    assert.deepEqual(ids, ['20260202-020000', '20260203-020000'])
    for (const id of ids) assert.equal(await world.restore(String(id)), DATABASE_CONTENT)
  })

  test('old backups are found again after the state was lost', async () => {
    await using world = await nightWorld()
    const remoteKeep = { daily: 1, weekly: 0, monthly: 0 }
    await world.night({}, { reboot: false }).runScheduled()
    world.clock.advance(24 * HOUR)
    rmSync(join(world.directory, 'state.json'))
    await world.night({}, { remoteKeep, reboot: false }).runScheduled()
    assert.deepEqual(await world.remote('202601'), ['MANIFEST.json'])
  })

  test('a failed removal of old backups fails no night', async () => {
    await using world = await nightWorld()
    const remoteKeep = { daily: 1, weekly: 0, monthly: 0 }
    await world.night({}, { reboot: false }).runScheduled()
    world.clock.advance(24 * HOUR)
    world.faults = { drive: failAt('delete', new BackupError('drive_rejected', 'no')) }
    assert.equal((await world.night({}, { remoteKeep, reboot: false }).runScheduled()).outcome, 'succeeded')
    world.faults = {}
    world.clock.advance(24 * HOUR)
    await world.night({}, { remoteKeep, reboot: false }).runScheduled()
    assert.deepEqual(await world.remote('202601'), ['MANIFEST.json'])
  })
})

describe('two servers with one folder of the drive', () => {
  /** Another server, with the same name, the same role, the same clock, and other logs. */
  async function twin(world: NightWorld): Promise<NightWorld> {
    const other = await nightWorld({}, world)
    writeFileSync(join(other.directory, 'logs', 'access.log'), 'GET /orders\n')
    return other
  }

  async function assertBoth(world: NightWorld, outcomes: readonly NightOutcome[]): Promise<void> {
    const ids = outcomes.map(({ run, outcome, message }) => {
      assert.equal(outcome, 'succeeded', message)
      return run?.backupId ?? ''
    })
    assert.equal(new Set(ids).size, 2)
    const entries = await world.index()
    for (const { run } of outcomes)
      assert.ok(
        entries.some(({ sha256 }) => sha256 === run?.archive?.sha256),
        `${run?.backupId} is not in the index`,
      )
    for (const id of ids) assert.equal(await world.restore(id), DATABASE_CONTENT)
  }

  test('the second one of the same second takes another id, and says so', async () => {
    await using world = await nightWorld()
    await using other = await twin(world)
    const outcomes = [await world.night().runScheduled(), await other.night().runScheduled()]
    await assertBoth(world, outcomes)
    assert.deepEqual(
      outcomes.map(({ run }) => run?.backupId),
      ['20260131-020000', '20260131-020001'],
    )
    assert.ok(other.lines.some(({ message }) => /takes another id/.test(message)))
  })

  test('both keep their backups when they upload at the same time', async () => {
    await using world = await nightWorld()
    await using other = await twin(world)
    await assertBoth(world, await Promise.all([world.night().run(), other.night().run()]))
    for (const each of [world, other]) each.clock.advance(MINUTE)
    await assertBoth(world, await Promise.all([world.night().run(), other.night().run()]))
  })

  test('a server removes its own old backups only, also after it has lost its state', async () => {
    await using world = await nightWorld()
    await using other = await twin(world)
    const night = (server: NightWorld) =>
      server.night({}, { reboot: false, remoteKeep: { daily: 1, weekly: 0, monthly: 0 } }).runScheduled()
    await night(world)
    await night(other)
    for (const each of [world, other]) each.clock.advance(24 * HOUR)
    rmSync(join(world.directory, 'state.json'))
    await night(world)
    assert.deepEqual(world.state().sharedWith, [], 'of the new month')
    assert.deepEqual(await world.remote(), ['MANIFEST.json', 'backup-20260131-020001.tar.zst'])
    await night(other)
    assert.deepEqual(other.state().sharedWith, [`server-1:${world.directory}`])
    assert.deepEqual(await world.remote(), ['MANIFEST.json'])
    assert.equal((await world.index('202602')).length, 2)
  })
})

describe('what this server has made', () => {
  test('counts as removed when the drive does not have it any more', async () => {
    await using world = await nightWorld()
    const night = () =>
      world.night({}, { remoteKeep: { daily: 1, weekly: 0, monthly: 0 }, reboot: false }).runScheduled()
    await night()
    world.clock.advance(24 * HOUR)
    world.faults = { drive: (method) => (method === 'delete' ? 'ignored' : undefined) }
    assert.equal((await night()).outcome, 'succeeded')
    assert.deepEqual(world.state().remoteIds, ['20260131-020000', '20260201-020000'])
    assert.ok(world.lines.some(({ message }) => message === 'the drive still has a backup after its removal'))
    world.faults = {}
    world.clock.advance(24 * HOUR)
    await night()
    assert.deepEqual([await world.remote(), await world.index()], [['MANIFEST.json'], []])
    assert.deepEqual(world.state().remoteIds, ['20260202-020000'])
  })

  test('is an upload that the drive has completed unseen, whatever hash it names', async () => {
    const wrong = { endpoint: 'list', scenario: 'wrong_hash' }
    await using world = await nightWorld(driveScenarios(...Array.from({ length: 100 }, () => wrong)))
    world.faults = { drive: failAt('stat') }
    await world.night().runScheduled()
    world.faults = {}
    const { run, ...state } = world.state()
    if (!run?.archive || !run.remote) throw new Error('nothing was uploaded')
    const { remote, ...others } = run
    const { size, sha1 } = run.archive
    const upload = { fileId: remote.fileId, uploadId: 'ended', size, sha1, partSize: size, hasUrls: true }
    world.setState({ ...state, run: { ...others, reached: 'packaged', upload } })
    await world.night().retryOnce()
    assert.equal(world.state().run?.backupId, '20260131-020000')
    assert.equal((await world.remote()).filter((name) => name === ARCHIVE).length, 1)
  })

  test('is no entry of another server with the same id', async () => {
    await using world = await nightWorld()
    const { run } = await world.night({}, { reboot: false }).runScheduled()
    const drive = world.drives.open()
    const folderId = (await drive.findFolder('servers/main/backup/202601')) ?? ''
    const [own] = (await new RemoteIndex(drive, folderId, 'server-2').read()).entries
    assert.ok(own && own.backup_id === run?.backupId)
    const other = { ...own, sha256: 'b'.repeat(64), made_by: 'server-2:/' }
    await new RemoteIndex(drive, folderId, 'server-2').put(other, () => false)
    world.clock.advance(24 * HOUR)
    rmSync(join(world.directory, 'state.json'))
    const remoteKeep = { daily: 1, weekly: 0, monthly: 0 }
    await world.night({}, { remoteKeep, reboot: false }).runScheduled()
    assert.deepEqual(
      (await world.index()).map(({ made_by: madeBy }) => madeBy),
      ['server-2:/'],
    )
  })
})

test('the hour that clocks repeat gives no id twice', async () => {
  await using world = await nightWorld()
  world.clock.advance(Date.UTC(2026, 9, 25, 0, 30) - world.clock.now())
  const first = await world.night().run()
  world.clock.advance(HOUR)
  const second = await world.night().run()
  assert.deepEqual(
    [first, second].map(({ run }) => run?.backupId),
    ['20261025-023000', '20261025-023001'],
  )
})

test('a state that cannot be used is kept, and the run goes on as a first one', async () => {
  await using world = await nightWorld()
  writeFileSync(join(world.directory, 'state.json'), '{"format": 1, "run": {')
  assert.equal((await world.night().runScheduled()).outcome, 'succeeded')
  const [line] = world.lines.filter(({ level }) => level === 'error')
  assert.match(line?.message ?? '', /cannot be used: it is not valid JSON\. The next run is a first run/)
  const kept = readdirSync(world.directory).find((name) => name.startsWith('state.json.corrupt-')) ?? ''
  assert.equal(readFileSync(join(world.directory, kept), 'utf8'), '{"format": 1, "run": {')
})

test('no token is in an alert, the log or the state', async () => {
  await using world = await nightWorld()
  const secrets = () => ['access_token', 'refresh_token'].map((name) => String(world.drives.tokens()[name]))
  const before = secrets()
  await world.night().runScheduled()
  const all = JSON.stringify([world.alerts, world.lines, world.state()])
  for (const secret of [...before, ...secrets()])
    assert.ok(!all.includes(secret) || secret === 'stale', secret)
})
