import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { appendFileSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { backupsOf, backupWorld, FIRST_PAGE } from '../../../test/support/data-backups.ts'
import { onEveryDialect } from '../../../test/support/store.ts'
import { parameterFault, type CommandParameter } from '../../kernel/command.ts'
import { AppError } from '../../kernel/errors.ts'
import { silentLogger } from '../../kernel/logger.ts'
import { DAY, HOUR, MINUTE } from '../../kernel/time.ts'
import type { Snapshots } from '../../ports/database-files.ts'
import { MIGRATIONS } from '../../store/migrate.ts'
import { createSnapshots } from '../../store/files/snapshot.ts'
import type { Store } from '../../store/store.ts'
import { pruneBackupsCommand } from './index.ts'
import { INTERRUPTED } from './model.ts'
import { interruptRunning } from './store.ts'

const FAILED = 'data.backup.failed ERROR'
const RECOVERED = 'data.backup.failed CLOSE'

/** Snapshots with other steps than the real ones. */
const withSteps = (steps: (real: Snapshots) => Partial<Snapshots>) => (store: Store) => {
  const real = createSnapshots(store)
  return { snapshots: { ...real, ...steps(real) } }
}

const full = (): never => {
  throw new AppError('unavailable', 'store_unavailable', 'The disk is full.')
}

onEveryDialect('data backups', (dialect) => {
  const extension = dialect === 'sqlite' ? 'db' : 'dump'

  test('a backup is running when it is requested, and then completed, verified and described', async () => {
    await using w = await backupWorld(dialect)
    const { id, ...requested } = await w.request('before the upgrade')
    assert.deepEqual(
      [requested.status, requested.note, requested.requestedBy, requested.sha256, requested.tables],
      ['running', 'before the upgrade', 'ada', null, null],
    )
    const { status, sizeBytes, sha256, tables, schemaVersion, verifiedAt, finishedAt, error } =
      await w.ended(id)
    const migrations = MIGRATIONS.map(({ name }) => name).toSorted()
    assert.deepEqual([status, error, schemaVersion], ['completed', null, migrations.at(-1)])
    const path = join(w.directory, `${id}.${extension}`)
    assert.deepEqual(w.files(), [`${id}.${extension}`])
    assert.deepEqual([statSync(path).size, statSync(path).mode & 0o777], [sizeBytes, 0o600])
    assert.equal(createHash('sha256').update(readFileSync(path)).digest('hex'), sha256)
    assert.deepEqual(
      [tables?.['data_backups'], tables?.['users'], tables?.['schema_migrations']],
      [1, 0, migrations.length],
    )
    assert.ok(verifiedAt !== null && finishedAt !== null && verifiedAt <= finishedAt)
    assert.deepEqual(w.eventLines(), [`data.backup.started ${id}`, `data.backup.completed ${id}`])
    assert.deepEqual(w.alertLines(), [])
  })

  test('one backup runs at a time over all processes', async () => {
    const held = Promise.withResolvers<void>()
    await using w = await backupWorld(
      dialect,
      withSteps((real) => ({
        write: async (path, options) => {
          await held.promise
          await real.write(path, options)
        },
      })),
    )
    const other = backupsOf(w.store, w.directory)
    const requests = await Promise.allSettled([w.request(), other.request(), w.request(), other.request()])
    const refused = requests.flatMap((each) => (each.status === 'rejected' ? [each.reason as AppError] : []))
    assert.deepEqual(
      refused.map(({ code }) => code),
      ['backup_running', 'backup_running', 'backup_running'],
    )
    const running = (await w.backups.list(FIRST_PAGE)).items
    assert.equal(running.length, 1)
    const id = running[0]?.id ?? ''
    await assert.rejects(
      w.store.write((tx) => w.backups.remove(tx, id, 'ada')),
      { code: 'backup_running' },
    )
    held.resolve()
    assert.equal((await w.ended(id)).status, 'completed')
    assert.equal((await w.make()).status, 'completed')
  })

  for (const step of ['write', 'verify'] as const) {
    test(`a backup that fails at the step ${step} leaves no file, and raises an alert until one is completed`, async () => {
      let isBroken = true
      const warnings: string[] = []
      const steps = withSteps((real) => ({
        [step]: (path: string, options: object) => (isBroken ? full() : real[step](path, options)),
      }))
      const logger = { ...silentLogger, warn: (_: object, text: string) => void warnings.push(text) }
      await using w = await backupWorld(dialect, (store) => ({ ...steps(store), logger }))
      const failed = await w.make()
      assert.deepEqual(warnings, ['data backup failed'])
      assert.deepEqual([failed.status, failed.error, failed.sha256], ['failed', 'The disk is full.', null])
      assert.deepEqual(w.files(), [])
      assert.deepEqual(w.alertLines(), [FAILED])
      await assert.rejects(w.backups.file(failed.id), { code: 'backup_file_not_found' })
      isBroken = false
      await w.make()
      assert.deepEqual(w.alertLines(), [FAILED, RECOVERED])
      await w.make()
      assert.deepEqual(w.alertLines(), [FAILED, RECOVERED])
      assert.deepEqual(w.eventLines().slice(0, 2), [
        `data.backup.started ${failed.id}`,
        `data.backup.failed ${failed.id}`,
      ])
    })
  }

  test('a worker that stops interrupts its backup and leaves no file', async () => {
    const begun = Promise.withResolvers<void>()
    await using w = await backupWorld(
      dialect,
      withSteps((real) => ({
        write: async (path, { signal }) => {
          await real.write(path, {})
          begun.resolve()
          await new Promise((_, reject) => {
            signal?.addEventListener('abort', () => reject(signal.reason as Error))
          })
        },
      })),
    )
    const { id } = await w.request()
    await begun.promise
    await w.stop()
    const { status, error, finishedAt } = await w.backups.get(id)
    assert.deepEqual([status, error, finishedAt !== null], ['failed', 'interrupted', true])
    assert.deepEqual(w.files(), [])
  })

  test('deleting removes the file and the row, also when the process ends in between', async () => {
    await using w = await backupWorld(dialect)
    const [one, two] = [await w.make(), await w.make()]
    for (const { id } of [one, two]) await w.store.write((tx) => w.backups.remove(tx, id, 'ada'))
    assert.deepEqual((await w.backups.list(FIRST_PAGE)).items, [])
    assert.equal(w.files().length, 2)
    await assert.rejects(w.backups.get(one.id), { code: 'backup_not_found' })
    await w.backups.maintain()
    assert.deepEqual(w.files(), [])
    assert.deepEqual(w.eventLines().slice(-2), [
      `data.backup.deleted ${one.id}`,
      `data.backup.deleted ${two.id}`,
    ])
    await assert.rejects(
      w.store.write((tx) => w.backups.remove(tx, one.id, 'ada')),
      { code: 'backup_not_found' },
    )
  })

  test('deleting the last failed backup recovers its alert', async () => {
    await using w = await backupWorld(
      dialect,
      withSteps(() => ({ write: full })),
    )
    const { id } = await w.make()
    await w.store.write((tx) => w.backups.remove(tx, id, 'ada'))
    assert.deepEqual(w.alertLines(), [FAILED, RECOVERED])
  })

  test('deleting an earlier failed backup leaves the alert of the last one', async () => {
    await using w = await backupWorld(
      dialect,
      withSteps(() => ({ write: full })),
    )
    const { id } = await w.make()
    await w.make()
    await w.store.write((tx) => w.backups.remove(tx, id, 'ada'))
    assert.deepEqual(w.alertLines(), [FAILED, FAILED])
  })

  test('a completed backup recovers the alert in a database that was restored meanwhile', async () => {
    let isBroken = true
    await using w = await backupWorld(
      dialect,
      withSteps((real) => ({
        write: (path, options) => (isBroken ? full() : real.write(path, options)),
      })),
    )
    await w.make()
    // A snapshot contains its own backup as running, and a restoration ends it without an alert.
    await w.store.write(async (tx) => {
      await w.backups.create(tx, {}, 'ada')
      await interruptRunning(tx, INTERRUPTED, w.clock.now())
    })
    isBroken = false
    await w.make()
    assert.deepEqual(w.alertLines(), [FAILED, RECOVERED])
  })

  test('a request for data.prune that would keep fewer than 1 or more than 1,000 backups is refused', async () => {
    await using w = await backupWorld(dialect)
    const { params } = pruneBackupsCommand(w.backups, w.store)
    const fault = (keep: number) => parameterFault('keep', params['keep'] as CommandParameter, keep)
    assert.deepEqual(
      [0, 1, 1_000, 1_001].map((keep) => fault(keep) === undefined),
      [false, true, true, false],
    )
  })

  test('pruning removes all but the newest, and concurrent calls remove each once', async () => {
    await using w = await backupWorld(dialect)
    const ids: string[] = []
    for (let count = 0; count < 4; count++) ids.unshift((await w.make()).id)
    const prune = (keep: number) => w.store.write((tx) => w.backups.prune(tx, keep, 'ada'))
    assert.deepEqual(await prune(1_000), { removed: [], kept: ids })
    const results = await Promise.all([prune(2), prune(2)])
    assert.deepEqual(results.flatMap(({ removed }) => removed).toSorted(), ids.slice(2).toSorted())
    await w.backups.removeFiles()
    assert.equal(w.files().length, 2)
    assert.deepEqual(await prune(1), { removed: ids.slice(1, 2), kept: ids.slice(0, 1) })
    assert.equal(w.eventLines().filter((event) => event.startsWith('data.backup.deleted')).length, 3)
  })

  test('without enough space a backup is refused, and nothing is written', async () => {
    await using w = await backupWorld(
      dialect,
      withSteps(() => ({ databaseBytes: async () => Number.MAX_SAFE_INTEGER })),
    )
    await assert.rejects(w.backups.requireSpace(), { code: 'no_space', kind: 'unavailable' })
    await assert.rejects(w.backups.backUp({}, 'ada'), { code: 'no_space' })
    assert.deepEqual([w.files(), (await w.backups.list(FIRST_PAGE)).items], [[], []])
  })

  test('the worker makes a backup when it is due, and keeps as many as are wanted', async () => {
    await using w = await backupWorld(dialect, () => ({ everyMs: HOUR, keep: 2 }))
    const pass = async (milliseconds: number) => {
      w.clock.jump(milliseconds)
      await w.backups.maintain()
      const { items } = await w.backups.list(FIRST_PAGE)
      for (const { id } of items) await w.ended(id)
      return items.length
    }
    assert.equal(await pass(0), 1)
    assert.equal(await pass(HOUR - MINUTE), 1)
    assert.equal(await pass(MINUTE), 2)
    assert.equal(await pass(HOUR), 3)
    // The completed ones are counted before the next one is made.
    assert.equal(await pass(MINUTE), 2)
    assert.equal((await w.backups.list(FIRST_PAGE)).items[0]?.requestedBy, 'worker')
    assert.equal(w.files().length, 2)
  })

  test('the worker records a backup for which there is no space, and tries again half an hour later', async () => {
    let databaseBytes = Number.MAX_SAFE_INTEGER
    await using w = await backupWorld(dialect, (store) => ({
      ...withSteps(() => ({ databaseBytes: async () => databaseBytes }))(store),
      everyMs: DAY,
    }))
    await w.backups.maintain()
    await w.backups.maintain()
    const { items } = await w.backups.list(FIRST_PAGE)
    assert.deepEqual(
      items.map(({ status, requestedBy }) => [status, requestedBy]),
      [['failed', 'worker']],
    )
    assert.match(items[0]?.error ?? '', /^A backup needs \d+ bytes in .*, and \d+ are free/)
    assert.deepEqual(w.alertLines(), [FAILED])
    databaseBytes = 1
    w.clock.jump(30 * MINUTE)
    await w.backups.maintain()
    const newest = (await w.backups.list(FIRST_PAGE)).items[0]?.id ?? ''
    assert.equal((await w.ended(newest)).status, 'completed')
    assert.deepEqual(w.alertLines(), [FAILED, RECOVERED])
  })

  test('without a usable directory a backup is refused, and one of the worker has failed', async () => {
    await using w = await backupWorld(dialect, () => ({ everyMs: DAY }))
    writeFileSync(w.directory, 'no directory')
    await assert.rejects(w.backups.requireSpace(), {
      code: 'backup_directory_unavailable',
      kind: 'unavailable',
    })
    await w.backups.maintain()
    const { items } = await w.backups.list(FIRST_PAGE)
    assert.deepEqual(
      items.map(({ status }) => status),
      ['failed'],
    )
    assert.match(items[0]?.error ?? '', /^The directory of the backups, .*, cannot be used: EEXIST/)
    assert.deepEqual(w.alertLines(), [FAILED])
  })

  test('failed backups are deleted after 90 days, as by an operator', async () => {
    await using w = await backupWorld(
      dialect,
      withSteps(() => ({ write: full })),
    )
    const { id } = await w.make()
    w.clock.jump(90 * DAY - MINUTE)
    await w.backups.maintain()
    assert.equal((await w.backups.list(FIRST_PAGE)).items.length, 1)
    assert.deepEqual(w.alertLines(), [FAILED])
    w.clock.jump(2 * MINUTE)
    await w.backups.maintain()
    assert.equal((await w.backups.list(FIRST_PAGE)).items.length, 0)
    assert.equal(w.eventLines().at(-1), `data.backup.deleted ${id}`)
    assert.deepEqual(w.alertLines(), [FAILED, RECOVERED])
  })

  test('a file that was changed or removed is not sent', async () => {
    await using w = await backupWorld(dialect)
    const { id } = await w.make()
    const { path } = await w.backups.file(id)
    appendFileSync(path, 'x')
    await assert.rejects(w.backups.file(id), { code: 'backup_file_not_found' })
    rmSync(path)
    await assert.rejects(w.backups.file(id), { code: 'backup_file_not_found' })
  })

  test('a command can wait for the end of its backup', async () => {
    await using w = await backupWorld(dialect)
    const { status, requestedBy } = await w.backups.backUp({ note: 'by a command' }, 'ada')
    assert.deepEqual([status, requestedBy], ['completed', 'ada'])
  })
})
