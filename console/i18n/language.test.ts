import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { defineWords, language, preferredLanguage } from './language.ts'
import { localAmount, localDistance, localNumber, localSize, localTime } from './local.ts'

afterEach(() => {
  language.value = 'en'
})

test('the language is the first of the browser that the console has', () => {
  assert.equal(preferredLanguage(['fr-FR', 'zh-TW', 'en']), 'zh')
  assert.equal(preferredLanguage(['fr']), 'en')
})

test('words, numbers and times follow the language', () => {
  const words = defineWords({ hello: ['Hello', '你好'] })
  const time = '2026-01-31T12:00:00.000Z'
  assert.deepEqual([words().hello, localNumber(1_234_567)], ['Hello', '1,234,567'])
  assert.match(localTime(time), /Jan 2026/)
  language.value = 'zh'
  assert.deepEqual([words().hello, localAmount(123_450)], ['你好', '1,234.50'])
  assert.match(localTime(time), /2026年1月31日/)
  assert.equal(localDistance(time, Date.parse(time) + 7_200_000), '2小时前')
})

test('a time that is not known is a dash', () => {
  assert.equal(localTime(null), '–')
})

test('a size is shown in the largest unit that it has one of', () => {
  assert.deepEqual([0, 999, 1_000, 1_530_000].map(localSize), ['0 byte', '999 byte', '1 kB', '1.5 MB'])
  assert.equal(localSize(null), '–')
})
