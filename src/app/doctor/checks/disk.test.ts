import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, openSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { temporaryDirectory } from '../../../../test/support/platform.ts'
import { loadConfig } from '../../../config/config.ts'
import { findLogFiles, inodeFinding, logFindings, roomCommands, type LogFile } from './disk.ts'

const MIB = 1_024 ** 2
const FULL = { free: 10 * MIB, all: 1_000 * MIB }

async function processWriting(t: TestContext, output: number | 'pipe'): Promise<number> {
  const program = spawn('sleep', ['60'], { stdio: ['ignore', output, 'ignore'] })
  t.after(() => program.kill())
  await once(program, 'spawn')
  return program.pid ?? 0
}

test('the log of a process is the file of its output, and that of one which writes to no file is in the journal', async (t) => {
  using directory = temporaryDirectory()
  const [path, journal] = [join(directory.path, 'platform.log'), join(directory.path, 'journal')]
  const writer = await processWriting(t, openSync(path, 'a'))
  assert.deepEqual(findLogFiles([writer], journal), [{ path, processId: writer, isDeleted: false }])
  assert.deepEqual(findLogFiles([], journal), [])
  mkdirSync(journal)
  assert.deepEqual(
    findLogFiles([], journal).map((each) => each.path),
    [journal],
  )
  assert.deepEqual(findLogFiles([await processWriting(t, openSync('/dev/null', 'w'))], journal), [])
  rmSync(path)
  assert.deepEqual(findLogFiles([writer], journal), [{ path, processId: writer, isDeleted: true }])
})

test(
  'the log of a process of another user is unknown',
  { skip: process.getuid?.() !== 0 && 'only root can become another user' },
  async (t) => {
    const writer = await processWriting(t, 'pipe')
    process.seteuid?.(65_534)
    try {
      assert.deepEqual(findLogFiles([writer], '/nowhere'), [])
    } finally {
      process.seteuid?.(0)
    }
  },
)

test('a disk of the log that is nearly full is a warning with what may be removed, and so is a removed file', () => {
  using directory = temporaryDirectory()
  const path = join(directory.path, 'platform.log')
  writeFileSync(path, Buffer.alloc(17 * MIB, 1))
  const { config } = loadConfig({ env: {}, cwd: '/', systemConfigPath: '/nowhere' })
  const log = { path, processId: 7, isDeleted: false }
  const findings = (place: string, space = FULL) => logFindings(config, [log], place, () => space)
  const [low] = findings('/proc')
  assert.match(
    `${low?.result} ${low?.subject} ${low?.detail} ${low?.remedy}`,
    /^warning log \S+platform\.log 10 of 1000 MiB are free: .*truncate -s 0 \S+platform\.log \(17 MiB\)/,
  )
  for (const all of [30, 1_000])
    assert.equal(findings('/proc', { free: 0.9 * all * MIB, all: all * MIB })[0]?.result, 'ok')
  assert.deepEqual(findings(directory.path), [], 'it is on the disk of the data directory')
  const [removed] = logFindings(config, [{ ...log, isDeleted: true }], '/proc')
  assert.match(
    `${removed?.detail} ${removed?.remedy}`,
    /^was removed, and process 7 .* restart that process$/,
  )
})

test('a file system without a free inode is an error, with the command that finds its files', () => {
  const { result, cause } = inodeFinding('/proc', 0, 200)
  assert.deepEqual([result, cause?.values['command']], ['error', 'du -x --inodes /proc | sort -n | tail'])
  assert.equal(inodeFinding('/proc', 1, 200).result, 'warning')
})

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
