import { hash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { takeSnapshot } from '../../programs/backup/package/take-snapshot.ts'
import type { DatabaseFiles } from '../../src/ports/database-files.ts'
import { DryRunDrive } from '../../programs/backup/drive/dry-run-drive.ts'
import type { Drive } from '../../programs/backup/drive/port.ts'
import { writeFile } from '../../programs/backup/drive/stored-files.ts'
import { bytesSource } from '../../programs/backup/drive/sources.ts'
import { writePackage, type WrittenPackage } from '../../programs/backup/package/write-package.ts'
import type { DrillReport } from '../../programs/backup/restore/drill-report.ts'
import {
  restoreBackup,
  type RestoreDeps,
  type RestoreRequest,
} from '../../programs/backup/restore/restore.ts'
import { databaseFiles } from '../../src/app/commands/database-files.ts'
import type { DatabaseAddress } from '../../src/store/open.ts'
import { DAY } from '../../src/kernel/time.ts'
import { fakeClock } from './clock.ts'

export const BACKUP_ID = '20260131-020000'
const CREATED_AT = '2026-01-31T02:00:00.000Z'
const ROOT = 'servers/main'

export interface PackOptions {
  readonly recipients?: readonly string[]
  /** The database to pack; without it a small SQLite file. */
  readonly database?: DatabaseAddress
  /** Changes the database after its manifest was made, as a defect of the program would. */
  readonly spoil?: (snapshot: string) => void
}

export interface DrillWorld extends Disposable {
  readonly directory: string
  readonly backupsDirectory: string
  readonly drive: Drive
  /** The live database. */
  readonly live: string
  readonly databases: DatabaseFiles
  /** The calls of the ticket, and the heartbeats. */
  readonly tickets: readonly string[]
  readonly progress: readonly string[]
  /** Makes a package. */
  pack(options?: PackOptions): Promise<WrittenPackage>
  /** Puts bytes on the drive as the archive of a backup, with their index. */
  publish(bytes: Uint8Array, entry?: Readonly<Record<string, unknown>>): Promise<void>
  restore(request?: Partial<RestoreRequest>, deps?: Partial<RestoreDeps>): Promise<DrillReport>
  /** The text of a report. */
  report(extension: 'json' | 'md', backupId?: string): string
}

/** A drive in memory, and a restoration that is put together as the program does it. */
export function drillWorld(options: { readonly drive?: Drive } = {}): DrillWorld {
  const directory = mkdtempSync(join(tmpdir(), 'drill-'))
  const [live, logs, backupsDirectory] = ['platform.db', 'logs', 'backups'].map((name) =>
    join(directory, name),
  ) as [string, string, string]
  mkdirSync(join(logs, 'api'), { recursive: true })
  mkdirSync(backupsDirectory)
  writeFileSync(join(logs, 'api/access.log'), 'a line\n'.repeat(1_000))
  makeDatabase(live)
  const clock = fakeClock(Date.parse(CREATED_AT) + DAY)
  const drive = options.drive ?? new DryRunDrive({ clock, print: () => undefined })
  const tickets: string[] = []
  const progress: string[] = []
  const liveAddress: DatabaseAddress = { kind: 'sqlite', path: live }
  const databases = databaseFiles(liveAddress)
  let count = 0
  const deps: RestoreDeps = {
    drive,
    rootDirectory: ROOT,
    databases,
    identityFile: undefined,
    backupsDirectory,
    clock,
    openTicket: async (backupId) => {
      tickets.push(`open ${backupId}`)
      return {
        pass: async (summary) => void tickets.push(`pass: ${summary}`),
        fail: async (summary) => void tickets.push(`fail: ${summary}`),
      }
    },
    beat: async () => void tickets.push('beat'),
    progress: (text) => void progress.push(text),
    onCheck: () => undefined,
  }
  return {
    directory,
    backupsDirectory,
    drive,
    live,
    databases,
    tickets,
    progress,
    async pack({ recipients = [], database = liveAddress, spoil = () => undefined }: PackOptions = {}) {
      const staging = join(directory, `staging-${count++}`)
      mkdirSync(staging)
      const files = databaseFiles(database)
      const snapshot = await takeSnapshot(files, join(staging, 'snapshot'))
      spoil(snapshot.file)
      return writePackage({
        manifest: {
          backup_id: BACKUP_ID,
          created_at: CREATED_AT,
          source_path: live,
          servers: ['primary'],
          schema_version: snapshot.schemaVersion,
          tables: snapshot.tables,
        },
        // Without the hash, so that of a spoilt database is right.
        database: { file: snapshot.file, path: files.packagedAs },
        certificates: join(directory, 'certs'),
        logs: [logs],
        optionalLogs: [],
        directory: staging,
        name: `backup-${BACKUP_ID}`,
        compression: 'zstd',
        recipients,
      })
    },
    publish: (bytes, entry = {}) => publishArchive(drive, bytes, entry),
    restore: (request = {}, overrides = {}) =>
      restoreBackup({ backupId: BACKUP_ID, into: undefined, ...request }, { ...deps, ...overrides }),
    report: (extension, backupId = BACKUP_ID) =>
      readFileSync(join(backupsDirectory, `restore-drill-${backupId}.${extension}`), 'utf8'),
    [Symbol.dispose]: () => rmSync(directory, { recursive: true }),
  }
}

async function publishArchive(
  drive: Drive,
  bytes: Uint8Array,
  entry: Readonly<Record<string, unknown>>,
): Promise<void> {
  const members = {
    backup_id: BACKUP_ID,
    file: `backup-${BACKUP_ID}.tar.zst`,
    size: bytes.length,
    sha256: hash('sha256', bytes),
    created_at: CREATED_AT,
    contents: ['database', 'logs'],
    servers: ['primary'],
    ...entry,
  }
  const folderId = await drive.ensureFolder(`${ROOT}/backup/${String(members.backup_id).slice(0, 6)}`)
  for (const { fileId } of await drive.list(folderId)) await drive.delete(fileId)
  await drive.upload({ folderId, name: String(members.file) }, bytesSource(bytes))
  if (entry['size'] === 'no index') return
  const index = { host: 'server-1', format: 1, backups: [members] }
  await writeFile(drive, { folderId, name: 'MANIFEST.json' }, JSON.stringify(index))
}

const SCHEMA = `
  pragma journal_mode = wal;
  pragma synchronous = off;
  create table schema_migrations (name text primary key, breaking integer not null) strict;
  insert into schema_migrations values ('0001-foundation', 0), ('0002-orders', 0);
  create table users (id text primary key, name text not null) strict;
  insert into users values ('ada', 'Ada'), ('bob', 'Bob');
  create table orders (
    seq integer primary key, order_id text not null unique, user_id text not null references users (id), note text
  ) strict;
  create index orders_by_user on orders (user_id);
`

function makeDatabase(path: string): void {
  using database = new DatabaseSync(path)
  database.exec(SCHEMA)
  const insert = database.prepare('insert into orders (order_id, user_id, note) values (?, ?, ?)')
  database.exec('begin')
  for (let order = 0; order < 300; order++)
    insert.run(`order-${order}`, order % 2 === 0 ? 'ada' : 'bob', 'note '.repeat(order % 20))
  database.exec('commit')
}
