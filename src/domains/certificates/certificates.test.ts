import assert from 'node:assert/strict'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { certificateWorld } from '../../../test/support/certificate-world.ts'
import { onEveryDialect } from '../../../test/support/store.ts'
import { DAY, HOUR, MINUTE } from '../../kernel/time.ts'
import type { CertificateFiles } from '../../ports/certificate-files.ts'
import { CERTIFICATE_STATUSES } from './model.ts'
import { SOONEST_END_FIRST } from './store.ts'

const FIRST_PAGE = { limit: 100 }

type World = Awaited<ReturnType<typeof certificateWorld>>

function pathOf({ directory }: World, { fingerprintSha256 }: { fingerprintSha256: string }): string {
  return join(directory, `${fingerprintSha256}.pem`)
}

onEveryDialect('certificates', (dialect) => {
  test('a registered certificate has its facts, its file for the owner only, and one event', async () => {
    await using w = await certificateWorld(dialect)
    const notAfter = w.clock.now() + 90 * DAY
    const certificate = await w.register({ notAfter, pem: 'the PEM\n' })
    const known = await w.certificates.get(certificate.id)
    assert.deepEqual({ ...known, ...certificate }, known)
    const { status, daysLeft, createdBy, createdAt, replacedBy, revokedAt } = certificate
    assert.deepEqual(
      [status, daysLeft, createdBy, createdAt, replacedBy, revokedAt],
      ['valid', 90, 'ada', w.clock.now(), null, null],
    )
    assert.equal(readFileSync(pathOf(w, certificate), 'utf8'), 'the PEM\n')
    assert.equal(statSync(pathOf(w, certificate)).mode & 0o777, 0o600)
    assert.equal(statSync(w.directory).mode & 0o777, 0o700)
    assert.deepEqual(readdirSync(w.directory).length, 1, 'no other file is left')
    assert.deepEqual(w.events, [{ type: 'certificate.registered', certificate, actor: 'ada' }])
    assert.equal((await w.certificates.readPem(certificate.id)).pem, 'the PEM\n')
  })

  test('the same fingerprint again is refused, and the file stays as it is', async () => {
    await using w = await certificateWorld(dialect)
    const certificate = await w.register({ notAfter: w.clock.now() + DAY })
    const { fingerprintSha256 } = certificate
    await assert.rejects(w.register({ notAfter: w.clock.now() + DAY, fingerprintSha256, pem: 'other' }), {
      code: 'certificate_exists',
      message: `A certificate with the fingerprint ${fingerprintSha256} is registered as "${certificate.name}".`,
    })
    assert.equal(readFileSync(pathOf(w, certificate), 'utf8'), `PEM of ${fingerprintSha256}\n`)
    assert.equal(w.events.length, 1)
  })

  test('of concurrent registrations of one certificate in two processes one succeeds, with its file', async () => {
    await using w = await certificateWorld(dialect)
    for (let round = 0; round < 5; round++) {
      const fingerprintSha256 = String(round).repeat(64)
      const attempts = await Promise.allSettled(
        ['a', 'a', 'b', 'b', 'a', 'b'].map((pem, index) =>
          (index % 2 === 0 ? w : w.another).register({
            notAfter: w.clock.now() + DAY,
            fingerprintSha256,
            pem,
          }),
        ),
      )
      const good = attempts.filter((attempt) => attempt.status === 'fulfilled')
      assert.equal(good.length, 1)
      for (const attempt of attempts)
        if (attempt.status === 'rejected')
          assert.ok(['certificate_exists', 'certificate_busy'].includes(attempt.reason.code), attempt.reason)
      assert.deepEqual((await w.inspect()).damagedFiles, 0)
    }
    assert.equal(readdirSync(w.directory).length, 5)
  })

  test('a revoked certificate has the reason; revoking it again changes nothing', async () => {
    await using w = await certificateWorld(dialect)
    const { id } = await w.register({ notAfter: w.clock.now() + 90 * DAY })
    w.clock.advance(HOUR)
    const revoked = await w.certificates.revoke(id, 'The key was lost.', 'bob')
    const { status, revokedAt, revokedBy, revokeReason } = revoked
    assert.deepEqual(
      [status, revokedAt, revokedBy, revokeReason],
      ['revoked', w.clock.now(), 'bob', 'The key was lost.'],
    )
    assert.deepEqual(w.events.at(-1), { type: 'certificate.revoked', certificate: revoked, actor: 'bob' })
    w.clock.advance(HOUR)
    assert.deepEqual(await w.certificates.revoke(id, 'Another reason.', 'eve'), revoked)
    assert.deepEqual(await w.certificates.get(id), revoked)
    assert.equal(w.events.length, 2)
  })

  test('a deleted certificate and its file are gone; it can be registered again', async () => {
    await using w = await certificateWorld(dialect)
    const wanted = { notAfter: w.clock.now() + 90 * DAY, fingerprintSha256: 'a'.repeat(64) }
    const certificate = await w.register(wanted)
    await w.certificates.remove(certificate.id, 'ada')
    await w.certificates.waitForRemovals()
    assert.equal(existsSync(pathOf(w, certificate)), false)
    await assert.rejects(w.certificates.get(certificate.id), { code: 'certificate_not_found' })
    const { type, certificate: deleted, actor } = w.events.at(-1) ?? assert.fail()
    assert.deepEqual([type, deleted.id, actor], ['certificate.deleted', certificate.id, 'ada'])
    const again = await w.register(wanted)
    assert.notEqual(again.id, certificate.id)
    assert.equal(existsSync(pathOf(w, again)), true)
  })

  test('an unknown certificate is refused everywhere', async () => {
    await using w = await certificateWorld(dialect)
    const unknown = { code: 'certificate_not_found' }
    await assert.rejects(w.certificates.get('nowhere'), unknown)
    await assert.rejects(w.certificates.readPem('nowhere'), unknown)
    await assert.rejects(w.certificates.revoke('nowhere', null, 'ada'), unknown)
    await assert.rejects(w.certificates.remove('nowhere', 'ada'), unknown)
  })

  test('the list is filtered by each status as the certificate shows it, by its end, and by its registration', async () => {
    await using w = await certificateWorld(dialect)
    const now = w.clock.now()
    const ends: readonly (readonly [days: number, subject: string, notBefore?: number])[] = [
      [400, 'valid'],
      [30, 'expiring'],
      [-1, 'expired'],
      [60, 'not_yet_valid', now + DAY],
      [500, 'revoked'],
      [20, 'replaced'],
    ]
    for (const [days, subject, notBefore] of ends)
      await w.register({
        names: [`${subject}.example.com`],
        subject: `CN=${subject}`,
        notAfter: now + days * DAY,
        ...(notBefore !== undefined && { notBefore }),
      })
    const all = await w.certificates.list({}, FIRST_PAGE)
    const revoked = all.items.find(({ subject }) => subject === 'CN=revoked') ?? assert.fail()
    await w.certificates.revoke(revoked.id, null, 'ada')
    w.clock.advance(HOUR)
    await w.register({ names: ['replaced.example.com'], subject: 'CN=valid', notAfter: now + 300 * DAY })
    for (const status of CERTIFICATE_STATUSES) {
      const { items } = await w.certificates.list({ status }, FIRST_PAGE)
      assert.deepEqual(
        [...new Set(items.map((each) => [each.subject, each.status].join()))],
        [`CN=${status},${status}`],
      )
    }
    const subjects = async (...args: Parameters<typeof w.certificates.list>) =>
      (await w.certificates.list(...args)).items.map(({ subject }) => subject)
    assert.deepEqual(await subjects({ expiresBefore: now + 30 * DAY }, FIRST_PAGE), [
      'CN=replaced',
      'CN=expired',
    ])
    assert.deepEqual(await subjects({}, { ...FIRST_PAGE, createdFrom: now + 1 }), ['CN=valid'])
    const counts = new Map(
      (await w.certificates.countByStatus()).map((each) => [each.status, each.certificates]),
    )
    assert.deepEqual(
      CERTIFICATE_STATUSES.map((status) => counts.get(status)),
      [2, 1, 1, 1, 1, 1],
    )
  })

  test('by their end, the pages neither skip nor repeat a certificate, even if several end at the same time', async () => {
    await using w = await certificateWorld(dialect)
    const now = w.clock.now()
    for (const days of [5, 3, 3, 9, 3, 1])
      await w.register({ names: [`n${days}.example.com`], notAfter: now + days * DAY, subject: `CN=${days}` })
    const order = SOONEST_END_FIRST
    const first = await w.certificates.list({}, { limit: 3, order })
    await w.register({ notAfter: now + 2 * DAY })
    const second = await w.certificates.list({}, { limit: 10, order, after: first.next })
    const ends = [...first.items, ...second.items].map(({ daysLeft }) => daysLeft)
    assert.deepEqual(ends, [1, 3, 3, 3, 5, 9])
    const ids = new Set([...first.items, ...second.items].map(({ id }) => id))
    assert.equal(ids.size, 6)
  })
})

