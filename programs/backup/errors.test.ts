import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { BackupError, ERROR_CODES, isNoSpace } from './errors.ts'
import { toFailure } from './night/failure.ts'

const full = (() => {
  try {
    writeFileSync('/dev/full', 'x')
  } catch (error) {
    return error
  }
})()

for (const [what, cause] of [
  ['the system', full],
  ['SQLite', new Error('database or disk is full')],
  ['pg_dump', new Error('could not write to output file: No space left on device')],
  ['a quota', Object.assign(new Error('write failed'), { code: 'EDQUOT', syscall: 'write' })],
  ['the store, with a cause', new Error('The database is not available.', { cause: full })],
] as const)
  test(`a full disk, as ${what} names it, is no_space whatever was done`, () => {
    for (const errorCode of ERROR_CODES) {
      const failed = new BackupError(errorCode, 'It has failed.', { cause })
      assert.deepEqual([failed.errorCode, isNoSpace(failed), isNoSpace(cause)], ['no_space', true, true])
      const step = { name: 'package', errorCode }
      assert.equal(toFailure(cause, step, { at: 0, isAborted: false }).errorCode, 'no_space')
    }
  })

test('another error keeps its code', () => {
  const cause = Object.assign(new Error('input/output error'), { code: 'EIO', syscall: 'write' })
  assert.equal(new BackupError('archive_failed', 'It has failed.', { cause }).errorCode, 'archive_failed')
  assert.equal(isNoSpace(cause), false)
})
