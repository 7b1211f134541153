// Run as a process of its own by bench/backup.ts: writes one package, and prints its time and the peak of its memory.
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { takeSnapshot } from '../../programs/backup/package/take-snapshot.ts'
import { writePackage } from '../../programs/backup/package/write-package.ts'
import { databaseFiles } from '../../src/app/commands/database-files.ts'

const [database = '', logs = '', directory = '', sha256 = ''] = process.argv.slice(2)

const startedAt = performance.now()
const secondsSoFar = () => (performance.now() - startedAt) / 1_000

/** The file to pack as it is; with `snapshot` instead of its hash, a copy of the database as the routine makes it. */
async function packedDatabase() {
  if (sha256 !== 'snapshot')
    return { file: database, ...(sha256 && { sha256 }), schemaVersion: '1', tables: {} }
  return takeSnapshot(databaseFiles({ kind: 'sqlite', path: database }), join(directory, 'snapshot.db'))
}

const { file, schemaVersion, tables, ...known } = await packedDatabase()
const snapshotSeconds = secondsSoFar()
const { size } = await writePackage({
  manifest: {
    backup_id: '20260131-020000',
    created_at: '2026-01-31T02:00:00.000Z',
    source_path: database,
    servers: ['bench'],
    schema_version: schemaVersion,
    tables,
  },
  database: { path: 'database/platform.db', file, ...known },
  optionalLogs: [],
  logs: [logs],
  directory,
  name: 'backup',
  compression: 'zstd',
  recipients: [],
})
const seconds = secondsSoFar()
if (file !== database) await rm(file)
// The peak of the process itself; getrusage starts with the peak of its parent.
const peakMegabytes = Number(/VmHWM:\s*(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) / 1_024
process.stdout.write(JSON.stringify({ seconds, snapshotSeconds, size, peakMegabytes }))
