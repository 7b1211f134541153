import type { AnswerOf } from '../../../api/operations.ts'

export type Policy = AnswerOf<'getCommandPolicy'>
export type PolicyRules = Policy['rules']
export type PolicyRule = PolicyRules[string]
export type ApprovalMode = NonNullable<PolicyRule['approval']>
export type PolicyPage = AnswerOf<'getCommandPolicyHistory'>

/** The policy, and the commands. */
export interface PolicyView extends Policy {
  /** All of them, with the approval that the policy requires. */
  readonly commands: readonly {
    readonly id: string
    readonly title: string
    readonly approval: ApprovalMode
  }[]
  /** The ids of rules without a command. The API refuses a policy with such a rule. */
  readonly missing: readonly string[]
}

/** A command with its rule. */
export interface CommandRule {
  readonly id: string
  /** Null if there is no such command. */
  readonly title: string | null
  /** The approval that it needs; null if there is no such command. */
  readonly approval: ApprovalMode | null
  readonly rule: PolicyRule | null
  readonly isMissing: boolean
}

export function ruleOf(rules: PolicyRules, id: string): PolicyRule | null {
  return Object.hasOwn(rules, id) ? (rules[id] ?? null) : null
}

/** The rules of the commands that exist, with one rule replaced, or removed if it is null. */
export function withRule(
  { rules, missing }: Pick<PolicyView, 'rules' | 'missing'>,
  id: string,
  rule: PolicyRule | null,
): PolicyRules {
  const others = Object.entries(rules).filter(([other]) => other !== id && !missing.includes(other))
  return { ...Object.fromEntries(others), ...(rule && { [id]: rule }) }
}

/** The commands, and the rules without a command; sorted by id. */
export function commandRules({
  rules,
  commands,
  missing,
}: Pick<PolicyView, 'rules' | 'commands' | 'missing'>): readonly CommandRule[] {
  const known = new Map(commands.map((command) => [command.id, command]))
  return [...new Set([...known.keys(), ...Object.keys(rules)])].toSorted().map((id) => ({
    id,
    title: known.get(id)?.title ?? null,
    approval: known.get(id)?.approval ?? null,
    rule: ruleOf(rules, id),
    isMissing: missing.includes(id),
  }))
}

// docs/specification.md, Commands
const DEFAULT_APPROVERS: PolicyRule['roles'] = ['admin']

/** The roles that decide on requests for a command. */
export function approversOf(rule: PolicyRule | null): PolicyRule['roles'] {
  return rule?.approvers ?? DEFAULT_APPROVERS
}

/** The rule in the values of a form, which leave out empty lists. */
export function ruleFrom({ roles = [], approvers = [], approval }: Partial<PolicyRule>): PolicyRule {
  return { roles, approvers, ...(approval && { approval }) }
}

/** How a change of the policy has changed one command. */
export interface RuleChange {
  readonly id: string
  readonly from: PolicyRule | null
  readonly to: PolicyRule | null
}

export interface PolicyChange {
  readonly revision: number
  readonly at: string
  readonly actor: string
  readonly changes: readonly RuleChange[]
}

/**
 * The changes of the policy, newest first. The oldest item of a page is left out unless the page is the last one: the page does
 * not have the policy before it.
 */
export function policyChanges({ items, next_cursor }: PolicyPage): readonly PolicyChange[] {
  const compared = next_cursor === null ? items : items.slice(0, -1)
  return compared.map(({ revision, at, actor, rules }, index) => {
    return { revision, at, actor, changes: ruleChanges(items[index + 1]?.rules ?? {}, rules) }
  })
}

function ruleChanges(before: PolicyRules, after: PolicyRules): readonly RuleChange[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .toSorted()
    .map((id) => ({ id, from: ruleOf(before, id), to: ruleOf(after, id) }))
    .filter(({ from, to }) => meaningOf(from) !== meaningOf(to))
}

/** A text that is equal for rules that allow the same. */
function meaningOf(rule: PolicyRule | null): string {
  return JSON.stringify(rule && [rule.roles.toSorted(), approversOf(rule).toSorted(), rule.approval])
}
