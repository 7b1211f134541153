import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { hash, randomBytes } from 'node:crypto'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { zstdCompressSync, gzipSync } from 'node:zlib'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { readAll } from '../../../test/support/drive-world.ts'
import { DESCRIBED, temporaryPackageWorld, textFile } from '../../../test/support/package-world.ts'
import { zstdFrames } from './compression.ts'
import { decompressChunks } from './decompression.ts'
import { copyLogs } from './log-copies.ts'
import { PackageError } from './read-package.ts'
import { tarArchive, packageName } from './write-package.ts'

const LONG = `${'directory/'.repeat(20)}${'ü'.repeat(80)}.log`
const hasZstd = existsSync('/usr/bin/zstd')

describe('a package', () => {
  for (const compression of ['zstd', 'gzip'] as const) {
    for (const isSealed of [false, true]) {
      it(`with ${compression}${isSealed ? ', sealed,' : ''} is read back as it was written`, async () => {
        using w = temporaryPackageWorld()
        w.log('api/access.log', 'line\n'.repeat(1_000))
        w.log(LONG, 'long')
        w.log('empty.log', '')
        writeFileSync(join(w.directory, 'journal'), 'journal')
        const identities = [await generateX25519Identity(), await generateX25519Identity()]
        const recipients = isSealed
          ? await Promise.all(identities.map((each) => identityToRecipient(each)))
          : []
        const written = await w.write({
          compression,
          recipients,
          journal: { file: join(w.directory, 'journal') },
        })
        const name = packageName({ name: 'backup-20260131-020000', compression, recipients })
        assert.match(name, compression === 'zstd' ? /\.tar\.zst(\.age)?$/ : /\.tar\.gz(\.age)?$/)
        assert.deepEqual([written.file, name.endsWith('.age')], [join(w.staging, name), isSealed])
        const bytes = readFileSync(written.file)
        assert.deepEqual(
          [written.size, written.sha256, written.sha1],
          [bytes.length, hash('sha256', bytes), hash('sha1', bytes).toUpperCase()],
        )
        assert.equal(statSync(written.file).mode & 0o777, 0o600)
        for (const identity of isSealed ? identities : [undefined]) {
          const { into, manifest } = await w.unpack(written.file, identity === undefined ? [] : [identity])
          assert.deepEqual(manifest, written.manifest)
          assert.deepEqual(readFileSync(join(into, 'database/platform.db')), w.database)
          assert.equal(readFileSync(join(into, 'logs', LONG), 'utf8'), 'long')
          assert.equal(readFileSync(join(into, 'journal.export'), 'utf8'), 'journal')
          assert.equal(readFileSync(join(into, 'logs/empty.log'), 'utf8'), '')
        }
        assert.deepEqual(readdirSync(w.staging), [written.file.slice(w.staging.length + 1)])
      })
    }
  }

  it(
    'has the manifest first, then the database, the certificates, the logs and the journal, for the usual commands',
    { skip: !hasZstd },
    async () => {
      using w = temporaryPackageWorld()
      w.log('a.log', 'a')
      w.log('b/c.log', 'c')
      const certificates = join(w.directory, 'certs')
      const certificate = `${'0a'.repeat(32)}.pem`
      mkdirSync(join(certificates, 'backend'), { recursive: true })
      for (const name of [certificate, `${certificate}.5f.tmp`, '.keep', 'backend/drive-token.json'])
        writeFileSync(join(certificates, name), name)
      writeFileSync(join(w.directory, 'journal'), 'journal')
      const { file, manifest } = await w.write({
        certificates,
        journal: { file: join(w.directory, 'journal') },
      })
      const names = execFileSync('tar', ['--zstd', '-tf', file], { encoding: 'utf8' }).trimEnd().split('\n')
      assert.deepEqual(names, ['MANIFEST.json', ...manifest.files.map(({ path }) => path)])
      assert.deepEqual(names.slice(1), [
        'database/platform.db',
        `certs/${certificate}`,
        'logs/a.log',
        'logs/b/c.log',
        'journal.export',
      ])
      const text = execFileSync('tar', ['--zstd', '-xOf', file, 'MANIFEST.json'], { encoding: 'utf8' })
      const first = manifest.files[0]
      assert.deepEqual(JSON.parse(text), {
        format: 1,
        ...DESCRIBED,
        size: first?.size,
        sha256: first?.sha256,
        files: manifest.files,
      })
      assert.equal(first?.sha256, hash('sha256', w.database))
      execFileSync('zstd', ['-qt', file])
    },
  )

  it('of many zstd frames is one content, also with skippable frames between them', async () => {
    const content = Buffer.concat([randomBytes(5_000_000), Buffer.alloc(9_000_000, 'abc')])
    async function* whole() {
      yield content
    }
    const frames = await readAll(zstdFrames(whole()))
    const skippable = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3])
    async function* inPieces() {
      const bytes = Buffer.concat([skippable, frames, skippable])
      for (let at = 0; at < bytes.length; at += 70_001) yield bytes.subarray(at, at + 70_001)
    }
    assert.ok((await readAll(decompressChunks(inPieces()))).equals(content))
  })

  it('takes a known hash of the database without reading it once more', async () => {
    using w = temporaryPackageWorld()
    const database = {
      path: 'database/platform.db',
      file: join(w.directory, 'platform.db'),
      sha256: 'f'.repeat(64),
    } as const
    const { manifest, file } = await w.write({ database })
    assert.equal(manifest.sha256, 'f'.repeat(64))
    await assert.rejects(w.unpack(file), { check: 'files' })
  })

  it('is archive_failed when the database is missing or the target exists, and when it is interrupted', async () => {
    using w = temporaryPackageWorld()
    const database = { path: 'database/platform.db', file: join(w.directory, 'none') } as const
    await assert.rejects(w.write({ database }), { errorCode: 'archive_failed' })
    await assert.rejects(w.write({ signal: AbortSignal.abort() }), { errorCode: 'archive_failed' })
    assert.deepEqual(readdirSync(w.staging), [])
  })

  it('is written for valid age recipients only', async () => {
    using w = temporaryPackageWorld()
    await assert.rejects(w.write({ recipients: ['age1nonsense'] }), { errorCode: 'archive_failed' })
  })

  it('has no file of a log that is gone, a link, a pipe or a directory without permission', async () => {
    using w = temporaryPackageWorld()
    w.log('a.log', 'a')
    symlinkSync('/etc/passwd', join(w.logs, 'link.log'))
    symlinkSync('/etc', join(w.logs, 'linked'))
    execFileSync('mkfifo', [join(w.logs, 'pipe')])
    symlinkSync(join(w.logs, 'a.log'), join(w.logs, 'current'))
    symlinkSync('nothing', join(w.logs, 'dangling'))
    const roots = ['none', 'optional'].map((name) => join(w.directory, name))
    const { manifest, skippedLogs } = await w.write({
      logs: [w.logs, ...roots],
      optionalLogs: [`${w.directory}/optional/`],
    })
    assert.deepEqual(
      manifest.files.map(({ path }) => path),
      ['database/platform.db', 'logs/logs/a.log'],
    )
    assert.deepEqual(
      skippedLogs.map(({ path, reason }) => [path.slice(w.directory.length + 1), reason]),
      [
        ['logs/dangling', 'it is a link that leads nowhere'],
        ['logs/link.log', 'it is a link to another place'],
        ['logs/linked', 'it is a link to another place'],
        ['logs/pipe', 'it is a socket, a pipe or a device'],
        ['none', 'no such file or directory'],
        ['optional', 'no such file or directory'],
      ],
    )
    assert.deepEqual([manifest.left_out?.count, manifest.left_out?.files.length], [6, 5])
    assert.deepEqual(manifest.left_out?.missing_roots, [roots[0]])
  })
})

