import assert from 'node:assert/strict'
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Snapshot, type SnapshotEntry } from './snapshot.ts'
import { readLines, StateFile } from './state-file.ts'

const entry = (title: string): SnapshotEntry => ({
  status: 'open',
  level: 'high',
  title,
  updated_at: '2026-11-21T02:00:00.000Z',
})

/** A state file with two entries, of which `b` is held in memory and `磁盘` is copied. */
function stateFile() {
  const directory = mkdtempSync(join(tmpdir(), 'platform-state-file-'))
  const path = join(directory, 'state')
  writeFileSync(path, JSON.stringify({ 磁盘: entry('copied'), b: entry('first') }, null, 2))
  const open = () => Snapshot.parse(() => readLines(path), { listed: new Set(['b']), pruneBefore: 0 })
  new StateFile(path).save(open())
  return {
    path,
    snapshot: open(),
    file: new StateFile(path),
    titles: () => {
      const state = JSON.parse(readFileSync(path, 'utf8')) as Record<string, SnapshotEntry>
      return [state['磁盘']?.title, state['b']?.title]
    },
    fileNames: () => readdirSync(directory).sort(),
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  }
}

test('each save replaces the entries in memory, whether they grow or shrink, and keeps the others', () => {
  using s = stateFile()
  for (const title of ['a', 'a much longer title', 'ü', '', 'the longest title of them all']) {
    s.snapshot.set('b', entry(title))
    s.file.save(s.snapshot)
    assert.deepEqual(s.titles(), ['copied', title])
    assert.equal(statSync(s.path).mode & 0o777, 0o600)
  }
})

test('lines are read whatever the size of the chunks in which they come', () => {
  using s = stateFile()
  for (const length of [0, 1, 4_094, 4_095, 4_096, 4_097, 20_000]) {
    const text = `${'磁'.repeat(length)}\n${'x'.repeat(length)}\n`
    writeFileSync(s.path, text)
    const lines = [...readLines(s.path)].join('\n')
    assert.equal(Buffer.from(lines, 'latin1').toString(), text)
  }
})

test('a file that was opened before a save still has its old content', () => {
  using s = stateFile()
  for (let n = 0; n < 4; n++) s.file.save(s.snapshot)
  const opened = openSync(s.path, 'r')
  s.snapshot.set('b', entry('second'))
  s.file.save(s.snapshot)
  assert.match(readFileSync(opened, 'utf8'), /"first"/)
  closeSync(opened)
})

test('closing leaves the state file alone, also where a killed round had left temporary files', () => {
  using s = stateFile()
  for (const suffix of ['.tmp', '.previous']) writeFileSync(`${s.path}${suffix}`, 'left behind')
  for (let n = 0; n < 3; n++) s.file.save(s.snapshot)
  s.file.close()
  s.file.close()
  assert.deepEqual(s.fileNames(), ['state'])
  s.file.save(s.snapshot)
  assert.deepEqual(s.titles(), ['copied', 'first'])
})

for (const savesBefore of [0, 1, 2]) {
  test(`a save that fails after ${savesBefore} saves leaves the file as it was, and can be repeated`, () => {
    using s = stateFile()
    for (let n = 0; n < savesBefore; n++) s.file.save(s.snapshot)
    s.snapshot.set('b', entry('second'))
    rmSync(`${s.path}.tmp`, { force: true })
    mkdirSync(`${s.path}.tmp`)
    assert.throws(() => s.file.save(s.snapshot))
    assert.deepEqual(s.titles(), ['copied', 'first'])
    rmSync(`${s.path}.tmp`, { recursive: true })
    s.file.save(s.snapshot)
    assert.deepEqual(s.titles(), ['copied', 'second'])
  })
}
