import assert from 'node:assert/strict'
import {
  mkdirSync,
  mkdtempSync,
  openSync,
  closeSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createRewrittenFile } from './rewritten-file.ts'

function directory() {
  const root = mkdtempSync(join(tmpdir(), 'platform-rewritten-'))
  return {
    path: join(root, 'state'),
    files: () => readdirSync(root).sort(),
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  }
}

/** A content whose end can be changed, and that counts how often its beginning was asked for. */
function content(beginning: string, end = '') {
  const counted = { end, asked: 0 }
  return Object.assign(counted, {
    *beginning() {
      counted.asked += 1
      for (const letter of beginning) yield Buffer.from(letter)
    },
    ending: () => Buffer.from(counted.end),
  })
}

test('what was written last stands in the file, whether its end grows or shrinks', () => {
  using d = directory()
  const file = createRewrittenFile(d.path)
  const state = content('beginning, ')
  for (const end of ['end', 'a longer end', 'another', '', 'e', 'the very longest end']) {
    state.end = end
    file.write(state)
    assert.equal(readFileSync(d.path, 'utf8'), `beginning, ${end}`)
    assert.equal(statSync(d.path).mode & 0o777, 0o600)
  }
})

test('however often it is saved, its beginning is written twice', () => {
  using d = directory()
  const file = createRewrittenFile(d.path)
  const state = content('beginning')
  for (let n = 0; n < 6; n++) {
    state.end = String(n)
    file.write(state)
  }
  assert.equal(state.asked, 2)
})

test('another content has another beginning', () => {
  using d = directory()
  const file = createRewrittenFile(d.path)
  const [one, other] = [content('one ', '1'), content('other ', '2')]
  for (const state of [one, one, one, other, other, other, one, one]) {
    file.write(state)
    assert.equal(readFileSync(d.path, 'utf8'), state === one ? 'one 1' : 'other 2')
  }
})

test('who has opened the file reads what it held then, although it is replaced meanwhile', () => {
  using d = directory()
  const file = createRewrittenFile(d.path)
  const state = content('beginning ', 'old')
  for (let n = 0; n < 4; n++) file.write(state)
  const opened = openSync(d.path, 'r')
  state.end = 'new'
  file.write(state)
  assert.equal(readFileSync(opened, 'utf8'), 'beginning old')
  closeSync(opened)
})

test('when it is closed the file alone is left, also where a killed process had left more', () => {
  using d = directory()
  for (const left of ['.tmp', '.previous']) writeFileSync(`${d.path}${left}`, 'left behind')
  const file = createRewrittenFile(d.path)
  const state = content('beginning')
  for (let n = 0; n < 3; n++) file.write(state)
  file.close()
  file.close()
  assert.deepEqual(d.files(), ['state'])
  file.write(state)
  assert.equal(readFileSync(d.path, 'utf8'), 'beginning')
})

test('closing one that has written nothing takes nothing away from another one', () => {
  using d = directory()
  const [writing, reading] = [createRewrittenFile(d.path), createRewrittenFile(d.path)]
  const state = content('beginning')
  for (let n = 0; n < 2; n++) writing.write(state)
  reading.close()
  state.end = 'end'
  writing.write(state)
  assert.equal(readFileSync(d.path, 'utf8'), 'beginningend')
})

test('a writing that fails leaves the file as it was', () => {
  using d = directory()
  const file = createRewrittenFile(d.path)
  const state = content('beginning', 'old')
  file.write(state)
  mkdirSync(`${d.path}.tmp`)
  state.end = 'new'
  assert.throws(() => file.write(state))
  assert.equal(readFileSync(d.path, 'utf8'), 'beginningold')
  rmSync(`${d.path}.tmp`, { recursive: true })
  file.write(state)
  assert.equal(readFileSync(d.path, 'utf8'), 'beginningnew')
})
