import assert from 'node:assert/strict'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { temporaryDirectory } from '../../../test/support/platform.ts'
import { WriteLockHeld } from '../unavailable.ts'
import { explainSqliteFailure } from './sqlite-errors.ts'

/** What SQLite throws for the file at that path. */
function errorOf(path: string): unknown {
  try {
    using database = new DatabaseSync(path)
    database.exec('pragma journal_mode = wal; create table t (a)')
  } catch (error) {
    return error
  }
  return assert.fail('the file can be used')
}

test('for a file with other contents the last backup is the remedy', () => {
  using directory = temporaryDirectory()
  const path = join(directory.path, 'platform.db')
  writeFileSync(path, 'this is no database'.repeat(100))
  const { reason, remedy } = explainSqliteFailure(path, errorOf(path))
  assert.equal(reason, 'file is not a database')
  assert.match(remedy, /platform data restore FILE$/)
})

test('for any other error a backup is not the remedy', () => {
  using directory = temporaryDirectory()
  const path = join(directory.path, 'platform.db')
  const { reason, remedy } = explainSqliteFailure(path, new Error('disk I/O error'))
  assert.equal(reason, 'disk I/O error')
  assert.doesNotMatch(remedy, /restore/)
})

test('a directory that is a link to nothing is named', () => {
  using directory = temporaryDirectory()
  const link = join(directory.path, 'data')
  symlinkSync('/mnt/gone', link)
  const { reason, remedy } = explainSqliteFailure(join(link, 'platform.db'), new Error('ENOENT'))
  assert.equal(reason, `${link} is a link to /mnt/gone, which does not exist`)
  assert.match(remedy, /^Mount the disk/)
})

test('for a lock that another program keeps, that program is to be ended', () => {
  for (const error of [Object.assign(new Error('database is locked'), { errcode: 5 }), new WriteLockHeld()]) {
    const { reason, remedy } = explainSqliteFailure('/data/platform.db', error)
    assert.equal(reason, error.message)
    assert.match(remedy, /fuser -v \/data\/platform\.db/)
  }
})

test('a wrong owner, a read-only file system and a full disk are named, whatever SQLite says', () => {
  using directory = temporaryDirectory()
  const path = join(directory.path, 'platform.db')
  writeFileSync(path, '')
  const system = { access: () => undefined, space: () => ({ blocks: 10, bavail: 1, files: 10, ffree: 1 }) }
  const explain = (overrides: object) =>
    explainSqliteFailure(path, new Error('unable to open database file'), { ...system, ...overrides })
  const failing = (code: string) => (place: string) => {
    if (place === path) throw Object.assign(new Error(code), { code })
  }
  const { reason, remedy } = explain({ access: failing('EACCES') })
  assert.match(reason, /^this process runs as the user \d+ and cannot write .*platform\.db, which belongs to/)
  assert.match(
    remedy,
    new RegExp(`^If the platform itself runs as .* chown -R \\d+:\\d+ ${directory.path}; else `),
  )
  assert.match(explain({ access: failing('EROFS') }).reason, /is on a read-only file system$/)
  const full = {
    reason: `the disk of ${directory.path} is full`,
    remedy: 'Make room on it: "platform doctor" names what can be removed',
  }
  assert.deepEqual(explain({ space: () => ({ blocks: 10, bavail: 0, files: 10, ffree: 1 }) }), full)
  const { reason: withoutInode } = explain({ space: () => ({ blocks: 10, bavail: 1, files: 10, ffree: 0 }) })
  assert.equal(withoutInode, `the file system of ${directory.path} takes no more files: it has no free inode`)
  // Some file systems have no fixed number of files.
  assert.doesNotMatch(
    explain({ space: () => ({ blocks: 10, bavail: 1, files: 0, ffree: 0 }) }).reason,
    /inode/,
  )
  // The change that did not fit was rolled back.
  const error = Object.assign(new Error('database or disk is full'), { errcode: 13 })
  assert.deepEqual(explainSqliteFailure(path, error, system), full)
})
