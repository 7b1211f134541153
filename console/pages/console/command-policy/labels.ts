import { commandWords } from '../commands/words.ts'
import { roleLabel } from '../users/words.ts'
import { approversOf, type ApprovalMode, type PolicyRule } from './model.ts'
import { commandPolicyWords } from './words.ts'

export function rolesText(roles: PolicyRule['roles']): string {
  return roles.length === 0 ? commandPolicyWords().nobody : roles.map(roleLabel).join(', ')
}

/** The approval that a rule requires; without a rule, that of the command (`ofCommand`), if it is known. */
export function approvalText(rule: PolicyRule | null, ofCommand?: ApprovalMode): string {
  const { approvals } = commandWords()
  const { asCommand } = commandPolicyWords()
  if (rule?.approval) return approvals[rule.approval]
  return ofCommand ? `${approvals[ofCommand]} (${asCommand})` : asCommand
}

/** The words for a value in the form of a rule. */
export function ruleValueLabel(field: string, value: string): string {
  const { approvals } = commandWords()
  if (field === 'approval' && value in approvals) return approvals[value as keyof typeof approvals]
  return roleLabel(value)
}

/** A rule in one line. */
export function ruleText(rule: PolicyRule | null): string {
  const words = commandPolicyWords()
  if (!rule) return words.noRule
  const { approval } = rule
  return [
    rolesText(rule.roles),
    words.approvedBy(rolesText(approversOf(rule))),
    approval && `${words.fields.approval}: ${commandWords().approvals[approval]}`,
  ]
    .filter(Boolean)
    .join(' · ')
}
