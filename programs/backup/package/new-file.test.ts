import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { temporaryDirectory } from '../../../test/support/platform.ts'
import { NewFile } from './new-file.ts'

describe('a new file', () => {
  it('has every byte in its order, also behind several flushes', async () => {
    using directory = temporaryDirectory()
    const path = join(directory.path, 'new')
    const parts = [1, 9_000_000, 9_000_000, 3, 20_000_000, 0, 7].map((size) => randomBytes(size))
    await using file = await NewFile.create(path)
    for (const part of parts) await file.write(part)
    await file.sync()
    const bytes = Buffer.concat(parts)
    assert.equal(file.size, bytes.length)
    assert.ok(readFileSync(path).equals(bytes))
    assert.equal(statSync(path).mode & 0o777, 0o600)
  })

  it('does not replace a file', async () => {
    using directory = temporaryDirectory()
    const path = join(directory.path, 'old')
    writeFileSync(path, 'old')
    await assert.rejects(NewFile.create(path), { code: 'EEXIST' })
    assert.equal(readFileSync(path, 'utf8'), 'old')
  })
})
