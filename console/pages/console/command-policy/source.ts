import type { ListSource } from '../../../parts/list/use-list.ts'
import type { ResourceSource } from '../../../parts/resource/use-resource.ts'
import { call, live } from '../platform.ts'
import { commandRules, type CommandRule, type Policy, type PolicyPage } from './model.ts'

// The policy has no events.
const PREFIX = 'command-policy.'
const MOST_COMMANDS = 1_000
const MOST_CHANGES = 101

/** The commands with their rules. */
export const commandRuleList: ListSource<CommandRule> = {
  filters: [],
  live,
  prefix: PREFIX,
  async read(_, signal) {
    const [policy, commands] = await Promise.all([
      call('getCommandPolicy', {}, signal),
      call('listCommands', { query: { limit: MOST_COMMANDS } }, signal),
    ])
    if (!policy.ok) return policy
    if (!commands.ok) return commands
    const items = commandRules(policy.value.rules, commands.value.items)
    return { ok: true, value: { items, next_cursor: null }, etag: null }
  },
  keyOf: ({ id }) => id,
  fromEvent: () => null,
}

/** The whole policy, with its version. */
export const policyResource: ResourceSource<Policy> = {
  live,
  prefix: PREFIX,
  read: (_, signal) => call('getCommandPolicy', {}, signal),
  isAbout: () => false,
}

/** The latest changes of the policy. */
export const policyHistory: ResourceSource<PolicyPage> = {
  ...policyResource,
  read: (_, signal) => call('getCommandPolicyHistory', { query: { limit: MOST_CHANGES } }, signal),
}
