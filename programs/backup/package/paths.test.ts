import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { temporaryPackageWorld, type PackageWorld } from '../../../test/support/package-world.ts'

const pieces = fc
  .constantFrom('a', '\\', '\n', '\r', '\u001B', ' ', '=', '.', 'ü', '😀')
  .map((text) => Buffer.from(text))
const NAMES = fc
  .oneof(
    fc.array(pieces, { minLength: 1, maxLength: 30 }),
    // Around the lengths that need a second header.
    fc.integer({ min: 90, max: 120 }).map((length) => [Buffer.alloc(length, 'x')]),
    fc.constant([Buffer.from([0x61, 0xff])]),
  )
  .map((parts) => Buffer.concat(parts))
  .filter((name) => !['.', '..'].includes(name.toString()))
const PATHS = fc.array(NAMES, { minLength: 1, maxLength: 6 })

/** Writes a log whose names may be no UTF-8. */
function writeLog({ logs }: PackageWorld, names: readonly Buffer[]): void {
  const pathOf = (parts: readonly Buffer[]) =>
    Buffer.concat([Buffer.from(logs), ...parts.flatMap((part) => [Buffer.from('/'), part])])
  try {
    mkdirSync(pathOf(names.slice(0, -1)), { recursive: true })
    writeFileSync(pathOf(names), 'log')
  } catch {
    // Another log of this name, or a directory, is there.
  }
}

describe('the name of a log', () => {
  it('never makes a package that cannot be restored', async () => {
    const property = fc.asyncProperty(fc.array(PATHS, { minLength: 1, maxLength: 5 }), async (paths) => {
      using w = temporaryPackageWorld()
      for (const names of paths) writeLog(w, names)
      const { file, manifest } = await w.write()
      const { into } = await w.unpack(file)
      for (const { path } of manifest.files.slice(1))
        assert.equal(readFileSync(join(into, path), 'utf8'), 'log')
    })
    await fc.assert(property, { numRuns: 50 })
  })

  for (const name of ['foo\\x2dbar.log', 'line\nfeed.log', `${'directory/'.repeat(50)}a.log`])
    it(`is left out with a reason: ${JSON.stringify(name.slice(0, 20))}`, async () => {
      using w = temporaryPackageWorld()
      w.log(name, 'log')
      w.log('other\r\u001B.log', 'log')
      const { manifest, skippedLogs } = await w.write()
      assert.deepEqual(
        manifest.files.slice(1).map(({ path }) => path),
        ['logs/other\r\u001B.log'],
      )
      assert.deepEqual(skippedLogs, [{ path: join(w.logs, name), reason: 'its name cannot be restored' }])
    })
})
