import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { readPrivateFile } from './private-file.ts'

const directory = mkdtempSync(join(tmpdir(), 'private-file-'))
after(() => rmSync(directory, { recursive: true }))

describe('a private file', () => {
  it('is read, unless its check or its mode refuses it', () => {
    const path = join(directory, 'private')
    writeFileSync(path, 'text', { mode: 0o600 })
    assert.equal(readPrivateFile(path), 'text')
    const refuse = () => assert.fail('refused')
    assert.throws(() => readPrivateFile(path, refuse), /refused/)
    chmodSync(path, 0o640)
    assert.throws(() => readPrivateFile(path), /chmod 600 it/)
  })

  it('is no pipe, whose writer is not awaited', () => {
    const path = join(directory, 'pipe')
    execFileSync('mkfifo', ['--mode=600', path])
    // In a process of its own, which can be ended.
    const program = `import(${JSON.stringify(join(import.meta.dirname, 'private-file.ts'))}).then((module) => module.readPrivateFile(process.argv[1]))`
    const read = () =>
      execFileSync(process.execPath, ['--eval', program, path], { timeout: 10_000, stdio: 'pipe' })
    assert.throws(read, /it is not a regular file/)
  })
})
