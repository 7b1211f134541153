import assert from 'node:assert/strict'
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryDirectory } from '../../../test/support/platform.ts'
import type { LogFile } from './log-files.ts'
import { roomCommands } from './removable-files.ts'

const MIB = 1_024 ** 2

test('what may be removed is named with its size, the largest first; the newest backup stays', () => {
  using directory = temporaryDirectory()
  const dataDir = directory.path
  const path = join(dataDir, 'platform.db')
  const commands = (logs: readonly LogFile[] = []) =>
    roomCommands({ database: { kind: 'sqlite', path }, dataDir }, dataDir, logs).join('\n')
  const write = (name: string, mib: number, at: number) => {
    writeFileSync(join(dataDir, name), Buffer.alloc(mib * MIB, 1))
    utimesSync(join(dataDir, name), at, at)
  }
  write('platform.db', 20, 1)
  assert.match(commands(), /^du -xh .*tail$/)
  mkdirSync(join(dataDir, 'backups'))
  write('platform.db.before-migration', 17, 1)
  write('backups/old.db', 18, 1)
  write('backups/new.db', 20, 2)
  const removed = [...commands().matchAll(/rm (\S+) \((\d+) MiB\)/g)].map(([, name, mib]) => [name, mib])
  assert.deepEqual(removed, [
    [join(dataDir, 'backups/old.db'), '18'],
    [join(dataDir, 'platform.db.before-migration'), '17'],
  ])
  write('platform.log', 30, 1)
  const log = { path: join(dataDir, 'platform.log'), processId: 7, isDeleted: false }
  assert.match(commands([log]), /^truncate -s 0 \S+platform\.log \(30 MiB\)\nrm /)
})
