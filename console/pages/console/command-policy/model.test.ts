import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commandRules, policyChanges, ruleFrom, withRule } from './model.ts'

const change = (revision: number, rules: Parameters<typeof withRule>[0]) => {
  return { revision, at: `2026-01-0${revision}T00:00:00Z`, actor: 'ada', rules }
}

test('the commands that the user may run stand beside those that have a rule', () => {
  const rules = { b: { roles: ['devops'] }, hidden: { roles: [] } } as const
  assert.deepEqual(
    commandRules(rules, [
      { id: 'constructor', title: 'C' },
      { id: 'b', title: 'B' },
    ]),
    [
      { id: 'b', title: 'B', rule: rules.b },
      { id: 'constructor', title: 'C', rule: null },
      { id: 'hidden', title: null, rule: rules.hidden },
    ],
  )
})

test('a rule is set and removed without a change of the others', () => {
  const rules = { a: { roles: ['admin'] }, b: { roles: ['devops'] } } as const
  assert.deepEqual(withRule(rules, 'a', { roles: [] }), { b: rules.b, a: { roles: [] } })
  assert.deepEqual(withRule(rules, 'a', null), { b: rules.b })
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
