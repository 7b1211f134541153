import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { startMockProgram } from './mock-program.ts'
import { temporaryDirectory } from './platform.ts'

test('a mock that prints something else than its address is ended', async () => {
  using home = temporaryDirectory()
  const [preload, pid] = [join(home.path, 'preload.cjs'), join(home.path, 'pid')]
  writeFileSync(
    preload,
    `require('node:fs').writeFileSync('pid', String(process.pid)); console.error('hello')`,
  )
  const env = { MOCK_DRIVE_PORT: '0', NODE_OPTIONS: `--require=${preload}` }
  await assert.rejects(startMockProgram('mock-drive', { cwd: home.path, env }), /hello/)
  assert.throws(() => process.kill(Number(readFileSync(pid, 'utf8')), 0), { code: 'ESRCH' })
})
