import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { Header, type HeaderData } from 'tar/header'
import { Pax } from 'tar/pax'
import { BACKUP_ID, drillWorld } from '../../../test/support/drill-world.ts'
import { encodeManifest, type PackageManifest } from '../package/manifest.ts'
import type { DrillCheckName } from './drill-report.ts'

const BLOCK_BYTES = 512
const GIGABYTE = 1_000_000_000
const EVIL = 'evil'

interface Entry extends HeaderData {
  readonly path: string
  readonly content?: string
}

/** The bytes of a tar archive with these headers, whatever they say. */
function forgedTar(entries: readonly Entry[]): Buffer {
  const blocks = entries.flatMap(({ content = '', ...data }) => {
    const header = new Header({
      mode: 0o600,
      uid: 0,
      gid: 0,
      mtime: new Date(0),
      type: 'File',
      ...data,
      size: data.size ?? content.length,
    })
    const isLong = header.encode()
    const body = Buffer.alloc(Math.ceil(content.length / BLOCK_BYTES) * BLOCK_BYTES)
    body.write(content)
    return [...(isLong ? [new Pax({ path: data.path }).encode()] : []), header.block ?? Buffer.alloc(0), body]
  })
  return Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK_BYTES)])
}

const DATABASE = { path: 'database/platform.db', content: 'a database' }

const described = ({ path, content = '', size = content.length }: Entry) => ({
  path,
  size,
  sha256: hash('sha256', content),
})

function manifestEntry(files: readonly Entry[], members: Partial<PackageManifest> = {}): Entry {
  const { size, sha256 } = described(DATABASE)
  const manifest: PackageManifest = {
    format: 1,
    backup_id: BACKUP_ID,
    created_at: '2026-01-31T02:00:00Z',
    source_path: '/',
    size,
    sha256,
    servers: [],
    schema_version: '',
    tables: {},
    files: [DATABASE, ...files].map(described),
    ...members,
  }
  return { path: 'MANIFEST.json', content: encodeManifest(manifest) }
}

/** A package whose manifest names every entry. */
const packageOf = (...entries: readonly Entry[]) => forgedTar([manifestEntry(entries), DATABASE, ...entries])
/** A package whose manifest names its database only. */
const undeclared = (...entries: readonly Entry[]) => forgedTar([manifestEntry([]), DATABASE, ...entries])

/** A zstd frame of zeros, 1 GB of which take 30 kB: blocks of one repeated byte (RFC 8878, section 3.1.1.2). */
function zeros(bytes: number): Buffer {
  const blockBytes = 128 * 1_024
  const count = Math.ceil(bytes / blockBytes)
  const head = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x38])
  const blocks = Buffer.alloc(count * 4)
  for (let block = 0; block < count; block++)
    blocks.writeUIntLE((blockBytes << 3) | (1 << 1) | (block === count - 1 ? 1 : 0), block * 4, 3)
  return Buffer.concat([head, blocks])
}

function withBomb(entry: Entry): Buffer {
  const size = entry.size ?? 0
  const archive = forgedTar([manifestEntry([]), DATABASE, entry])
  // The bytes of the entry follow in a frame of their own.
  return Buffer.concat([zstdCompressSync(archive.subarray(0, -2 * BLOCK_BYTES)), zeros(size)])
}

/** Frames of a thousand directories each. */
function manyDirectories(count: number): Buffer {
  const header = new Header({ path: 'logs/', type: 'Directory', size: 0, mode: 0o700, uid: 0, gid: 0 })
  header.encode()
  const thousand = zstdCompressSync(
    Buffer.concat(Array.from({ length: 1_000 }, () => header.block ?? Buffer.alloc(0))),
  )
  return Buffer.concat([
    zstdCompressSync(undeclared().subarray(0, -2 * BLOCK_BYTES)),
    ...Array.from({ length: count / 1_000 }, () => thousand),
  ])
}

