import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pathAt, scanJson } from './json-scan.ts'

test('numbers that a double does not represent are found, and no others', () => {
  const lost = [
    '9007199254740992',
    '12345678901234567',
    '-9007199254740993',
    '1e309',
    '1E+1000',
    '-17e9999',
    '2.5e308',
  ]
  const kept = [
    '9007199254740991',
    '-9007199254740991',
    '1e21',
    '1e308',
    '5e-324',
    '1e-9999',
    '0.1234567890123456789',
    '1.5e300',
  ]
  for (const number of lost)
    assert.equal(scanJson(`[0,"${number}",${number}]`).lostAt !== undefined, true, number)
  for (const number of kept) assert.equal(scanJson(`[0,"${lost[0]}",${number}]`).lostAt, undefined, number)
})

test('the path to a number is read from the text', () => {
  const texts = {
    '12345678901234567': [],
    '[1,[2,{"a":[]},12345678901234567]]': ['1', '2'],
    '{"a":{"x":1},"b\\u0020\\"]":[{"c,":"}","d":[[],12345678901234567]}]}': ['b "]', '0', 'd', '1'],
    '{ "a" : [ 1 , { "b" : 12345678901234567 } ] }': ['a', '1', 'b'],
  }
  for (const [text, path] of Object.entries(texts))
    assert.deepEqual(pathAt(text, scanJson(text).lostAt ?? 0), path, text)
})

test('members and depth are those of the value', () => {
  const text = '{"a":"{[:","b\\\\":[[{"c":{}}]],"d":"\\\\\\"","e":[]}'
  assert.deepEqual(scanJson(text), { members: 5, mostMembers: 4, depth: 5, lostAt: undefined })
})

test('members are counted of each object alone', () => {
  for (const [text, most] of [
    ['[{"a":1,"b":2},{"a":{"x":1},"b":2,"c":3},{}]', 3],
    ['{"a":{"x":1,"y":2,"z":3},"b":1}', 3],
    ['{"a":{"x":1},"b":{"x":1},"c":{"x":1}}', 3],
    ['[1,[2]]', 0],
  ] as const)
    assert.equal(scanJson(text).mostMembers, most, text)
})

test('a text that is not valid is read to its end', () => {
  for (const text of ['{"a', '"\\', '{"a":"\\"', ']]}{"a":1', '[{', '12345678901234567', ':::'])
    assert.ok(scanJson(text).members <= 3, text)
})
