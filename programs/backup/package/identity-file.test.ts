import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { generateX25519Identity } from 'age-encryption'
import { readIdentities } from './identity-file.ts'

test('an identity file has identities and comments, must be private, and is in no error', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'identity-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const path = join(directory, 'key.txt')
  const identity = await generateX25519Identity()
  writeFileSync(path, `# created: 2026-01-31\n# public key: age1…\n${identity}\n`, { mode: 0o600 })
  assert.deepEqual(readIdentities(path), [identity])
  chmodSync(path, 0o640)
  assert.throws(() => readIdentities(path), /chmod 600/)
  chmodSync(path, 0o600)
  writeFileSync(path, `${identity}\ncanary`)
  assert.throws(
    () => readIdentities(path),
    (error: Error) => !/canary|AGE-SECRET-KEY-1/.test(error.message),
  )
  writeFileSync(path, '')
  assert.throws(() => readIdentities(path))
})
