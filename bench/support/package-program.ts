// Run as a process of its own by bench/backup.ts: writes one package, and prints its time and the peak of its memory.
import { readFileSync } from 'node:fs'
import { writePackage } from '../../programs/backup/package/write-package.ts'

const [database = '', logs = '', directory = '', sha256 = ''] = process.argv.slice(2)

const startedAt = performance.now()
const { size } = await writePackage({
  manifest: {
    backup_id: '20260131-020000',
    created_at: '2026-01-31T02:00:00.000Z',
    source_path: database,
    servers: ['bench'],
    schema_version: '1',
    tables: {},
  },
  database: { path: 'database/platform.db', file: database, ...(sha256 && { sha256 }) },
  logs: [logs],
  directory,
  name: 'backup',
  compression: 'zstd',
  recipients: [],
})
const seconds = (performance.now() - startedAt) / 1_000
// The peak of the process itself; getrusage starts with the peak of its parent.
const peakMegabytes = Number(/VmHWM:\s*(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) / 1_024
process.stdout.write(JSON.stringify({ seconds, size, peakMegabytes }))
