import { FactList } from '../../../parts/facts.tsx'
import { addressOf } from '../../../parts/list/list-query.ts'
import { ResourceDrawer } from '../../../parts/resource/resource-drawer.tsx'
import { useResource } from '../../../parts/resource/use-resource.ts'
import { pathOf } from '../view.ts'
import { AccessCheck } from './access-check.tsx'
import { approvalText, rolesText } from './labels.ts'
import { approversOf, ruleOf, type CommandRule, type PolicyView } from './model.ts'
import { RuleActions } from './rule-actions.tsx'
import { policyResource } from './source.ts'
import { commandPolicyWords } from './words.ts'

export interface CommandRuleDrawerProps {
  readonly command: CommandRule
  readonly onClose: () => void
}

/** The rule of one command, and whom it allows to run the command. */
export function CommandRuleDrawer({ command: { id, title }, onClose }: CommandRuleDrawerProps) {
  const words = commandPolicyWords()
  const model = useResource(policyResource, '')
  return (
    <ResourceDrawer id={id} model={model} titleOf={() => title ?? id} onClose={onClose}>
      {(policy) => (
        <>
          <RuleActions id={id} policy={policy} model={model} />
          <RuleFacts id={id} policy={policy} />
          {!policy.missing.includes(id) && <AccessCheck key={policy.revision} id={id} />}
          <p>
            <a href={addressOf(pathOf({ name: 'executions' }), { command_id: id })}>{words.executions}</a>
          </p>
        </>
      )}
    </ResourceDrawer>
  )
}

interface RuleFactsProps {
  readonly id: string
  readonly policy: PolicyView
}

function RuleFacts({ id, policy: { rules, commands } }: RuleFactsProps) {
  const { fields, hasNoRule } = commandPolicyWords()
  const rule = ruleOf(rules, id)
  const command = commands.find((each) => each.id === id)
  return (
    <FactList
      facts={[
        [fields.id, id],
        [fields.roles, rule ? rolesText(rule.roles) : hasNoRule],
        [fields.approvers, rolesText(approversOf(rule))],
        [fields.approval, approvalText(rule, command?.approval)],
      ]}
    />
  )
}
