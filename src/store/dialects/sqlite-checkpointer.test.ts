import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { eventually } from '../../../test/support/eventually.ts'
import { createCheckpointer } from './sqlite-checkpointer.ts'

/** A database whose own checkpoints are off. */
function world() {
  const directory = mkdtempSync(join(tmpdir(), 'platform-checkpoint-'))
  const path = join(directory, 'platform.db')
  const database = new DatabaseSync(path, { timeout: 5_000 })
  database.exec(
    'pragma journal_mode = wal; pragma wal_autocheckpoint = 0; create table things (text text) strict',
  )
  const insert = database.prepare('insert into things values (?)')
  return {
    path,
    database,
    write: () => insert.run('x'.repeat(4_000)),
    [Symbol.dispose]: () => {
      if (database.isOpen) database.close()
      rmSync(directory, { recursive: true })
    },
  }
}

test('the log is copied into the database file after some commits, and restarts', async () => {
  using w = world()
  const checkpointer = createCheckpointer(w.path, { commitsBetween: 200 })
  try {
    const writeMany = () => {
      for (let commit = 0; commit < 200; commit++) {
        w.write()
        checkpointer.onCommit()
      }
    }
    for (let round = 0; round < 10; round++) {
      writeMany()
      await new Promise((resolve) => setImmediate(resolve))
    }
    await eventually('most rows are in the file', () => statSync(w.path).size > 1_000 * 4_096)
    // The file keeps its size, and new pages go to its beginning.
    await eventually('the log restarts', () => {
      const { size } = statSync(`${w.path}-wal`)
      writeMany()
      return statSync(`${w.path}-wal`).size === size
    })
  } finally {
    await checkpointer.close()
  }
  assert.equal(w.database.prepare('pragma integrity_check').get()?.['integrity_check'], 'ok')
})

test('fewer commits start no thread, and closing is possible at any time', async () => {
  using w = world()
  const checkpointer = createCheckpointer(w.path, { commitsBetween: 10 })
  w.write()
  checkpointer.onCommit()
  await checkpointer.close()
  await checkpointer.close()
  assert.ok(statSync(w.path).size < 4_096 * 4)
})

test('the thread has closed its connection before the last one closes and removes the log', async () => {
  using w = world()
  const checkpointer = createCheckpointer(w.path, { commitsBetween: 1 })
  w.write()
  checkpointer.onCommit()
  await checkpointer.close()
  w.database.close()
  assert.ok(!existsSync(`${w.path}-wal`))
})

test('a database that cannot be opened does not affect the writers', async () => {
  const checkpointer = createCheckpointer('/dev/null/platform.db', { commitsBetween: 1 })
  checkpointer.onCommit()
  await checkpointer.close()
})
