import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commandRules, policyChanges, ruleFrom, withRule, type PolicyRules } from './model.ts'

const change = (revision: number, rules: PolicyRules) => {
  return { revision, at: `2026-01-0${revision}T00:00:00Z`, actor: 'ada', rules }
}

test('the list has the commands and the rules without a command', () => {
  const rules = { b: { roles: ['devops'] }, hidden: { roles: [] } } as const
  assert.deepEqual(
    commandRules({
      rules,
      commands: [
        { id: 'constructor', title: 'C', approval: 'none' },
        { id: 'b', title: 'B', approval: 'two_person' },
      ],
      missing: ['hidden'],
    }),
    [
      { id: 'b', title: 'B', approval: 'two_person', rule: rules.b, isMissing: false },
      { id: 'constructor', title: 'C', approval: 'none', rule: null, isMissing: false },
      { id: 'hidden', title: null, approval: null, rule: rules.hidden, isMissing: true },
    ],
  )
})

test('a rule is set and removed without a change of the others', () => {
  const rules = { a: { roles: ['admin'] }, b: { roles: ['devops'] } } as const
  assert.deepEqual(withRule({ rules, missing: [] }, 'a', { roles: [] }), { b: rules.b, a: { roles: [] } })
  assert.deepEqual(withRule({ rules, missing: [] }, 'a', null), { b: rules.b })
})

test('a change leaves out the rules without a command', () => {
  const rules = { a: { roles: ['admin'] }, gone: { roles: ['devops'] }, lost: { roles: [] } } as const
  const policy = { rules, missing: ['gone', 'lost'] }
  assert.deepEqual(withRule(policy, 'b', { roles: [] }), { a: rules.a, b: { roles: [] } })
  assert.deepEqual(withRule(policy, 'gone', null), { a: rules.a })
})

test('a list of roles without a role is empty, not missing', () => {
  assert.deepEqual(ruleFrom({}), { roles: [], approvers: [] })
  assert.deepEqual(ruleFrom({ roles: ['admin'], approval: 'none' }), {
    roles: ['admin'],
    approvers: [],
    approval: 'none',
  })
})

test('each change of the policy is compared with the one before it', () => {
  const a = { roles: ['devops'] } as const
  const b = { roles: ['admin'] } as const
  const sameAsB = { roles: ['admin'], approvers: ['admin'] } as const
  const items = [change(4, { b: sameAsB }), change(3, { b }), change(2, { a, b }), change(1, { a })]
  const of = (next_cursor: string | null) =>
    policyChanges({ items, next_cursor }).map(({ changes }) => changes)
  const [third, second, first] = [
    [{ id: 'a', from: a, to: null }],
    [{ id: 'b', from: null, to: b }],
    [{ id: 'a', from: null, to: a }],
  ]
  assert.deepEqual(of(null), [[], third, second, first])
  assert.deepEqual(of('more'), [[], third, second])
})
