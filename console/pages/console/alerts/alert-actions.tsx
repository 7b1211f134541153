import { useSignal } from '@preact/signals'
import { browserClock } from '../../../api/browser.ts'
import { BODIES } from '../../../api/generated.ts'
import type { ApiResult } from '../../../api/operations.ts'
import { confirmAction } from '../../../parts/confirm.tsx'
import { describeFailure } from '../../../parts/failure-words.ts'
import { FormDialog } from '../../../parts/form/form-dialog.tsx'
import type { ResourceModel } from '../../../parts/resource/resource-model.ts'
import { useChange } from '../../../parts/resource/use-change.tsx'
import { StatusBadge } from '../../../parts/status-badge.tsx'
import { showToast } from '../../../parts/toast.tsx'
import { call, session } from '../platform.ts'
import { NewSilence } from '../silences/new-silence.tsx'
import { ALERT_TONES, silenceOf, type Alert } from './model.ts'
import { alertWords } from './words.ts'

export interface AlertActionsProps {
  readonly alert: Alert
  readonly model: ResourceModel<Alert>
}

/** What the user may do about an alert in its present state. */
export function AlertActions({ alert, model }: AlertActionsProps) {
  const words = alertWords()
  const dialog = useSignal<'acknowledge' | 'silence' | null>(null)
  const { apply } = useChange(model)
  const { id, status } = alert
  const close = () => (dialog.value = null)
  const change = async (done: string, send: () => Promise<ApiResult<Alert>>) => {
    const failure = await apply({ send, done })
    if (failure) showToast('warning', describeFailure(failure))
  }
  const recover = async () => {
    const { recoverTitle: title, recoverText: text, recover: action } = words
    if (!(await confirmAction({ title, text, action }))) return
    await change(words.recovered, () => call('recoverAlert', { path: { id } }))
  }
  const buttons = [
    status === 'firing' &&
      session.may('acknowledgeAlert') && {
        title: words.acknowledge,
        run: () => void (dialog.value = 'acknowledge'),
      },
    status === 'frozen' &&
      session.may('unfreezeAlert') && {
        title: words.unfreeze,
        run: () => void change(words.unfrozen, () => call('unfreezeAlert', { path: { id } })),
      },
    session.may('createSilence') && { title: words.silence, run: () => void (dialog.value = 'silence') },
    status !== 'recovered' &&
      session.may('recoverAlert') && { title: words.recover, run: () => void recover() },
  ]
  return (
    <div class="actions">
      <StatusBadge tone={ALERT_TONES[status]} label={words.statuses[status]} />
      {buttons.map(
        (each) =>
          each && (
            <button key={each.title} class="button" type="button" onClick={each.run}>
              {each.title}
            </button>
          ),
      )}
      {dialog.value === 'acknowledge' && <Acknowledge id={id} apply={apply} onClose={close} />}
      {dialog.value === 'silence' && (
        <NewSilence initial={silenceOf(alert, browserClock.now())} onClose={close} />
      )}
    </div>
  )
}

interface AcknowledgeProps {
  readonly id: string
  readonly apply: ReturnType<typeof useChange<Alert>>['apply']
  readonly onClose: () => void
}

function Acknowledge({ id, apply, onClose }: AcknowledgeProps) {
  const words = alertWords()
  const send = async (body: object) => {
    const failure = await apply({
      send: () => call('acknowledgeAlert', { path: { id }, body }),
      done: words.acknowledged,
    })
    if (!failure) onClose()
    return failure
  }
  return (
    <FormDialog
      title={words.acknowledge}
      schema={BODIES.acknowledgeAlert}
      labels={{ comment: words.fields.comment }}
      action={words.acknowledge}
      send={send}
      onClose={onClose}
    />
  )
}
