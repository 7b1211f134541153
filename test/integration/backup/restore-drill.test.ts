import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { DRILL_CHECKS, type DrillReport } from '../../../programs/backup/restore/drill-report.ts'
import { drillWorld } from '../../support/drill-world.ts'
import { driveWorld } from '../../support/drive-world.ts'
import { driveScenarios } from '../../support/mock-drive.ts'
import { onEveryDialect, testStore } from '../../support/store.ts'

function assertPassed({ passed, checks }: DrillReport): void {
  assert.deepEqual(
    checks.filter(({ ok }) => !ok),
    [],
  )
  assert.deepEqual([passed, checks.map(({ name }) => name)], [true, DRILL_CHECKS])
}

const at = (endpoint: string, scenario: string, options: object = {}) => ({ endpoint, scenario, ...options })

describe('a restore drill over the protocol of the drive', () => {
  test('goes on where a download was cut, with a new URL and a new token', async () => {
    await using d = await driveWorld(
      driveScenarios(
        at('download', 'cut', { after_bytes: 300 }),
        at('download', 'cut', { after_bytes: 1_000 }),
        at('download', 'cut', { after_bytes: 2_000 }),
        at('download', 'expired_url'),
        at('getDownloadUrl', 'rate_limited'),
        at('list', 'expired_token'),
        at('download', 'server_error'),
      ),
    )
    using w = drillWorld({ drive: d.open() })
    await w.publish(readFileSync((await w.pack()).file))
    const before = hash('sha256', readFileSync(w.live))
    assertPassed(await w.restore())
    assertPassed(await w.restore())
    assert.equal(hash('sha256', readFileSync(w.live)), before)
  })

  test('that the drive ends reports why, and leaves its ticket open', async () => {
    const cuts = Array.from({ length: 9 }, () => at('download', 'cut', { after_bytes: 0 }))
    await using d = await driveWorld()
    using w = drillWorld({ drive: d.open() })
    await w.publish(readFileSync((await w.pack()).file))
    await d.mock.close(0)
    await assert.rejects(w.restore(), { errorCode: 'drive_unreachable' })
    await using other = await driveWorld(driveScenarios(at('download', 'delay', { delay_ms: 1 }), ...cuts))
    using v = drillWorld({ drive: other.open() })
    await v.publish(readFileSync((await v.pack()).file))
    const report = await v.restore()
    assert.deepEqual([report.passed, report.checks.map(({ name }) => name)], [false, ['archive-hash']])
    assert.match(report.checks[0]?.detail ?? '', /^download: /)
    assert.match(v.tickets.at(-1) ?? '', /^fail: /)
  })
})

onEveryDialect('a restore drill of the platform', (dialect) => {
  test('passes for a backup that was made while orders were taken; a dump names the check that it does not allow', async () => {
    await using platform = await testStore(dialect)
    using w = drillWorld()
    let [leases, isDone] = [0, false]
    const put = () =>
      platform.store.write((tx) =>
        tx.db
          .insertInto('leases')
          .values({ name: String(leases++), holder: 'me', expires_at: 1 })
          .execute(),
      )
    await put()
    const packing = w.pack({ database: platform.address }).finally(() => (isDone = true))
    while (!isDone) await put()
    await w.publish(readFileSync((await packing).file))
    const report = await w.restore()
    assertPassed(report)
    const references = report.checks.find(({ name }) => name === 'foreign-keys')
    assert.equal(/not possible/.test(references?.detail ?? ''), dialect === 'postgres')
    assert.match(
      w.report('md'),
      dialect === 'postgres' ? /`foreign-keys` \| ok \| not possible/ : /every reference/,
    )
  })
})

test('a restore drill passes for a database with an older schema, and changes neither it nor the live one', async () => {
  await using platform = await testStore('sqlite')
  using w = drillWorld()
  const { address } = platform
  assert.ok(address.kind === 'sqlite')
  {
    using database = new DatabaseSync(address.path)
    database.exec("delete from schema_migrations where name > '0005'; drop table data_backups")
  }
  const { file, manifest } = await w.pack({ database: address })
  assert.match(manifest.schema_version, /^0004-/)
  const before = statSync(address.path).mtimeMs
  await w.publish(readFileSync(file))
  const report = await w.restore()
  assertPassed(report)
  assert.match(w.report('md'), /\| Schema \| 0004-/)
  assert.equal(statSync(address.path).mtimeMs, before)
  assert.deepEqual(readdirSync(w.backupsDirectory).length, 2)
})
