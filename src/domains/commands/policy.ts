import type { ApprovalMode, Command } from '../../kernel/command.ts'
import { hasRole, type Identity, type Role } from '../../kernel/identity.ts'

/** Who may run a command. */
export interface PolicyRule {
  readonly roles: readonly Role[]
  /** Who may decide on its requests; admin when left out. */
  readonly approvers?: readonly Role[]
  /** Replaces that of the command. */
  readonly approval?: ApprovalMode
}

/** The rules of all commands. */
export interface Policy {
  /** Raised by each change; the ETag on the wire. */
  readonly revision: number
  /** By the id of the command. */
  readonly rules: Readonly<Record<string, PolicyRule>>
}

/** One change of the policy. */
export interface PolicyChange extends Policy {
  readonly at: number
  readonly actor: string
}

export const FIRST_POLICY: Policy = { revision: 1, rules: {} }

// docs/specification.md, Commands: a command without a rule is for admins
const WITHOUT_RULE: PolicyRule = { roles: ['admin'] }
const DEFAULT_APPROVERS: readonly Role[] = ['admin']

type Caller = Pick<Identity, 'id' | 'roles'>
type Requested = { readonly requestedBy: string }

function ruleOf({ rules }: Policy, commandId: string): PolicyRule {
  return Object.hasOwn(rules, commandId) ? (rules[commandId] ?? WITHOUT_RULE) : WITHOUT_RULE
}

/** Whether a caller with these roles may run the command. */
export function mayRun(policy: Policy, commandId: string, { roles }: Pick<Caller, 'roles'>): boolean {
  return ruleOf(policy, commandId).roles.some((role) => roles.includes(role))
}

/** Whether a caller may decide on requests for the command, except for its own. */
export function mayDecide(policy: Policy, commandId: string, { roles }: Pick<Caller, 'roles'>): boolean {
  return approversOf(policy, commandId).some((role) => roles.includes(role))
}

export function isOwnRequest({ requestedBy }: Requested, { id }: Pick<Caller, 'id'>): boolean {
  return requestedBy === id
}

export function mayCancel(
  policy: Policy,
  execution: Requested & { commandId: string },
  caller: Caller,
): boolean {
  return isOwnRequest(execution, caller) || mayRun(policy, execution.commandId, caller)
}

/** Admins and auditors read all executions; others read what they may run or decide, and their own. */
export function mayReadAll(caller: Caller & Identity): boolean {
  return hasRole(caller, ['admin', 'auditor'])
}

export function mayRead(
  policy: Policy,
  execution: Requested & { commandId: string },
  caller: Identity,
): boolean {
  return (
    mayReadAll(caller) ||
    mayCancel(policy, execution, caller) ||
    mayDecide(policy, execution.commandId, caller)
  )
}

export function approvalOf(policy: Policy, command: Pick<Command, 'id' | 'approval'>): ApprovalMode {
  return ruleOf(policy, command.id).approval ?? command.approval
}

/** The roles that decide on requests for the command. */
export function approversOf(policy: Policy, commandId: string): readonly Role[] {
  return ruleOf(policy, commandId).approvers ?? DEFAULT_APPROVERS
}

/** Whether an account may run a command, and why. */
export interface AccessExplanation {
  readonly allowed: boolean
  /** One sentence for people. */
  readonly because: string
  /** The rule of the command, with the revision of its policy; null when there is none, so that only admin may run it. */
  readonly rule: { readonly revision: number; readonly roles: readonly Role[] } | null
  readonly user: CommandAccount
}

export interface CommandAccount {
  readonly name?: string
  readonly roles: readonly Role[]
  readonly enabled: boolean
}

/**
 * The roles by which somebody is judged after a request or a decision. `account` is undefined if it is no user: a caller with
 * trusted headers keeps the roles of then, and a user who was deleted has none.
 */
export function presentRoles(
  account: CommandAccount | undefined,
  rolesThen: readonly Role[] | null | undefined,
): Pick<Caller, 'roles'> {
  if (!account) return { roles: rolesThen ?? [] }
  return { roles: account.enabled ? account.roles : [] }
}

export function explainAccess(policy: Policy, commandId: string, account: CommandAccount): AccessExplanation {
  const { roles } = ruleOf(policy, commandId)
  const rule = Object.hasOwn(policy.rules, commandId) ? { revision: policy.revision, roles } : null
  const allowed = account.enabled && roles.some((role) => account.roles.includes(role))
  return { allowed, because: sentenceOf(rule, account), rule, user: account }
}

function sentenceOf(rule: AccessExplanation['rule'], { enabled, roles }: CommandAccount): string {
  if (!enabled) return 'The user is disabled.'
  const allows = rule
    ? `The rule of revision ${rule.revision} allows ${listOf(rule.roles)}`
    : 'There is no rule for this command, so only admin may run it'
  return `${allows}; the user has ${listOf(roles)}.`
}

function listOf(roles: readonly Role[]): string {
  return roles.length === 0 ? 'no role' : roles.join(', ')
}
