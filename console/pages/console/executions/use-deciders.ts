import { useResource, type ResourceSource } from '../../../parts/resource/use-resource.ts'
import { approversOf, ruleOf, type PolicyRule, type PolicyRules } from '../command-policy/model.ts'
import { call, live, session } from '../platform.ts'

/** Null for a user who may not read the policy. */
interface KnownRules {
  readonly rules: PolicyRules | null
}

const rulesResource: ResourceSource<KnownRules> = {
  live,
  // The policy has no events.
  prefix: 'command-policy.',
  isAbout: () => false,
  async read(_, signal) {
    if (!session.may('getCommandPolicy')) return { ok: true, value: { rules: null }, etag: null }
    return call('getCommandPolicy', {}, signal)
  },
}

export interface Deciders {
  /** The roles that decide on requests for the command; null if the user may not know them. */
  readonly roles: PolicyRule['roles'] | null
  /** Whether the user may try: the API has the last word. */
  readonly includesUser: boolean
}

/** Who decides on requests for a command; null until that is read. */
export function useDeciders(commandId: string): Deciders | null {
  const known = useResource(rulesResource, '').value.value
  if (known === null) return null
  if (known.rules === null) return { roles: null, includesUser: true }
  const roles = approversOf(ruleOf(known.rules, commandId))
  const own = session.bearer.value?.roles ?? []
  return { roles, includesUser: roles.some((role) => own.includes(role)) }
}
