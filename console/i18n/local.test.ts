import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { language } from './language.ts'
import { localAgo, localDays, localDistance, localDuration, localSeconds, localWhen } from './local.ts'

afterEach(() => {
  language.value = 'en'
})

test('a span of two years or more is in years, and a past day is "ago", in both languages', () => {
  const spans = [
    [-800, '2 years ago', '2年前'],
    [-3, '3 days ago', '3天前'],
    [1, '1 day', '1天'],
    [730, '730 days', '730天'],
    [731, '2 years', '2年'],
    [36_198, '99 years', '99年'],
  ] as const
  for (const [days, en, zh] of spans) {
    language.value = 'en'
    assert.equal(localDays(days), en)
    language.value = 'zh'
    assert.equal(localDays(days), zh)
  }
})

test('a duration of a setting is in words, in both languages', () => {
  const texts = ['4h', '1m', '90d', 'off'] as const
  assert.deepEqual(texts.map(localDuration), ['4 hours', '1 minute', '90 days', 'off'])
  language.value = 'zh'
  assert.deepEqual(texts.map(localDuration), ['4小时', '1分钟', '90天', 'off'])
})

test('a distance is in its largest unit, and in years from two years on', () => {
  const now = Date.parse('2026-01-31T02:00:00Z')
  const distances = [
    ['2026-01-31T01:59:40Z', '20 seconds ago'],
    ['2026-01-31T04:00:00Z', 'in 2 hours'],
    ['2025-01-01T02:00:00Z', '395 days ago'],
    ['2016-01-31T02:00:00Z', '10 years ago'],
  ] as const
  for (const [time, text] of distances) assert.equal(localDistance(time, now), text)
})

test('a time in a list is a short distance, and its date from a week on, in both languages', () => {
  const now = Date.parse('2026-01-31T12:00:00Z')
  const texts = [
    ['2026-01-31T12:00:20Z', 'now', '现在'],
    ['2026-01-31T11:57:40Z', '2 min ago', '2分钟前'],
    ['2026-01-31T15:00:00Z', 'in 3 hr', '3小时后'],
    ['2026-01-28T12:00:00Z', '3 days ago', '3天前'],
    ['2026-01-10T12:00:00Z', '10 Jan 2026', '2026年1月10日'],
  ] as const
  for (const [time, en, zh] of texts) {
    language.value = 'en'
    assert.equal(localAgo(time, now), en)
    language.value = 'zh'
    assert.equal(localAgo(time, now), zh)
  }
})

test('a time long ago or far ahead is shown with its date, in both languages', () => {
  const now = Date.parse('2026-01-31T20:00:00Z')
  const hourMs = 3_600_000
  for (const hours of [-1, 17]) assert.match(localWhen(now + hours * hourMs, now), /^\d\d:\d\d$/)
  assert.match(localWhen(now + 48 * hourMs, now), /^(1|2|3) Feb$/)
  assert.match(localWhen(now - 48 * hourMs, now), /^(28|29|30) Jan$/)
  language.value = 'zh'
  assert.match(localWhen(now - 48 * hourMs, now), /^1月(28|29|30)日$/)
})

test('a number of seconds is in the largest unit that loses nothing', () => {
  assert.deepEqual([0, 90, 300, 7_200, 86_400].map(localSeconds), [
    '0 seconds',
    '90 seconds',
    '5 minutes',
    '2 hours',
    '1 day',
  ])
})
