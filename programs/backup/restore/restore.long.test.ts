import assert from 'node:assert/strict'
import { hash, randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, it } from 'node:test'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { BACKUP_ID, drillWorld, type DrillWorld } from '../../../test/support/drill-world.ts'
import { takeProcessLock } from '../../files/process-lock.ts'
import { DRILL_CHECKS, type DrillReport } from './drill-report.ts'

async function worldWithBackup(): Promise<DrillWorld> {
  const w = drillWorld()
  const { file } = await w.pack()
  await w.publish(readFileSync(file))
  return w
}

function assertPassed(report: DrillReport): void {
  assert.deepEqual(
    report.checks.filter(({ ok }) => !ok),
    [],
  )
  assert.deepEqual([report.passed, report.checks.map(({ name }) => name)], [true, DRILL_CHECKS])
}

const failureOf = ({ passed, checks }: DrillReport) => [passed, checks.at(-1)?.name, checks.at(-1)?.detail]

describe('a restore drill', () => {
  it('passes every check in order, and writes its report, ticket and heartbeat', async () => {
    using w = await worldWithBackup()
    const before = hash('sha256', readFileSync(w.live))
    const report = await w.restore()
    assertPassed(report)
    assert.equal(report.rpo_seconds, 86_400)
    assert.deepEqual(JSON.parse(w.report('json')), report)
    assert.deepEqual(Object.keys(report), ['backup_id', 'passed', 'checks', 'rto_seconds', 'rpo_seconds'])
    assert.deepEqual(w.tickets, [
      `open ${BACKUP_ID}`,
      `pass: backup ${BACKUP_ID}: all 11 checks passed, RTO 0 s, RPO 1 d; report restore-drill-${BACKUP_ID}.md`,
      'beat',
    ])
    const names = ['json', 'md'].map((extension) => `restore-drill-${BACKUP_ID}.${extension}`)
    assert.deepEqual(readdirSync(w.backupsDirectory).toSorted(), names)
    assert.equal(hash('sha256', readFileSync(w.live)), before)
  })

  it('writes a report that a person can read', async () => {
    using w = await worldWithBackup()
    await w.restore()
    const text = w.report('md')
    assert.match(text, new RegExp(`^# Restore drill ${BACKUP_ID}: passed\n\nThe backup was downloaded`))
    assert.match(text, /\| Age of the data \(RPO\) \| 1 d \|/)
    assert.match(text, /\| `row-counts` \| ok \| 3 tables with 304 rows \|/)
    assert.match(text, /\| `orders` \| 300 \|/)
    assert.match(text, /\| `logs-readable` \| ok \| 1 file, 7 kB, 1,000 lines \|/)
  })

  it('restores the files of the certificates, and says when one lacks its own', async () => {
    using w = drillWorld()
    {
      using database = new DatabaseSync(w.live)
      database.exec('create table certificates (id text); insert into certificates values (1), (2)')
    }
    const name = `certs/${'0a'.repeat(32)}.pem`
    mkdirSync(join(w.directory, 'certs'))
    writeFileSync(join(w.directory, name), 'PEM')
    await w.publish(readFileSync((await w.pack()).file))
    const into = join(w.directory, 'restored')
    const { checks } = await w.restore({ into })
    assert.equal(readFileSync(join(into, name), 'utf8'), 'PEM')
    const { detail } = checks.find((check) => check.name === 'files') ?? {}
    assert.match(detail ?? '', /; only 1 of 2 certificates have their files$/)
  })

  it('says what the package lacks since it was made', async () => {
    using w = drillWorld()
    symlinkSync('nowhere', join(w.directory, 'logs/link'))
    await w.publish(readFileSync((await w.pack()).file))
    assert.match(
      (await w.restore()).checks.at(-1)?.detail ?? '',
      /^1 file, 7 kB, 1,000 lines; not in the package: 1: \S+\/logs\/link \(it is a link that leads nowhere\)$/,
    )
  })

  it('takes the newest backup of all months without an id', async () => {
    using w = await worldWithBackup()
    const older = '20251101-020000'
    await w.publish(Buffer.from('older'), {
      backup_id: older,
      file: `backup-${older}.tar.zst`,
      created_at: '2025-11-01T02:00:00Z',
    })
    const report = await w.restore({ backupId: undefined })
    assert.equal(report.backup_id, BACKUP_ID)
  })

  it('passes over a backup that was made while the clock was ahead', async () => {
    using w = await worldWithBackup()
    const ahead = '20260203-020000'
    await w.publish(Buffer.from('ahead'), {
      backup_id: ahead,
      file: `backup-${ahead}.tar.zst`,
      created_at: '2026-02-03T02:00:00Z',
    })
    const told: string[] = []
    const report = await w.restore({ backupId: undefined }, { progress: (text) => void told.push(text) })
    assert.equal(report.backup_id, BACKUP_ID)
    assert.ok(
      told.some((text) => text.includes(`${ahead} is of the future`)),
      told.join('\n'),
    )
  })

  it('keeps the files in a named directory', async () => {
    using w = await worldWithBackup()
    const into = join(w.directory, 'new', 'restored')
    assertPassed(await w.restore({ into }))
    assert.deepEqual(readdirSync(into).toSorted(), ['MANIFEST.json', 'database', 'logs'])
    using database = new DatabaseSync(join(into, 'database/platform.db'), { readOnly: true })
    assert.deepEqual({ ...database.prepare('select count(*) as orders from orders').get() }, { orders: 300 })
  })

  it('refuses a named directory that is not empty, or no directory', async () => {
    using w = await worldWithBackup()
    const into = join(w.directory, 'full')
    mkdirSync(into)
    writeFileSync(join(into, 'mine'), 'mine')
    await assert.rejects(w.restore({ into }), {
      name: 'RestoreError',
      message: `The directory ${into} is not empty; name an empty or a new one.`,
    })
    await assert.rejects(w.restore({ into: join(into, 'mine') }), { name: 'RestoreError' })
    assert.deepEqual([readdirSync(into), w.tickets], [['mine'], []])
  })

  it('names the backups of the month when the id is unknown', async () => {
    using w = await worldWithBackup()
    await assert.rejects(w.restore({ backupId: '20260101-020000' }), {
      name: 'RestoreError',
      message: `The drive has no backup 20260101-020000; of that month there are ${BACKUP_ID}.`,
    })
    await assert.rejects(w.restore({ backupId: '20240101-020000' }), /there is none of that month/)
    using empty = drillWorld()
    await assert.rejects(empty.restore({ backupId: undefined }), /no backup of the last 24 months/)
  })

  it('says that an index is damaged, or names a file elsewhere', async () => {
    for (const backupId of [BACKUP_ID, undefined]) {
      using w = drillWorld()
      await w.publish(Buffer.from('x'), { file: '../evil' })
      await assert.rejects(w.restore({ backupId }), {
        message: /index servers\/main\/backup\/202601\/MANIFEST\.json on the drive is damaged/,
        isOfDrive: true,
      })
    }
  })

  it('finds an archive that no index names, and checks the hashes inside of it', async () => {
    for (const entry of [{ size: 'no index' }, { size: -1 }, { sha256: 'x' }, { created_at: 'today' }])
      for (const backupId of [BACKUP_ID, undefined]) {
        using w = drillWorld()
        await w.publish(readFileSync((await w.pack()).file), entry)
        const { passed, checks } = await w.restore({ backupId })
        assert.deepEqual([passed, checks[0]?.name], [true, 'archive-hash'])
        assert.match(checks[0]?.detail ?? '', /no index names the archive/)
      }
  })

  it('removes what a killed drill has left, and not what another one uses', async () => {
    using w = await worldWithBackup()
    // The number 1 belongs to a running process, which is no drill.
    const names = ['restore-99999999', 'restore-1', 'restore-2']
    for (const name of names) mkdirSync(join(w.backupsDirectory, name, 'files'), { recursive: true })
    writeFileSync(join(w.backupsDirectory, 'restore-1.lock'), `1 4711 ${randomUUID()}`)
    writeFileSync(join(w.backupsDirectory, 'restore-3.lock'), `3 4711 ${randomUUID()}`)
    const release = takeProcessLock(join(w.backupsDirectory, 'restore-2.lock'))
    assertPassed(await w.restore())
    const left = readdirSync(w.backupsDirectory).filter((name) => /^restore-\d/.test(name))
    assert.deepEqual(left.sort(), ['restore-2', 'restore-2.lock'])
    if (typeof release === 'function') release()
  })

  it('that is interrupted leaves neither files nor a report', async () => {
    using w = await worldWithBackup()
    const interrupt = new AbortController()
    const restoring = w.restore(
      {},
      {
        signal: interrupt.signal,
        onCheck: ({ name }) => name === 'database-opens' && interrupt.abort(),
      },
    )
    await assert.rejects(restoring, { name: 'AbortError' })
    assert.deepEqual(readdirSync(w.backupsDirectory), [])
  })
})