describe('a log', () => {
  it('whose copy cannot be made is not left out: the package has failed', async () => {
    using w = temporaryPackageWorld()
    w.log('sub/a.log', 'a')
    const copies = join(w.directory, 'copies')
    mkdirSync(copies)
    writeFileSync(join(copies, 'logs'), 'in the way')
    await assert.rejects(copyLogs({ logs: [w.logs], optionalLogs: [] }, copies), { name: 'CopyError' })
  })

  it('is packed as it was first read, whatever happens to it afterwards', async () => {
    using w = temporaryPackageWorld()
    for (const name of ['grows', 'shrinks', 'goes', 'rotates', 'changes']) w.log(name, name.repeat(50_000))
    const copies = join(w.directory, 'copies')
    const { copies: logs } = await copyLogs({ logs: [w.logs], optionalLogs: [] }, copies)
    appendFileSync(join(w.logs, 'grows'), 'more')
    truncateSync(join(w.logs, 'shrinks'), 3)
    rmSync(join(w.logs, 'goes'))
    renameSync(join(w.logs, 'rotates'), join(w.logs, 'rotates.1'))
    writeFileSync(join(w.logs, 'changes'), 'x'.repeat(350_000))
    for (const { path, size, sha256, file } of logs) {
      const name = path.slice('logs/'.length)
      assert.deepEqual([size, sha256], [name.length * 50_000, hash('sha256', name.repeat(50_000))])
      assert.equal(hash('sha256', readFileSync(file)), sha256)
    }
  })

  it('that is written all the time is packed up to one moment', async () => {
    using w = temporaryPackageWorld()
    const path = join(w.logs, 'busy.log')
    writeFileSync(path, '')
    let isDone = false
    const writer = (async () => {
      for (let line = 0; !isDone; line++) {
        appendFileSync(path, `${line}\n`.repeat(100))
        if (line % 500 === 499) truncateSync(path)
        await new Promise(setImmediate)
      }
    })()
    for (let round = 0; round < 2; round++) {
      const { file } = await w.write({ name: `backup-${round}` })
      await w.unpack(file)
    }
    isDone = true
    await writer
  })

  it('of two roots of the same name keeps a place of its own', async () => {
    using w = temporaryPackageWorld()
    w.log('a.log', 'a')
    mkdirSync(join(w.directory, 'other/logs'), { recursive: true })
    writeFileSync(join(w.directory, 'other/logs/a.log'), 'b')
    const { manifest } = await w.write({ logs: [`${w.logs}/`, join(w.directory, 'other/logs')] })
    assert.deepEqual(
      manifest.files.slice(1).map(({ path }) => path),
      ['logs/logs/a.log', 'logs/logs-2/a.log'],
    )
  })
})