const ZOO: readonly (readonly [string, DrillCheckName, () => Buffer])[] = [
  ...[
    '../evil',
    '/tmp/evil',
    'logs/../../evil',
    'logs/./evil',
    'logs//evil',
    '.',
    '..',
    `${'x'.repeat(5_000)}`,
  ].map(
    (path) =>
      [
        `the path ${JSON.stringify(path.slice(0, 20))}`,
        'manifest',
        () => packageOf({ path, content: EVIL }),
      ] as const,
  ),
  ['an undeclared ../evil', 'files', () => undeclared({ path: '../evil', content: EVIL })],
  ['an undeclared /tmp/evil', 'files', () => undeclared({ path: '/tmp/evil', content: EVIL })],
  ...(['SymbolicLink', 'Link', 'CharacterDevice', 'BlockDevice', 'FIFO', 'ContiguousFile'] as const).flatMap(
    (type) =>
      [packageOf, undeclared].map(
        (pack) =>
          [
            `a ${type}${pack === packageOf ? '' : ', undeclared'}`,
            'unpacks',
            () => pack({ path: 'logs/evil', type, linkpath: '../../../evil', size: 0 }),
          ] as const,
      ),
  ),
  [
    'a link, then a file through it',
    'unpacks',
    () =>
      packageOf(
        { path: 'logs', type: 'SymbolicLink', linkpath: '../../..', size: 0 },
        { path: 'logs/evil', content: EVIL },
      ),
  ],
  ['a sparse file of 10 GB', 'unpacks', () => undeclared({ path: 'logs/evil', type: 'SparseFile', size: 0 })],
  [
    'a declared file of 10 GB that is not there',
    'unpacks',
    () => packageOf({ path: 'logs/evil', size: 10 * GIGABYTE }),
  ],
  [
    'a file of 9 PB',
    'unpacks',
    () => forgedTar([manifestEntry([{ path: 'logs/evil', size: 2 ** 53 - 1 }]), DATABASE]),
  ],
  [
    'a file in the place of a directory',
    'unpacks',
    () => packageOf({ path: 'logs/evil', content: EVIL }, { path: 'logs/evil/more', content: EVIL }),
  ],
  [
    'a name that is too long for a file',
    'unpacks',
    () => packageOf({ path: 'n'.repeat(300), content: EVIL }),
  ],
  [
    'the name of the archive',
    'unpacks',
    () => packageOf({ path: `backup-${BACKUP_ID}.tar.zst`, content: EVIL }),
  ],
  ['a path of nothing', 'unpacks', () => packageOf({ path: '', content: EVIL })],
  [
    'a path with a zero byte',
    'manifest',
    () => forgedTar([manifestEntry([{ path: 'logs/\0evil' }]), DATABASE]),
  ],
  ['an archive in it', 'unpacks', () => gzipSync(packageOf())],
  ['two databases', 'manifest', () => packageOf({ path: 'database/other.db', content: EVIL })],
  ['a second manifest', 'files', () => forgedTar([manifestEntry([]), manifestEntry([]), DATABASE])],
  [
    'the manifest of another backup',
    'manifest',
    () => forgedTar([manifestEntry([], { backup_id: '20260131-030000' }), DATABASE]),
  ],
  [
    'two hashes of the database',
    'manifest',
    () => forgedTar([manifestEntry([], { sha256: '0'.repeat(64) }), DATABASE]),
  ],
  ['a manifest of 10 GB', 'manifest', () => forgedTar([{ path: 'MANIFEST.json', size: 10 * GIGABYTE }])],
  ['no manifest', 'manifest', () => forgedTar([DATABASE])],
  ['nothing', 'unpacks', () => forgedTar([])],
]

describe('a restore drill of a hostile package', () => {
  const w = drillWorld()
  after(() => w[Symbol.dispose]())
  let count = 0

  async function failureOf(bytes: Buffer) {
    const into = join(w.directory, `into-${count++}`, 'deep', 'deeper')
    const before = readdirSync(w.directory)
    await w.publish(bytes)
    const report = await w.restore({ into })
    assert.equal(report.passed, false)
    assert.deepEqual(readdirSync(join(into, '../..')), ['deep'])
    assert.deepEqual(readdirSync(join(into, '..')), ['deeper'])
    assert.ok(!existsSync('/tmp/evil') && !existsSync('/evil'))
    assert.deepEqual(readdirSync(w.directory).length, before.length + 1)
    return report.checks.at(-1)
  }

  for (const [what, check, forge] of ZOO)
    it(`with ${what} fails the check ${check}, and writes nothing elsewhere`, async () => {
      const failure = await failureOf(zstdCompressSync(forge()))
      assert.ok(failure)
      assert.equal(failure.name, check, failure.detail)
    })

  it('with a million directories fails the check unpacks', async () => {
    assert.equal((await failureOf(manyDirectories(1_000_000)))?.name, 'unpacks')
  })

  it('with 10 GB behind its files fails the check unpacks', async () => {
    const bomb = Buffer.concat([
      zstdCompressSync(undeclared().subarray(0, -2 * BLOCK_BYTES)),
      zeros(10 * GIGABYTE),
    ])
    assert.ok(bomb.length < 400_000)
    assert.equal((await failureOf(bomb))?.name, 'unpacks')
  })

  it('with an undeclared file of 10 GB fails before a byte of it is written', async () => {
    const failure = await failureOf(withBomb({ path: 'logs/evil', size: 10 * GIGABYTE }))
    assert.equal(failure?.name, 'files')
  })

  it('with a manifest that names more than the disk has fails before a byte is written', async () => {
    const entry = { path: 'logs/evil', size: 2 ** 50 }
    const archive = forgedTar([manifestEntry([entry]), DATABASE, entry])
    const failure = await failureOf(Buffer.concat([zstdCompressSync(archive), zeros(GIGABYTE)]))
    assert.deepEqual([failure?.name, /too little space/.test(failure?.detail ?? '')], ['unpacks', true])
  })

  it('that is any other file fails the check unpacks', async () => {
    for (const bytes of ['', 'x', 'no archive', '\u001f\u008b', 'age-encryption.org/v1\n']) {
      const failure = await failureOf(Buffer.from(bytes, 'latin1'))
      assert.equal(failure?.name, bytes.startsWith('age') ? 'decrypts' : 'unpacks')
    }
  })

  it('names a path without characters that change a terminal', async () => {
    const path = 'logs/\u001b[2Jevil\u202e'
    const failure = await failureOf(zstdCompressSync(undeclared({ path, content: EVIL })))
    assert.ok(failure && !failure.detail.includes('\u001b'))
    const report = readFileSync(join(w.backupsDirectory, `restore-drill-${BACKUP_ID}.md`), 'utf8')
    assert.ok(!report.includes('\u001b'))
  })
})
