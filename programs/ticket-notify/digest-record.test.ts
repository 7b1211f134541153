import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DigestRecord } from './digest-record.ts'

const TODAY = '2026-11-21'

test('a written record is read again', () => {
  const record = new DigestRecord(TODAY)
  record.add('level', 'a', 'Disk')
  record.add('undelivered', '__proto__', 'Odd')
  const again = new DigestRecord('2026-11-22', record.toText())
  assert.deepEqual(again.sections(), record.sections())
  assert.deepEqual([again.since, again.isChanged], [TODAY, false])
})

test('an event counts once, also when there are more than can be named', () => {
  const record = new DigestRecord(TODAY)
  for (let n = 0; n < 5_010; n++) record.add('level', `t${n}`, 'x')
  record.add('level', 't0', 'x')
  const [section] = record.sections()
  assert.deepEqual([section?.count, section?.titles.length], [5_010, 20])
})

test('a record without new events has not changed', () => {
  const record = new DigestRecord(TODAY)
  record.add('level', 'a', 'x')
  record.markSaved()
  record.add('level', 'a', 'x')
  record.remove('level', 'another')
  assert.equal(record.isChanged, false)
  record.remove('level', 'a')
  assert.equal(record.isChanged, true)
})

test('a file with other content is an empty record', () => {
  const texts = ['', '{', '[]', 'null', '{}', '{"since":"today","unsent":{}}', '{"since":"2026-11-20"}']
  for (const text of texts) {
    const record = new DigestRecord(TODAY, text)
    assert.deepEqual([record.isEmpty, record.since], [true, TODAY], text)
  }
})

test('wrong values in a record are ignored, and titles are one line each', () => {
  const unsent = {
    level: { titles: { a: 7, b: 'two\nlines' }, more: -3 },
    test: 'x',
    budget: { titles: [], more: 1.5 },
    other: 1,
  }
  const record = new DigestRecord(TODAY, JSON.stringify({ since: TODAY, unsent }))
  assert.deepEqual(
    record.sections().map(({ count, titles }) => [count, titles]),
    [[2, ['7', 'two lines']]],
  )
})