describe('a damaged or hostile package', () => {
  it('fails when it is cut anywhere', async () => {
    using w = temporaryPackageWorld()
    const { file } = await w.write()
    const { size } = statSync(file)
    for (const length of [0, 3, 10, 1_000, size - 1, size - 100, Math.floor(size / 2)]) {
      truncateSync(file, Math.min(length, statSync(file).size))
      await assert.rejects(w.unpack(file), PackageError)
    }
  })

  it('that is sealed needs an identity that fits', async () => {
    using w = temporaryPackageWorld()
    const { file } = await w.write({
      recipients: [await identityToRecipient(await generateX25519Identity())],
    })
    await assert.rejects(w.unpack(file, []), { check: 'decrypts' })
    await assert.rejects(w.unpack(file, [await generateX25519Identity()]), { check: 'decrypts' })
    await assert.rejects(
      w.unpack(file, ['AGE-SECRET-KEY-1canary']),
      (error: Error) => !error.message.includes('canary'),
    )
  })

  for (const path of [
    '../evil',
    '/tmp/evil',
    'logs/../../evil',
    'logs//evil',
    './evil',
    'a\\..\\evil',
    'MANIFEST.json',
  ]) {
    it(`with the path ${path} is refused before anything is written`, async () => {
      using w = temporaryPackageWorld()
      const file = await w.forge([[path, 'evil']])
      await assert.rejects(w.unpack(file), { check: 'manifest' })
      assert.deepEqual(
        readdirSync(
          join(w.directory, readdirSync(w.directory).find((name) => name.startsWith('unpacked')) ?? ''),
        ),
        [],
      )
    })
  }

  for (const [what, manifest, check] of [
    ['another size', { files: [{ path: 'logs/a', size: 5, sha256: hash('sha256', 'evil') }] }, 'files'],
    ['another hash', { files: [{ path: 'logs/a', size: 4, sha256: '0'.repeat(64) }] }, 'files'],
    ['no such file', { files: [] }, 'files'],
    [
      'a file more',
      { files: ['logs/a', 'logs/b'].map((path) => ({ path, size: 4, sha256: hash('sha256', 'evil') })) },
      'files',
    ],
    ['another format', { format: 2 }, 'manifest'],
    ['no list of files', { files: {} }, 'manifest'],
    ['a negative size', { files: [{ path: 'logs/a', size: -1, sha256: '0'.repeat(64) }] }, 'manifest'],
  ] as const) {
    it(`whose manifest names ${what} fails the check ${check}`, async () => {
      using w = temporaryPackageWorld()
      await assert.rejects(w.unpack(await w.forge([['logs/a', 'evil']], manifest)), { check })
    })
  }

  it('with a file twice is refused', async () => {
    using w = temporaryPackageWorld()
    const file = await w.forge([
      ['logs/a', 'evil'],
      ['logs/a', 'evil'],
    ])
    await assert.rejects(w.unpack(file), { check: 'files' })
  })

  it('without a manifest at the start is refused', async () => {
    using w = temporaryPackageWorld()
    const file = join(w.directory, 'x.tar.gz')
    writeFileSync(file, gzipSync(await readAll(tarArchive([textFile('logs/a', 'a')]))))
    await assert.rejects(w.unpack(file), { check: 'manifest' })
  })

  for (const kind of ['symlink', 'hard link', 'pipe'] as const) {
    it(`with a ${kind} is refused`, async () => {
      using w = temporaryPackageWorld()
      const tree = join(w.directory, 'tree')
      mkdirSync(tree)
      const forged = await w.forge([['evil', '']])
      const into = join(w.directory, 'whole')
      mkdirSync(into)
      execFileSync('tar', ['--zstd', '-xf', forged, '-C', into])
      renameSync(join(into, 'MANIFEST.json'), join(tree, 'MANIFEST.json'))
      if (kind === 'symlink') symlinkSync('/etc', join(tree, 'evil'))
      else if (kind === 'pipe') execFileSync('mkfifo', [join(tree, 'evil')])
      else execFileSync('ln', [join(tree, 'MANIFEST.json'), join(tree, 'evil')])
      const file = join(w.directory, 'linked.tar.gz')
      execFileSync('tar', ['-czf', file, '-C', tree, 'MANIFEST.json', 'evil'])
      await assert.rejects(w.unpack(file), { check: 'unpacks' })
    })
  }

  it('that grows beyond its manifest is refused', async () => {
    using w = temporaryPackageWorld()
    const bomb = zstdCompressSync(Buffer.alloc(200 * 1_024 ** 2))
    const file = join(w.directory, 'bomb.tar.zst')
    writeFileSync(file, Buffer.concat([readFileSync(await w.forge([['logs/a', 'a']])), bomb]))
    await assert.rejects(w.unpack(file), { check: 'unpacks' })
  })

  it('that the usual commands have made is read', { skip: !hasZstd }, async () => {
    using w = temporaryPackageWorld()
    const tree = join(w.directory, 'tree')
    mkdirSync(tree)
    const forged = await w.forge([['logs/a', 'a'.repeat(3_000_000)]])
    execFileSync('tar', ['--zstd', '-xf', forged, '-C', tree])
    const file = join(w.directory, 'usual.tar.zst')
    execFileSync('tar', ['--zstd', '-cf', file, '-C', tree, 'MANIFEST.json', 'logs'])
    const { into } = await w.unpack(file)
    assert.equal(statSync(join(into, 'logs/a')).size, 3_000_000)
  })
})