onEveryDialect('files of certificates', (dialect) => {
  test('a missing, altered or unreadable file raises an alert once, which recovers when the file is back', async () => {
    await using w = await certificateWorld(dialect)
    const certificate = await w.register({ notAfter: w.clock.now() + 90 * DAY })
    const path = pathOf(w, certificate)
    const content = readFileSync(path, 'utf8')
    const damages: readonly (() => void)[] = [() => rmSync(path), () => writeFileSync(path, `${content} `)]
    for (const [round, damage] of damages.entries()) {
      damage()
      assert.equal((await w.inspect()).damagedFiles, 1)
      assert.equal((await w.inspect()).damagedFiles, 1)
      assert.equal(w.alerts.length, 2 * round + 1)
      await assert.rejects(w.certificates.readPem(certificate.id), { code: 'certificate_file_unavailable' })
      writeFileSync(path, content)
      assert.equal((await w.inspect()).damagedFiles, 0)
    }
    assert.deepEqual(w.alertLines(), [
      'certificate.file ERROR',
      'certificate.file CLOSE',
      'certificate.file ERROR',
      'certificate.file CLOSE',
    ])
    assert.ok(w.alerts.every(({ alarmId }) => alarmId.endsWith(`:${certificate.fingerprintSha256}`)))
    assert.match(w.alerts[0]?.title ?? '', /is missing$/)
    assert.match(w.alerts[2]?.title ?? '', /was altered$/)
  })

  test('registering the same PEM again writes a damaged file anew and recovers its alert at once', async () => {
    await using w = await certificateWorld(dialect)
    const wanted = { notAfter: w.clock.now() + 90 * DAY, fingerprintSha256: 'f'.repeat(64) }
    const certificate = await w.register(wanted)
    await assert.rejects(w.another.register(wanted), { code: 'certificate_exists' })
    const path = pathOf(w, certificate)
    const content = readFileSync(path, 'utf8')
    for (const damage of [() => rmSync(path), () => writeFileSync(path, 'altered')]) {
      damage()
      await w.inspect()
      const otherChain = { ...wanted, pem: 'another chain' }
      await assert.rejects(w.another.register(otherChain), {
        code: 'certificate_exists',
        message: / Its file (is missing|was altered); send it with the chain/,
      })
      const { id, name } = await w.another.register(wanted, 'another name')
      assert.deepEqual([id, name], [certificate.id, 'shop'])
      assert.equal(readFileSync(path, 'utf8'), content)
      assert.equal((await w.inspect()).damagedFiles, 0)
    }
    assert.deepEqual(w.alertLines(), ['certificate.file ERROR', 'certificate.file ERROR'])
    assert.deepEqual(w.another.alertLines(), ['certificate.file CLOSE', 'certificate.file CLOSE'])
    assert.deepEqual(
      w.another.events.map(({ type }) => type),
      [],
    )
    await assert.rejects(w.register(wanted), { code: 'certificate_exists' })
  })

  test('a repair of a certificate that is deleted meanwhile is refused', async () => {
    await using w = await certificateWorld(dialect)
    const wanted = { notAfter: w.clock.now() + DAY, fingerprintSha256: 'f'.repeat(64) }
    const certificate = await w.register(wanted)
    rmSync(pathOf(w, certificate))
    const repair = await w.another.prepare(wanted)
    await w.certificates.remove(certificate.id, 'ada')
    await assert.rejects(w.another.certificates.register(repair, 'ada'), { code: 'certificate_busy' })
    await w.service.waitForRemovals()
    assert.equal((await w.register(wanted)).fingerprintSha256, wanted.fingerprintSha256)
  })

  test('deleting a certificate recovers the alert of its file', async () => {
    await using w = await certificateWorld(dialect)
    const certificate = await w.register({ notAfter: w.clock.now() + 90 * DAY })
    rmSync(pathOf(w, certificate))
    await w.inspect()
    await w.certificates.remove(certificate.id, 'ada')
    assert.deepEqual(w.alertLines(), ['certificate.file ERROR', 'certificate.file CLOSE'])
  })

  test('files without a certificate are removed; directories, hidden files and files in use stay', async () => {
    await using w = await certificateWorld(dialect)
    const certificate = await w.register({ notAfter: w.clock.now() + 90 * DAY })
    const { fingerprintSha256 } = certificate
    const orphans = [`${'0'.repeat(64)}.pem`, `${fingerprintSha256}.pem.5f00.tmp`, 'stray.pem']
    for (const name of [...orphans, '.keep']) writeFileSync(join(w.directory, name), 'x')
    mkdirSync(join(w.directory, 'backend'))
    const target = join(w.directory, '.keep')
    symlinkSync(target, join(w.directory, 'link.pem'))
    assert.equal((await w.inspect()).removedFiles, 4)
    assert.deepEqual(
      readdirSync(w.directory).toSorted(),
      ['.keep', 'backend', `${fingerprintSha256}.pem`].toSorted(),
    )
  })

  test('the file of a registration in progress is not removed, that of an interrupted one is, after a minute', async () => {
    await using w = await certificateWorld(dialect)
    const fingerprintSha256 = 'b'.repeat(64)
    await w.prepare({ notAfter: w.clock.now() + DAY, fingerprintSha256 })
    assert.equal((await w.another.inspect()).removedFiles, 0)
    assert.ok(existsSync(join(w.directory, `${fingerprintSha256}.pem`)))
    w.clock.advance(MINUTE)
    assert.equal((await w.another.inspect()).removedFiles, 1)
    assert.ok(!existsSync(join(w.directory, `${fingerprintSha256}.pem`)))
  })

  test('a registration whose preparation is older than a minute is refused, because its file may be gone', async () => {
    await using w = await certificateWorld(dialect)
    const registration = await w.prepare({ notAfter: w.clock.now() + DAY })
    w.clock.advance(MINUTE)
    await assert.rejects(w.certificates.register(registration, 'ada'), { code: 'certificate_busy' })
    assert.deepEqual((await w.certificates.list({}, FIRST_PAGE)).items, [])
  })

  test('a file that cannot be written registers nothing, and the next attempt succeeds', async () => {
    await using w = await certificateWorld(dialect)
    const broken: CertificateFiles = {
      write: () => Promise.reject(new Error('no space left on device')),
      read: (fingerprint) => w.files.read(fingerprint),
      list: () => w.files.list(),
      remove: (name) => w.files.remove(name),
      nameOf: (fingerprint) => w.files.nameOf(fingerprint),
    }
    const wanted = { notAfter: w.clock.now() + DAY, fingerprintSha256: 'd'.repeat(64) }
    await assert.rejects(w.withFiles(broken).register(wanted), { code: 'certificate_file_unavailable' })
    assert.deepEqual((await w.certificates.list({}, FIRST_PAGE)).items, [])
    assert.equal((await w.register(wanted)).fingerprintSha256, wanted.fingerprintSha256)
  })

  test('a file that cannot be removed is left to the next inspection', async () => {
    await using w = await certificateWorld(dialect)
    const certificate = await w.register({ notAfter: w.clock.now() + DAY })
    const stuck: CertificateFiles = {
      write: (fingerprint, pem) => w.files.write(fingerprint, pem),
      read: (fingerprint) => w.files.read(fingerprint),
      list: () => w.files.list(),
      remove: () => Promise.reject(new Error('the file system is read-only')),
      nameOf: (fingerprint) => w.files.nameOf(fingerprint),
    }
    const { certificates } = w.withFiles(stuck)
    await certificates.remove(certificate.id, 'ada')
    await certificates.waitForRemovals()
    assert.ok(existsSync(pathOf(w, certificate)))
    w.clock.advance(MINUTE)
    assert.equal((await w.inspect()).removedFiles, 1)
  })
})
