import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryDirectory } from '../../test/support/platform.ts'
import { ARCHITECTURES } from './architecture.ts'
import { buildPackage } from './package.ts'

const [architecture] = ARCHITECTURES

test('packages that are built with different umasks are equal', (t) => {
  assert.ok(architecture)
  using home = temporaryDirectory()
  const executable = join(home.path, 'platform')
  writeFileSync(executable, 'the program')
  const umask = process.umask()
  t.after(() => process.umask(umask))
  const hashes = [0o022, 0o077].map((mask) => {
    const directory = join(home.path, String(mask))
    mkdirSync(directory)
    process.umask(mask)
    const file = buildPackage({ directory, architecture, executable, version: '1.0.0' })
    return createHash('sha256').update(readFileSync(file)).digest('hex')
  })
  assert.equal(hashes[0], hashes[1])
})
