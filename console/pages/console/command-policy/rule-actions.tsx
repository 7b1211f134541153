import { useSignal } from '@preact/signals'
import { BODIES } from '../../../api/generated.ts'
import { confirmAction } from '../../../parts/confirm.tsx'
import { FormDialog } from '../../../parts/form/form-dialog.tsx'
import { ObjectActions } from '../../../parts/object-actions.tsx'
import type { ResourceModel } from '../../../parts/resource/resource-model.ts'
import { useChange, type Change } from '../../../parts/resource/use-change.tsx'
import { call, session } from '../platform.ts'
import { ruleText, ruleValueLabel } from './labels.ts'
import { approversOf, ruleFrom, ruleOf, withRule, type PolicyView, type PolicyRule } from './model.ts'
import { commandPolicyWords } from './words.ts'

export interface RuleActionsProps {
  /** Id of the command. */
  readonly id: string
  readonly policy: PolicyView
  readonly model: ResourceModel<PolicyView>
}

/** Sets or removes the rule of a command. The other rules stay as they are in the current policy. */
export function RuleActions({ id, policy, model }: RuleActionsProps) {
  const words = commandPolicyWords()
  const { rules, missing } = policy
  const rule = ruleOf(rules, id)
  const isMissing = missing.includes(id)
  const edited = useSignal<EditedRule | null>(null)
  const { apply, applyAndReport, conflict } = useChange(model)
  const close = () => (edited.value = null)
  const changeTo = (wanted: PolicyRule | null): Change<PolicyView> => ({
    async send(ifMatch) {
      const shown = model.value.peek() ?? policy
      const result = await call('setCommandPolicy', { body: { rules: withRule(shown, id, wanted) }, ifMatch })
      return result.ok ? { ...result, value: { ...shown, ...result.value, missing: [] } } : result
    },
    done: words.saved,
    compare: (current) => [
      { name: id, yours: ruleText(wanted), theirs: ruleText(ruleOf(current.rules, id)) },
    ],
  })
  const remove = async () => {
    const { remove: action } = words
    const text = isMissing ? words.missing(missing.join(', ')) : words.removeText
    if (!(await confirmAction({ title: words.removeTitle(id), text, action, isDestructive: true }))) return
    await applyAndReport(changeTo(null))
  }
  const save = async (body: object) => {
    const { rule: before, etag } = edited.peek() ?? { rule, etag: model.etag }
    const fits = ({ rules: current }: PolicyView) => ruleText(ruleOf(current, id)) === ruleText(before)
    const failure = await apply({ ...changeTo(ruleFrom(body)), fits }, etag)
    if (!failure) close()
    return failure
  }
  if (!session.may('setCommandPolicy')) return null
  return (
    <ObjectActions
      actions={[
        !isMissing && {
          title: rule ? words.editRule : words.createRule,
          run: () => (edited.value = { rule, etag: model.etag }),
        },
        rule !== null && { title: words.remove, isDestructive: true, run: remove },
      ]}
    >
      {edited.value && <RuleDialog id={id} rule={edited.value.rule} send={save} onClose={close} />}
      {missing.length > 0 && <p class="hint">{words.missing(missing.join(', '))}</p>}
      {conflict}
    </ObjectActions>
  )
}

/** The rule as it was when its form was opened. */
interface EditedRule {
  readonly rule: PolicyRule | null
  readonly etag: string | null
}

// A rule without roles is possible: then nobody may run the command.
const RULE_SCHEMA = { ...BODIES.setCommandPolicy.properties.rules.additionalProperties, required: [] }

interface RuleDialogProps {
  readonly id: string
  readonly rule: PolicyRule | null
  readonly send: (body: object) => ReturnType<ReturnType<typeof useChange<PolicyView>>['apply']>
  readonly onClose: () => void
}

function RuleDialog({ id, rule, send, onClose }: RuleDialogProps) {
  const { fields, hints, createRule, editRule, save } = commandPolicyWords()
  const { roles, approvers, approval } = fields
  return (
    <FormDialog
      title={`${rule ? editRule : createRule}: ${id}`}
      schema={RULE_SCHEMA}
      labels={{ roles, approvers, approval }}
      hints={hints}
      labelOf={ruleValueLabel}
      unsetLabels={{ approval: commandPolicyWords().asCommand }}
      initial={{
        roles: (rule?.roles ?? ['admin']).join(','),
        approvers: approversOf(rule).join(','),
        approval: rule?.approval ?? '',
      }}
      action={save}
      send={send}
      onClose={onClose}
    />
  )
}
