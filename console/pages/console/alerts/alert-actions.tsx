import { useSignal } from '@preact/signals'
import { serverClock } from '../../../api/browser.ts'
import { BODIES } from '../../../api/generated.ts'
import { localDuration } from '../../../i18n/local.ts'
import { confirmAction } from '../../../parts/confirm.tsx'
import { ObjectActions } from '../../../parts/object-actions.tsx'
import { ChangeDialog } from '../../../parts/resource/change-dialog.tsx'
import type { ResourceModel } from '../../../parts/resource/resource-model.ts'
import { useChange } from '../../../parts/resource/use-change.tsx'
import { useResource } from '../../../parts/resource/use-resource.ts'
import { call, session } from '../platform.ts'
import { NewSilence } from '../silences/new-silence.tsx'
import { ALERT_TONES, silenceForm, type Alert, acknowledgeFor } from './model.ts'
import { alertWords } from './words.ts'

export interface AlertActionsProps {
  readonly alert: Alert
  readonly model: ResourceModel<Alert>
}

/** What the user may do about an alert in its present state. */
export function AlertActions({ alert, model }: AlertActionsProps) {
  const words = alertWords()
  const dialog = useSignal<'acknowledge' | 'silence' | null>(null)
  const { apply, applyAndReport } = useChange(model)
  const { id, status } = alert
  const close = () => (dialog.value = null)
  const recover = async () => {
    const { recoverTitle: title, recoverText: text, recover: action } = words
    if (!(await confirmAction({ title, text, action }))) return
    await applyAndReport({ send: () => call('recoverAlert', { path: { id } }), done: words.recovered })
  }
  const unfreeze = () =>
    applyAndReport({ send: () => call('unfreezeAlert', { path: { id } }), done: words.unfrozen })
  return (
    <ObjectActions
      status={{ tone: ALERT_TONES[status], label: words.statuses[status] }}
      actions={[
        status === 'firing' &&
          session.may('acknowledgeAlert') && {
            title: words.acknowledge,
            run: () => (dialog.value = 'acknowledge'),
          },
        session.may('createSilence') && { title: words.silence, run: () => (dialog.value = 'silence') },
        status !== 'recovered' && session.may('recoverAlert') && { title: words.recover, run: recover },
        status === 'frozen' && session.may('unfreezeAlert') && { title: words.unfreeze, run: unfreeze },
      ]}
    >
      {dialog.value === 'acknowledge' && <Acknowledge id={id} apply={apply} onClose={close} />}
      {dialog.value === 'silence' && (
        <NewSilence initial={silenceForm([alert], serverClock.now())} onClose={close} />
      )}
    </ObjectActions>
  )
}

interface AcknowledgeProps {
  readonly id: string
  readonly apply: ReturnType<typeof useChange<Alert>>['apply']
  readonly onClose: () => void
}

function Acknowledge({ id, apply, onClose }: AcknowledgeProps) {
  const words = alertWords()
  const { duration } = useResource(acknowledgeFor, '').value.value ?? {}
  return (
    <ChangeDialog
      title={words.acknowledge}
      text={duration === undefined ? words.heldBack : words.heldBackFor(localDuration(duration))}
      schema={BODIES.acknowledgeAlert}
      labels={{ comment: words.fields.comment }}
      action={words.acknowledge}
      apply={apply}
      request={(body) => call('acknowledgeAlert', { path: { id }, body })}
      done={words.acknowledged}
      onClose={onClose}
    />
  )
}
