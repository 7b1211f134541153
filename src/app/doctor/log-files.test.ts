import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { temporaryDirectory } from '../../../test/support/platform.ts'
import { loadConfig } from '../../config/config.ts'
import { logFindings } from './checks/disk.ts'
import { findLogFiles } from './log-files.ts'

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
