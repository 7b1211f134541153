import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { ChannelMemory, type Moment } from './memory.ts'

const START: Moment = { at: Date.UTC(2026, 10, 21, 2), uptime: 1_000, boot: 'first' }

/** The memories of successive processes on one machine. */
function machine() {
  const directory = mkdtempSync(join(tmpdir(), 'platform-memory-'))
  const path = join(directory, 'state.memory')
  let moment = START
  return {
    path,
    open: () => new ChannelMemory(path, () => moment),
    pass(seconds: number) {
      moment = { ...moment, at: moment.at + seconds * 1_000, uptime: moment.uptime + seconds }
    },
    setClock(seconds: number) {
      moment = { ...moment, at: moment.at + seconds * 1_000 }
    },
    boot(seconds: number) {
      moment = { at: moment.at + seconds * 1_000, uptime: 10, boot: `${moment.boot}+` }
    },
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  }
}

test('mail of tickets waits 900 s after the last one, also in later processes', () => {
  using m = machine()
  assert.equal(m.open().throttledMs('ticket'), 0)
  m.open().noteMail('ticket')
  assert.equal(statSync(m.path).mode & 0o777, 0o600)
  m.pass(899)
  assert.equal(m.open().throttledMs('ticket'), 1_000)
  m.pass(1)
  assert.equal(m.open().throttledMs('ticket'), 0)
})

test('only mail of tickets is throttled', () => {
  using m = machine()
  for (const category of ['ticket', 'digest', 'self-test'] as const) m.open().noteMail(category)
  for (const category of ['digest', 'self-test'] as const) assert.equal(m.open().throttledMs(category), 0)
  assert.equal(m.open().throttledMs('ticket'), 900_000)
})

test('setting the clock neither ends nor prolongs a wait', () => {
  using m = machine()
  m.open().noteMail('ticket')
  m.setClock(7_200)
  assert.equal(m.open().throttledMs('ticket'), 900_000)
  m.setClock(-86_400)
  m.pass(900)
  assert.equal(m.open().throttledMs('ticket'), 0)
})

test('after a reboot the clock counts; when it was set back, the wait begins again', () => {
  using m = machine()
  m.open().noteMail('ticket')
  m.boot(600)
  assert.equal(m.open().throttledMs('ticket'), 300_000)
  m.boot(-86_400)
  assert.equal(m.open().throttledMs('ticket'), 900_000)
  m.pass(900)
  assert.equal(m.open().throttledMs('ticket'), 0)
})

test('a memory that cannot be read is empty', () => {
  for (const rubbish of [
    '',
    '{',
    '[]',
    'null',
    '{"mail":7,"pace":"x"}',
    '{"mail":{"ticket":{"at":"x"}}}',
    '\0\0',
  ]) {
    using m = machine()
    writeFileSync(m.path, rubbish)
    const memory = m.open()
    assert.deepEqual([memory.throttledMs('ticket'), memory.bucketState], [0, undefined])
    memory.noteMail('ticket')
    assert.equal(m.open().throttledMs('ticket'), 900_000)
  }
})

test('a memory that cannot be written is a problem, and is valid in this process', () => {
  using m = machine()
  mkdirSync(m.path)
  const memory = m.open()
  memory.noteMail('ticket')
  assert.equal(memory.throttledMs('ticket'), 900_000)
  assert.match(memory.problem ?? '', /cannot be written/)
})

test("the state of the robot's rate limit is kept", () => {
  using m = machine()
  const pace = { tokens: 3.5, at: START.at, blockedUntil: START.at + 1 }
  m.open().saveBucketState(pace)
  assert.deepEqual(m.open().bucketState, pace)
})
