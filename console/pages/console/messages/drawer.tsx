import { useEffect, useRef } from 'preact/hooks'
import { localNumber, localTime } from '../../../i18n/local.ts'
import { FactList } from '../../../parts/facts.tsx'
import { JsonView } from '../../../parts/json-view.tsx'
import { useListRefresh } from '../../../parts/list/list-refresh.ts'
import { ObjectActions } from '../../../parts/object-actions.tsx'
import { ResourceDrawer } from '../../../parts/resource/resource-drawer.tsx'
import type { ResourceModel } from '../../../parts/resource/resource-model.ts'
import { useChange } from '../../../parts/resource/use-change.tsx'
import { useResource } from '../../../parts/resource/use-resource.ts'
import { Section } from '../../../parts/section.tsx'
import { useQuietReading } from '../../../parts/use-quiet-reading.ts'
import { showToast } from '../../../parts/toast.tsx'
import { call, session } from '../platform.ts'
import { pathOf } from '../view.ts'
import { isWaiting, MESSAGE_TONES, type Message } from './model.ts'
import { alertOfMessage, messageResource } from './source.ts'
import { messageWords } from './words.ts'

export interface MessageDrawerProps {
  readonly id: string
  readonly onClose: () => void
}

/** One message with what it carries; a dead one can be sent again. */
export function MessageDrawer({ id, onClose }: MessageDrawerProps) {
  const { payload } = messageWords()
  const model = useResource(messageResource, id)
  useQuietReading(model, {
    isUnsettled() {
      const message = model.value.peek()
      return message !== null && isWaiting(message)
    },
    read: () => model.refresh(),
    failure: model.failure,
  })
  useListFollows(model)
  useDeathToast(model)
  return (
    <ResourceDrawer id={id} model={model} titleOf={({ subject }) => subject} onClose={onClose}>
      {(message) => (
        <>
          <MessageActions message={message} model={model} />
          <AlertLink message={message} />
          <MessageFacts message={message} />
          <Section title={payload}>
            <JsonView label={payload} value={message.payload} />
          </Section>
        </>
      )}
    </ResourceDrawer>
  )
}

/** Reads the list again when the message beside it has another status: that has no event. */
function useListFollows({ value }: ResourceModel<Message>): void {
  const refreshList = useListRefresh()
  const status = value.value?.status
  const shown = useRef(status)
  useEffect(() => {
    if (shown.current !== undefined && shown.current !== status) refreshList()
    shown.current = status
  }, [status])
}

/** Says that the message which is shown has died; its status alone changes without a word. */
function useDeathToast({ value }: ResourceModel<Message>): void {
  const status = value.value?.status
  const shown = useRef(status)
  useEffect(() => {
    if (shown.current === 'pending' && status === 'dead') showToast('warning', messageWords().died)
    shown.current = status
  }, [status])
}

/** Leads to the alert about a dead message. */
function AlertLink({ message: { id, status } }: { readonly message: Message }) {
  if (status !== 'dead' || !session.may('listAlerts')) return null
  return <KnownAlertLink id={id} />
}

function KnownAlertLink({ id }: { readonly id: string }) {
  const { alert } = messageWords()
  const alertId = useResource(alertOfMessage, id).value.value?.alertId ?? null
  if (alertId === null) return null
  return (
    <a class="button" href={`${pathOf({ name: 'alerts' })}/${encodeURIComponent(alertId)}`}>
      {alert}
    </a>
  )
}

interface MessageActionsProps {
  readonly message: Message
  readonly model: ResourceModel<Message>
}

function MessageActions({ message: { id, status }, model }: MessageActionsProps) {
  const words = messageWords()
  const { applyAndReport } = useChange(model)
  const redrive = () =>
    applyAndReport({ send: () => call('redriveMessage', { path: { id } }), done: words.redriven })
  return (
    <ObjectActions
      status={{ tone: MESSAGE_TONES[status], label: words.statuses[status] }}
      actions={[status === 'dead' && session.may('redriveMessage') && { title: words.redrive, run: redrive }]}
    />
  )
}

function MessageFacts({ message }: { readonly message: Message }) {
  const { fields, reasons } = messageWords()
  const { delivered_at, last_error, cause } = message
  return (
    <FactList
      facts={[
        [fields.id, message.id],
        [fields.attempts, localNumber(message.attempts)],
        [fields.reason, cause && reasons[cause.code]],
        [fields.last_error, last_error],
        [fields.created_at, localTime(message.created_at)],
        [fields.delivered_at, delivered_at && localTime(delivered_at)],
        ...Object.entries(message.headers),
      ]}
    />
  )
}
