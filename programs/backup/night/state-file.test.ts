import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { fakeClock } from '../../../test/support/clock.ts'
import { FileStateStore } from './state-file.ts'
import { EMPTY_STATE, encodeState, parseState, type BackupState } from './state.ts'

const root = mkdtempSync(join(tmpdir(), 'backup-state-'))
after(() => rmSync(root, { recursive: true }))
let count = 0

function storeIn(directory = join(root, `${count++}`)) {
  const messages: string[] = []
  const path = join(directory, 'state.json')
  const store = new FileStateStore(path, { clock: fakeClock(), onUnusable: (text) => messages.push(text) })
  return { store, messages, path, directory }
}

const STATE: BackupState = {
  ...EMPTY_STATE,
  givenIds: ['20260131-020000'],
  nights: [{ date: '2026-01-31', failures: 2, succeededAt: 1 }],
  run: {
    backupId: '20260131-020000',
    date: '2026-01-31',
    startedAt: 1,
    status: 'running',
    reached: 'packaged',
    job: 'upload',
    durations: { package: 12 },
    archive: {
      name: 'backup-20260131-020000.tar.zst.age',
      size: 1,
      sha256: 'a',
      sha1: 'b',
      createdAt: 1,
      contents: ['logs'],
    },
    upload: { fileId: 'f', uploadId: 'u', size: 1, sha1: 'b', partSize: 1, hasUrls: true },
  },
}

test('a state is read as it was written, and only root can read it', () => {
  const { store, path, messages } = storeIn()
  assert.deepEqual(store.read(), EMPTY_STATE)
  store.write(STATE)
  assert.deepEqual(store.read(), STATE)
  assert.equal(statSync(path).mode & 0o777, 0o600)
  assert.deepEqual(messages, [])
})

test('a temporary file of a killed process is no obstacle', () => {
  const { store, path, directory } = storeIn()
  mkdirSync(directory)
  writeFileSync(`${path}.tmp`, '{"half')
  store.write(STATE)
  assert.deepEqual(store.read(), STATE)
  assert.deepEqual(readdirSync(directory), ['state.json'])
})

for (const text of [
  '',
  '{',
  'null',
  '[]',
  '{"format": 2}',
  encodeState(STATE).replace('"running"', '"walking"'),
  encodeState(STATE).replace('backup-20260131-020000.tar.zst.age', '../../etc/passwd'),
  encodeState(STATE).replace('"2026-01-31"', '"yesterday"'),
  encodeState(STATE).replace('"hasUrls": true', '"hasUrls": 1'),
]) {
  test(`an unusable state is kept, and the next one is empty: ${JSON.stringify(text.slice(0, 20))}`, () => {
    const { store, path, directory, messages } = storeIn()
    mkdirSync(directory)
    writeFileSync(path, text)
    assert.deepEqual([store.read(), store.read()], [EMPTY_STATE, EMPTY_STATE])
    assert.equal(messages.length, 1)
    assert.deepEqual(readdirSync(directory), ['state.json'], 'who only reads moves no file')
    store.write(STATE)
    assert.deepEqual(store.read(), STATE)
    const kept = 'state.json.corrupt-20260131T020000000Z'
    assert.deepEqual(readdirSync(directory).toSorted(), ['state.json', kept])
    assert.equal(readFileSync(join(directory, kept), 'utf8'), text)
  })
}

test('a state that cannot be read stays where it is, and the error names its path', () => {
  const { store, path, directory, messages } = storeIn()
  // Reading a directory is an error of the system for every user.
  mkdirSync(path, { recursive: true })
  assert.throws(
    () => store.read(),
    (error: Error) => error.name === 'BackupError' && error.message.includes(path),
  )
  assert.deepEqual(readdirSync(directory), ['state.json'])
  assert.deepEqual(messages, [])
})

test('a state whose text was changed anywhere is a state or refused, and never anything else', () => {
  const text = encodeState(STATE)
  fc.assert(
    fc.property(fc.nat(text.length - 1), fc.string({ maxLength: 3 }), (at, inserted) => {
      try {
        parseState(text.slice(0, at) + inserted + text.slice(at + inserted.length))
      } catch (error) {
        assert.match(String(error), /it is not valid JSON|its member "\w+" is missing or wrong/)
      }
    }),
  )
})
