import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { ERROR_CODES } from '../../src/app/domains.ts'
import { explainAccess } from '../../src/domains/commands/policy.ts'
import type { Role } from '../../src/kernel/identity.ts'
import { UNEXPLAINED, UNREACHABLE } from '../api/operations.ts'
import { language, type Language } from '../i18n/language.ts'
import { describeAccess, describeFailure, describeFault } from './failure-words.ts'
import { FAILURES } from './platform-sentences.ts'

function speak(t: TestContext, wanted: Language) {
  const before = language.value
  language.value = wanted
  t.after(() => (language.value = before))
}

test('a fault that the platform often answers is described for people, another one in its own words', () => {
  assert.equal(describeFault('is required'), 'This field is required.')
  assert.equal(describeFault('must match pattern "^/"'), 'It does not have the expected form.')
  assert.equal(describeFault('must not have fewer than 12 characters'), 'At least 12 characters are needed.')
  assert.equal(
    describeFault('must not have more than 1000 characters'),
    'At most 1,000 characters are allowed.',
  )
  assert.equal(
    describeFault('must have at least 5 different characters'),
    'At least 5 different characters are needed.',
  )
  assert.equal(describeFault('is the name of another menu'), 'is the name of another menu')
  assert.equal(describeFault(undefined), undefined)
})

test('a fault is in the language of the reader', (t) => {
  speak(t, 'zh')
  assert.equal(describeFault('must be in the future'), '必须是将来的时间。')
  assert.equal(describeFault('must be an integer from 1 to 2000'), '必须是 1 到 2,000 之间的整数。')
  assert.equal(describeFault('must be one of admin, devops'), '只能是以下之一：admin, devops。')
})

test('why a user may run a command is in the language of the reader', (t) => {
  const rules = { x: { roles: ['devops'] as const }, none: { roles: [] } }
  const policy = { revision: 6, rules }
  const because = (command: string, ...own: readonly Role[]) =>
    describeAccess(explainAccess(policy, command, { roles: own, enabled: true }).because)
  assert.equal(because('x', 'auditor'), 'The rule of revision 6 allows devops; the user has auditor.')
  speak(t, 'zh')
  assert.equal(because('x', 'auditor'), '修订版 6 的规则允许 devops；该用户拥有 auditor。')
  assert.equal(because('x', 'devops'), '修订版 6 的规则允许 devops；该用户拥有角色 devops。')
  assert.equal(because('none'), '修订版 6 的规则不允许任何角色；该用户没有角色。')
  assert.equal(because('other'), '此命令没有规则，因此只有 admin 可以运行；该用户没有角色。')
  assert.equal(describeAccess('The user is disabled.'), '该用户已停用。')
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
