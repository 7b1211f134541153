import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import { test } from 'node:test'
import { temporaryDirectory } from '../../../test/support/platform.ts'
import { copyInThread } from './sqlite-threads.ts'

/** A database in which every commit writes the same number to the first and the last row, and adds a row. */
function world() {
  const directory = temporaryDirectory()
  const path = join(directory.path, 'platform.db')
  const writer = new DatabaseSync(path, { timeout: 5_000 })
  writer.exec(`
    pragma journal_mode = wal; pragma synchronous = off; pragma wal_autocheckpoint = 100;
    create table things (id integer primary key, text text, number integer) strict;
    create index things_by_text on things(text);
    with recursive n(x) as (select 1 union all select x + 1 from n where x < 20000)
      insert into things select x, hex(randomblob(100)), 0 from n`)
  const update = writer.prepare('update things set number = ? where id in (1, 20000)')
  const insert = writer.prepare('insert into things (text, number) values (hex(randomblob(100)), ?)')
  let commits = 0
  return {
    path,
    directory: directory.path,
    commit() {
      commits++
      writer.exec('begin immediate')
      update.run(commits)
      insert.run(commits)
      writer.exec('commit')
    },
    [Symbol.dispose]() {
      writer.close()
      directory[Symbol.dispose]()
    },
  }
}

/** Asserts that the file has the state after one of the commits. */
function assertConsistent(path: string): void {
  using copy = new DatabaseSync(path, { readOnly: true })
  const row = copy
    .prepare(
      `select (select integrity_check from pragma_integrity_check) as integrity, (select number from things where id = 1) as a,
        (select number from things where id = 20000) as z, max(number) as newest, count(*) as rows from things`,
    )
    .get()
  const { integrity, a, z, newest, rows } = row ?? {}
  assert.deepEqual([integrity, a, z, rows], ['ok', newest, newest, 20_000 + Number(newest)])
}

/** Copies while commits go on. */
async function copyDuringCommits(
  w: ReturnType<typeof world>,
  target: string,
  wait: () => Promise<unknown> = nextTurn,
): Promise<void> {
  let isDone = false
  const copied = copyInThread(w.path, target).finally(() => (isDone = true))
  while (!isDone) {
    w.commit()
    await wait()
  }
  await copied
}

test('each copy has the state after one commit, while others follow and checkpoints are made', async () => {
  using w = world()
  for (let copy = 0; copy < 5; copy++) {
    const target = join(w.directory, `copy-${copy}`)
    await copyDuringCommits(w, target)
    assertConsistent(target)
  }
})

test('a copy is consistent while an older reader holds checkpoints back', async () => {
  using w = world()
  using older = new DatabaseSync(w.path, { readOnly: true })
  older.exec('begin')
  older.prepare('select count(*) from things').get()
  w.commit()
  const target = join(w.directory, 'copy')
  // Without a pause the log, which no checkpoint can empty, would become gigabytes long.
  await copyDuringCommits(w, target, () => pause(2))
  assertConsistent(target)
})
