import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { ERROR_CODES } from '../../src/app/domains.ts'
import { fieldFault, FAULTS, type ErrorValues, type FaultCode } from '../../src/kernel/errors.ts'
import { UNEXPLAINED, UNREACHABLE } from '../api/operations.ts'
import { language, type Language } from '../i18n/language.ts'
import { describeFailure, describeFault } from './failure-words.ts'
import { FAILURES, FAULTS as FAULT_WORDS } from './platform-sentences.ts'

function speak(t: TestContext, wanted: Language) {
  const before = language.value
  language.value = wanted
  t.after(() => (language.value = before))
}

test('a fault is described by its code and values, whatever the platform says of it', (t) => {
  const reworded = { message: 'other words', path: 'name' }
  const describe = (code: FaultCode, values?: ErrorValues) =>
    describeFault({ ...fieldFault('name', code, values), ...reworded })
  assert.equal(describe('required'), 'This field is required.')
  assert.equal(describe('wrong_form', { pattern: '^/' }), 'It does not have the expected form.')
  assert.equal(describe('too_short', { minimum: 12 }), 'At least 12 characters are needed.')
  assert.equal(describe('too_short', { minimum: 1 }), 'This field is required.')
  assert.equal(describe('too_long', { maximum: 1_000 }), 'At most 1,000 characters are allowed.')
  assert.equal(describe('invalid', { reason: 'is odd' }), 'other words')
  assert.equal(describeFault({ ...reworded, code: 'constructor' }), 'other words')
  speak(t, 'zh')
  assert.equal(describe('not_in_future'), '必须是将来的时间。')
  assert.equal(describe('out_of_range', { minimum: 1, maximum: 2_000 }), '必须是 1 到 2,000 之间的整数。')
  assert.equal(describe('not_in_list', { allowed: ['admin', 'devops'] }), '只能是以下之一：admin, devops。')
})

test('the words for a fault name only values that it has', () => {
  const namesIn = (text = '') => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
  for (const [code, { en, zh }] of Object.entries(FAULT_WORDS))
    for (const name of [...namesIn(en), ...namesIn(zh)])
      assert.ok(namesIn(FAULTS[code as FaultCode]).includes(name), `${code}: ${name}`)
})

test('a failure is in the language of the reader; in English the platform says it itself where that says more', (t) => {
  const failure = { ...UNREACHABLE, code: 'order_not_found', message: 'There is no order "a-1".' }
  assert.equal(describeFailure(failure), 'There is no order "a-1".')
  assert.equal(describeFailure({ ...failure, code: 'forbidden' }), 'Your roles do not allow this.')
  speak(t, 'zh')
  assert.equal(describeFailure(failure), '没有这个订单。')
  assert.equal(describeFailure({ ...failure, code: 'constructor' }), failure.message)
  assert.equal(describeFailure({ ...failure, code: UNEXPLAINED, status: 502 }), '服务器返回状态 502。')
})

// The gateway answers these to clients of the VPN, the exchange of a sign-in to its page, and a download never asks for a range.
const NOT_IN_THE_CONSOLE = [
  'reserved_subject',
  'api_unavailable',
  'draining',
  'mirror_outdated',
  'pool_exhausted',
  'pool_overlap',
  'range_not_satisfiable',
  'upgrade_required',
]
// The form of the sign-in and the pause have words of their own.
const ELSEWHERE = ['invalid_credentials', 'rate_limited', 'sign_in_not_configured']

test('each code of the API has words, and no other code has', () => {
  const described = [...Object.keys(FAILURES), ...NOT_IN_THE_CONSOLE, ...ELSEWHERE]
  assert.deepEqual(described.toSorted(), [...Object.keys(ERROR_CODES), UNREACHABLE.code].toSorted())
})
