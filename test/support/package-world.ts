import { hash, randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { zstdFrames } from '../../programs/backup/package/compression.ts'
import { encodeManifest, type PackageManifest } from '../../programs/backup/package/manifest.ts'
import {
  tarArchive,
  writePackage,
  type PackageRequest,
  type WrittenPackage,
} from '../../programs/backup/package/write-package.ts'
import { unpackPackage } from '../../programs/backup/package/read-package.ts'
import { readAll } from './drive-world.ts'

export const DESCRIBED = {
  backup_id: '20260131-020000',
  created_at: '2026-01-31T02:00:00.000Z',
  source_path: '/var/lib/platform/platform.db',
  servers: ['primary'],
  schema_version: '0026',
  tables: { orders: { rows: 3, hash: 'abc' } },
} as const

export interface PackageWorld extends Disposable {
  readonly directory: string
  readonly logs: string
  readonly staging: string
  readonly database: Buffer
  /** Writes a log below `logs`. */
  log(path: string, content: string | Uint8Array): void
  write(options?: Partial<PackageRequest>): Promise<WrittenPackage>
  /** Unpacks into a new directory, and returns it. */
  unpack(file: string, identities?: readonly string[]): Promise<{ into: string; manifest: PackageManifest }>
  /** Writes an archive of these entries, as an attacker could. */
  forge(entries: readonly (readonly [path: string, content: string])[], manifest?: object): Promise<string>
}

export function temporaryPackageWorld(): PackageWorld {
  const directory = mkdtempSync(join(tmpdir(), 'package-'))
  const [logs, staging, source] = [
    join(directory, 'logs'),
    join(directory, 'staging'),
    join(directory, 'platform.db'),
  ]
  mkdirSync(logs)
  mkdirSync(staging)
  const database = Buffer.concat([Buffer.from('row '.repeat(300_000)), randomBytes(200_000)])
  writeFileSync(source, database)
  let count = 0
  return {
    directory,
    logs,
    staging,
    database,
    log(path, content) {
      mkdirSync(dirname(join(logs, path)), { recursive: true })
      writeFileSync(join(logs, path), content)
    },
    write: (options = {}) =>
      writePackage({
        manifest: DESCRIBED,
        database: { path: 'database/platform.db', file: source },
        logs: [logs],
        optionalLogs: [],
        directory: staging,
        name: 'backup-20260131-020000',
        compression: 'zstd',
        recipients: [],
        ...options,
      }),
    async unpack(file, identities = []) {
      const into = join(directory, `unpacked-${count++}`)
      mkdirSync(into)
      return { into, manifest: await unpackPackage({ file, directory: into, identities }) }
    },
    async forge(entries, manifest = {}) {
      const files = entries.map(([path, content]) => ({
        path,
        size: Buffer.byteLength(content),
        sha256: hash('sha256', content),
      }))
      const whole = { format: 1, ...DESCRIBED, size: 0, sha256: '0'.repeat(64), files, ...manifest }
      const text = encodeManifest(whole as PackageManifest)
      const all = [['MANIFEST.json', text] as const, ...entries]
      const tar = tarArchive(all.map(([path, content]) => textFile(path, content)))
      const file = join(directory, `forged-${count++}.tar.zst`)
      writeFileSync(file, await readAll(zstdFrames(tar)))
      return file
    },
    [Symbol.dispose]: () => rmSync(directory, { recursive: true }),
  }
}

export function textFile(path: string, content: string) {
  const bytes = Buffer.from(content)
  async function* read() {
    yield bytes
  }
  return { path, size: bytes.length, modifiedAt: 0, read }
}