describe('a restore drill of a sealed package', () => {
  it('needs an identity that fits, and says which setting is missing before it downloads anything', async () => {
    using w = drillWorld()
    const identity = await generateX25519Identity()
    const { file } = await w.pack({ recipients: [await identityToRecipient(identity)] })
    await w.publish(readFileSync(file), { file: `backup-${BACKUP_ID}.tar.zst.age` })
    const [passed, check, detail] = failureOf(await w.restore())
    assert.deepEqual([passed, check], [false, 'decrypts'])
    assert.match(String(detail), /set backup\.encryption\.identity_file/)
    assert.ok(!w.progress.some((text) => text.startsWith('downloading')))
    const identityFile = join(w.directory, 'identity')
    assert.deepEqual(failureOf(await w.restore({}, { identityFile })).slice(0, 2), [false, 'decrypts'])
    writeFileSync(identityFile, `${await generateX25519Identity()}\n`, { mode: 0o600 })
    assert.deepEqual(failureOf(await w.restore({}, { identityFile })).slice(0, 2), [false, 'decrypts'])
    assert.match(
      w.report('md'),
      /^1\. .*the private key of .backup\.encryption\.recipients.*\n2\. .*lost, no backup/m,
    )
    writeFileSync(identityFile, `# mine\n${identity}\n`)
    assertPassed(await w.restore({}, { identityFile }))
    assert.ok(!w.report('md').includes(identity))
  })
})

