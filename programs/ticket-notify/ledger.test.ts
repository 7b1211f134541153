import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLedger, parseLedger } from './ledger.ts'

const TODAY = '2026-11-21'

test('what was written is read again', () => {
  const ledger = createLedger(TODAY)
  ledger.add('level', 'a', 'Disk')
  ledger.add('unheard', '__proto__', 'Odd')
  const again = createLedger(TODAY, parseLedger(JSON.stringify(ledger.data())))
  assert.deepEqual(again.pages(), ledger.pages())
  assert.equal(again.changed, false)
})

test('the same occasion counts once, also when there are more than can be named', () => {
  const ledger = createLedger(TODAY)
  for (let n = 0; n < 5_010; n++) ledger.add('level', `t${n}`, 'x')
  ledger.add('level', 't0', 'x')
  const [page] = ledger.pages()
  assert.deepEqual([page?.count, page?.titles.length], [5_010, 20])
})

test('an account with nothing new in it has not changed, and need not be written', () => {
  const ledger = createLedger(TODAY)
  ledger.add('level', 'a', 'x')
  ledger.markSaved()
  ledger.add('level', 'a', 'x')
  ledger.strike('level', 'another')
  assert.equal(ledger.changed, false)
  ledger.strike('level', 'a')
  assert.equal(ledger.changed, true)
})

test('a file that holds anything else is no account', () => {
  for (const text of [
    '',
    '{',
    '[]',
    'null',
    '{}',
    '{"since":"today","untold":{}}',
    '{"since":"2026-11-21"}',
  ]) {
    assert.equal(parseLedger(text), undefined, text)
  }
})

test('what is wrong inside of an account is left out', () => {
  const untold = {
    level: { titles: { a: 7 }, more: -3 },
    test: 'x',
    budget: { titles: [], more: 1.5 },
    other: 1,
  }
  const ledger = createLedger(TODAY, parseLedger(JSON.stringify({ since: TODAY, untold })))
  assert.deepEqual(
    ledger.pages().map(({ count, titles }) => [count, titles]),
    [[1, ['7']]],
  )
})
