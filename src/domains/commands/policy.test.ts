import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ROLES, type Role } from '../../kernel/identity.ts'
import { EXECUTION_MOVES, EXECUTION_STATUSES, isFinal } from './model.ts'
import {
  approvalOf,
  explainAccess,
  FIRST_POLICY,
  isOwnRequest,
  mayCancel,
  mayDecide,
  mayRead,
  mayRun,
  type Policy,
  type PolicyRule,
} from './policy.ts'

const policyOf = (rule?: PolicyRule): Policy =>
  rule ? { revision: 2, rules: { restart: rule } } : FIRST_POLICY

/** For each rule: who may run the command, and who may decide on its requests. Written by hand. */
const TABLE: readonly (readonly [
  rule: PolicyRule | undefined,
  run: readonly Role[],
  decide: readonly Role[],
])[] = [
  [undefined, ['admin'], ['admin']],
  [{ roles: [] }, [], ['admin']],
  [{ roles: ['devops'] }, ['devops'], ['admin']],
  [{ roles: ['admin', 'devops'] }, ['admin', 'devops'], ['admin']],
  [{ roles: ['service'], approvers: ['devops'] }, ['service'], ['devops']],
  [{ roles: ['auditor'], approvers: [] }, ['auditor'], []],
  [{ roles: [...ROLES], approvers: [...ROLES] }, ROLES, ROLES],
]

for (const [rule, run, decide] of TABLE) {
  describe(`the rule ${JSON.stringify(rule) ?? 'that is missing'}`, () => {
    const policy = policyOf(rule)
    for (const role of ROLES) {
      test(`for ${role}`, () => {
        const me = { id: 'me', name: 'me', roles: [role], via: 'token' } as const
        const others = { commandId: 'restart', requestedBy: 'other' }
        const own = { ...others, requestedBy: 'me' }
        const [mayRunIt, mayDecideIt] = [run.includes(role), decide.includes(role)]
        assert.equal(mayRun(policy, 'restart', me), mayRunIt)
        assert.equal(mayDecide(policy, 'restart', me), mayDecideIt)
        assert.equal(mayCancel(policy, others, me), mayRunIt)
        assert.equal(mayCancel(policy, own, me), true)
        assert.equal(mayRead(policy, own, me), true)
        const readsAll = role === 'admin' || role === 'auditor'
        assert.equal(mayRead(policy, others, me), readsAll || mayRunIt || mayDecideIt)
        assert.deepEqual([isOwnRequest(own, me), isOwnRequest(others, me)], [true, false])
        const { allowed, because } = explainAccess(policy, 'restart', { roles: [role], enabled: true })
        assert.equal(allowed, mayRunIt)
        assert.match(because, rule ? /revision 2/ : /no rule/)
        assert.ok(because.includes(role), because)
      })
    }

    test('for a disabled user, and for one without roles', () => {
      assert.equal(explainAccess(policy, 'restart', { roles: [...ROLES], enabled: false }).allowed, false)
      assert.equal(explainAccess(policy, 'restart', { roles: [], enabled: true }).allowed, false)
    })
  })
}

test('a rule replaces the approval of the command, in either direction', () => {
  const command = { id: 'restart', approval: 'two_person' } as const
  assert.equal(approvalOf(FIRST_POLICY, command), 'two_person')
  assert.equal(approvalOf(policyOf({ roles: [], approval: 'none' }), command), 'none')
  assert.equal(
    approvalOf(policyOf({ roles: [], approval: 'two_person' }), { ...command, approval: 'none' }),
    'two_person',
  )
})

test('a command that is named like a member of every object has no rule', () => {
  assert.equal(mayRun(FIRST_POLICY, 'constructor', { roles: ['devops'] }), false)
  assert.equal(approvalOf(FIRST_POLICY, { id: 'toString', approval: 'none' }), 'none')
})

test('the moves of an execution are those of the specification', () => {
  const unfinished = EXECUTION_STATUSES.filter((status) => !isFinal(status))
  assert.deepEqual(Object.fromEntries(unfinished.map((status) => [status, EXECUTION_MOVES[status]])), {
    awaiting_approval: ['queued', 'rejected', 'expired'],
    queued: ['running', 'cancelled'],
    running: ['succeeded', 'failed', 'timed_out', 'cancelled', 'incomplete'],
  })
})
