import type { ExecutionView } from './model.ts'
import type { PolicyChange } from './policy.ts'

/** The data of an event. */
export type CommandEventData = ExecutionView | PolicyChange

/** docs/specification.md, Events */
export const COMMAND_EVENTS = {
  requested: 'command.requested',
  decided: 'command.decided',
  finished: 'command.finished',
  policyChanged: 'command.policy_changed',
} as const

/** The object of the events of the policy. */
export const POLICY_ID = 'policy'