describe('a restore drill that fails', () => {
  it('reports the check, leaves the ticket open and does not beat', async () => {
    using w = await worldWithBackup()
    const sha256 = '0'.repeat(64)
    const { file } = await w.pack()
    await w.publish(readFileSync(file), { sha256 })
    const report = await w.restore()
    assert.deepEqual([report.passed, report.checks.length], [false, 1])
    assert.equal(report.checks[0]?.name, 'archive-hash')
    assert.deepEqual(JSON.parse(w.report('json')), report)
    assert.match(w.report('md'), /failed at archive-hash\n\n\*\*This backup could not be restored\.\*\*/)
    assert.match(w.report('md'), /Not made: `decrypts`, .*`logs-readable`\./)
    assert.deepEqual(
      w.tickets.map((line) => line.split(' ')[0]),
      ['open', 'fail:'],
    )
    assert.deepEqual(readdirSync(w.backupsDirectory).length, 2)
  })

  it('leaves the ticket open when the report cannot be written', async () => {
    using w = await worldWithBackup()
    mkdirSync(join(w.backupsDirectory, `restore-drill-${BACKUP_ID}.json.tmp`))
    await assert.rejects(w.restore(), { code: 'ERR_FS_EISDIR' })
    const [opened, failed = '', ...others] = w.tickets
    assert.deepEqual([opened, others], [`open ${BACKUP_ID}`, []])
    assert.match(failed, /^fail: .*all 11 checks passed.*; the report cannot be written: /)
  })

  it('when the archive is not on the drive, or larger than the free space', async () => {
    using w = await worldWithBackup()
    const name = `backup-20260131-030000.tar.zst`
    const { file } = await w.pack()
    await w.publish(readFileSync(file), { size: 2 ** 52 })
    assert.match(String(failureOf(await w.restore())[2]), /too little space in .*: the archive needs 4500 TB/)
    await w.publish(readFileSync(file), { file: name })
    const [folderId, archive] = await archiveOf(w, name)
    await w.drive.delete(archive)
    assert.ok(folderId)
    assert.match(String(failureOf(await w.restore())[2]), /is in the index, but not on the drive/)
  })
})

async function archiveOf({ drive }: DrillWorld, name: string): Promise<[folderId: string, fileId: string]> {
  const folderId = await drive.ensureFolder('servers/main/backup/202601')
  const file = (await drive.list(folderId)).find((each) => each.name === name)
  return [folderId, file?.fileId ?? '']
}
