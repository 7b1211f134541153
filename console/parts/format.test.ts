import assert from 'node:assert/strict'
import { test } from 'node:test'
import { language } from '../i18n/language.ts'
import { formatDuration, formatRtt, formatShare, formatSome } from './format.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

test('one thing is not many', () => {
  assert.equal(formatSome(1, 'session'), '1 session')
  assert.equal(formatSome(0, 'session'), '0 sessions')
  assert.equal(formatSome(2_000, 'session'), '2,000 sessions')
})

test('round-trip times are short, and a dash when there is none', () => {
  const expected = [
    [null, '–'],
    [0.4, '<1 ms'],
    [12.4, '12 ms'],
    [999.4, '999 ms'],
    [1_250, '1.3 s'],
  ] as const
  for (const [ms, text] of expected) assert.equal(formatRtt(ms), text)
})

test('a time that rounds to a second is written as one', () => {
  assert.equal(formatRtt(999.6), '1.0 s')
})

test('durations show their two largest units', () => {
  const expected = [
    [-5 * SECOND, '0 s'],
    [59_999, '59 s'],
    [3 * MINUTE + 59 * SECOND, '3 min'],
    [2 * HOUR, '2 h'],
    [2 * HOUR + 5 * MINUTE, '2 h 5 min'],
    [3 * DAY + 4 * HOUR + MINUTE, '3 d 4 h'],
  ] as const
  for (const [ms, text] of expected) assert.equal(formatDuration(ms), text)
})

test('durations have the units of the language', () => {
  language.value = 'zh'
  assert.equal(formatDuration(2 * HOUR + 5 * MINUTE), '2 小时 5 分钟')
  language.value = 'en'
})

test('a share is nothing or everything only when it is so exactly', () => {
  assert.equal(formatShare(0, 100), '0 %')
  assert.equal(formatShare(1, 1_000), '<1 %')
  assert.equal(formatShare(1, 2), '50 %')
  assert.equal(formatShare(999, 1_000), '>99 %')
  assert.equal(formatShare(1_000, 1_000), '100 %')
  assert.equal(formatShare(5, 0), '0 %')
})
