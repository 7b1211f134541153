import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { Environment } from '../../config/env.ts'
import { temporaryDirectory } from '../../../test/support/platform.ts'
import { examineUnitEnvironment } from './unit-environment.ts'

const FILE = '# secrets\nDATABASE_URL=postgres://db/shop\nJWT_SECRETT=abc\nHTTPS_PROXY=http://proxy\n'

function world(t: TestContext, text?: string) {
  const directory = temporaryDirectory()
  t.after(() => directory[Symbol.dispose]())
  if (text !== undefined) writeFileSync(join(directory.path, 'platform.env'), text)
  return (env: Environment) =>
    examineUnitEnvironment(join(directory.path, 'platform.toml'), env).map(
      ({ result, detail, remedy = '' }) => `${result}: ${detail} ${remedy}`,
    )
}

test('without a file of the units nothing is reported', (t) => {
  assert.deepEqual(world(t)({}), [])
})

test('settings that only the units have are a warning with the command that has them, too', (t) => {
  const [finding, misspelt, ...others] = world(t, FILE)({})
  assert.match(
    finding ?? '',
    /^warning: the units load it, .* run as root: \(set -a; \. .*\/platform\.env; platform doctor /,
  )
  assert.match(misspelt ?? '', /^warning: JWT_SECRETT is .*did you mean JWT_SECRET\?/)
  assert.deepEqual(others, [])
})

test('settings that are loaded are fine', (t) => {
  const findings = world(t, 'LISTEN_ADDR=127.0.0.1:1\n')({ LISTEN_ADDR: '127.0.0.1:1' })
  assert.deepEqual(findings, ['ok: 1 variables are set '])
})
