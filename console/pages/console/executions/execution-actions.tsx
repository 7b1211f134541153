import { useSignal } from '@preact/signals'
import { BODIES } from '../../../api/generated.ts'
import { isolateText } from '../../../i18n/isolate-text.ts'
import { confirmAction } from '../../../parts/confirm.tsx'
import { ObjectActions } from '../../../parts/object-actions.tsx'
import { ChangeDialog } from '../../../parts/resource/change-dialog.tsx'
import type { ResourceModel } from '../../../parts/resource/resource-model.ts'
import { useChange, type Changing } from '../../../parts/resource/use-change.tsx'
import { rolesText } from '../command-policy/labels.ts'
import { call } from '../platform.ts'
import { userLabel } from '../user-names.ts'
import { commandTitle, EXECUTION_TONES, paramsText, type Execution } from './model.ts'
import { isOwnRequest, mayDecide } from './requests.ts'
import { executionWords } from './words.ts'

export interface ExecutionActionsProps {
  readonly execution: Execution
  readonly model: ResourceModel<Execution>
}

type Decision = 'approve' | 'reject'

/** What the user may do with an execution. Nobody decides on an own request. */
export function ExecutionActions({ execution, model }: ExecutionActionsProps) {
  const words = executionWords()
  const decision = useSignal<Decision | null>(null)
  const { apply, applyAndReport } = useChange(model)
  const { id, status } = execution
  const approvers = execution.approvers ?? []
  const isWaiting = status === 'awaiting_approval'
  const isDecidable = mayDecide(execution)
  const decide = (chosen: Decision) => () => (decision.value = chosen)
  const cancel = async () => {
    const { cancelTitle: title, cancelText: text, cancel: action, cancelled: done } = words
    if (!(await confirmAction({ title, text, action, isDestructive: true }))) return
    await applyAndReport({ send: () => call('cancelExecution', { path: { id } }), done })
  }
  return (
    <ObjectActions
      status={{ tone: EXECUTION_TONES[status], label: words.statuses[status] }}
      actions={[
        isDecidable && { title: words.approve, run: decide('approve') },
        isDecidable && { title: words.reject, isDestructive: true, run: decide('reject') },
        (status === 'queued' || status === 'running') && {
          title: words.cancel,
          isDestructive: true,
          run: cancel,
        },
      ]}
    >
      {isWaiting && isOwnRequest(execution) && <p class="muted">{words.own}</p>}
      {isWaiting && <p class="muted">{words.deciders(rolesText(approvers))}</p>}
      {decision.value && (
        <Decide
          execution={execution}
          decision={decision.value}
          apply={apply}
          onClose={() => (decision.value = null)}
        />
      )}
    </ObjectActions>
  )
}

interface DecideProps {
  readonly execution: Execution
  readonly decision: Decision
  readonly apply: Changing<Execution>['apply']
  readonly onClose: () => void
}

function Decide({ execution, decision, apply, onClose }: DecideProps) {
  const words = executionWords()
  const { id, params, requested_by, reason } = execution
  const command = [commandTitle(execution), paramsText(params)].filter(Boolean).join(' ')
  const operation = decision === 'approve' ? 'approveExecution' : 'rejectExecution'
  return (
    <ChangeDialog
      title={words[decision]}
      text={
        decision === 'approve'
          ? words.approveText(isolateText(command), isolateText(userLabel(requested_by)), reason ?? '–')
          : words.rejectText
      }
      schema={BODIES[operation]}
      labels={{ comment: words.fields.comment }}
      action={words[decision]}
      apply={apply}
      request={(body) => call(operation, { path: { id }, body })}
      done={decision === 'approve' ? words.approved : words.rejected}
      onClose={onClose}
    />
  )
}
