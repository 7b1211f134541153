import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadConfig } from '../../../src/config/config.ts'
import { temporaryDirectory } from '../../../test/support/platform.ts'
import { withRunLock } from './lock.ts'

test('the lock is held until the work has ended', async () => {
  using directory = temporaryDirectory()
  const env = { BACKUP_INSTALL_ROOT: directory.path }
  const options = { configPath: undefined, moduleOverride: undefined, terminal: false }
  const parts = loadConfig({ env, cwd: directory.path, ...options })
  const end = Promise.withResolvers<string>()
  const first = withRunLock(parts, () => end.promise)
  await assert.rejects(
    withRunLock(parts, async () => ''),
    { code: 'backup_running', message: new RegExp(`process ${process.pid}\\.`) },
  )
  end.resolve('first')
  assert.equal(await first, 'first')
  assert.equal(await withRunLock(parts, async () => 'second'), 'second')
})
