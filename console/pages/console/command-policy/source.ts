import type { ApiResult } from '../../../api/operations.ts'
import type { ListSource } from '../../../parts/list/use-list.ts'
import type { ResourceSource } from '../../../parts/resource/use-resource.ts'
import { listKnownCommands } from '../command-names.ts'
import { call, live } from '../platform.ts'
import { resourceOf } from '../sources.ts'
import { commandRules, type CommandRule, type PolicyView } from './model.ts'

const PREFIX = 'command.policy_changed'
const MOST_CHANGES = 101

/** The commands with their rules. */
export const commandRuleList: ListSource<CommandRule> = {
  filters: [],
  live,
  prefix: PREFIX,
  async read(_, signal) {
    const policy = await readPolicy(signal)
    if (!policy.ok) return policy
    return { ok: true, value: { items: commandRules(policy.value), next_cursor: null }, etag: null }
  },
  keyOf: ({ id }) => id,
  fromEvent: () => 'changed',
}

/** The whole policy, with its version. */
export const policyResource: ResourceSource<PolicyView> = {
  live,
  prefix: PREFIX,
  read: (_, signal) => readPolicy(signal),
}

async function readPolicy(signal: AbortSignal): Promise<ApiResult<PolicyView>> {
  const [policy, listed] = await Promise.all([
    call('getCommandPolicy', {}, signal),
    listKnownCommands(signal),
  ])
  if (!policy.ok) return policy
  if (!listed.ok) return listed
  const commands = listed.value.items
  const known = new Set(commands.map(({ id }) => id))
  const missing = Object.keys(policy.value.rules).filter((id) => !known.has(id))
  return { ...policy, value: { ...policy.value, commands, missing } }
}

/** The latest changes of the policy. */
export const policyHistory = resourceOf('getCommandPolicyHistory', PREFIX, () => ({
  query: { limit: MOST_CHANGES },
}))
