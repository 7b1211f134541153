import { useEffect, useRef } from 'preact/hooks'
import type { AnswerOf } from '../../../api/operations.ts'
import { localNumber, localTime } from '../../../i18n/local.ts'
import { FactList } from '../../../parts/facts.tsx'
import { fieldColumns } from '../../../parts/list/columns.tsx'
import type { TableColumn } from '../../../parts/list/data-table.tsx'
import type { ListFilter } from '../../../parts/list/list-query.ts'
import { useListRefresh } from '../../../parts/list/list-refresh.ts'
import { ObjectsPage } from '../../../parts/list/objects-page.tsx'
import { ObjectActions } from '../../../parts/object-actions.tsx'
import { ResourceDrawer } from '../../../parts/resource/resource-drawer.tsx'
import type { ResourceModel } from '../../../parts/resource/resource-model.ts'
import { useChange } from '../../../parts/resource/use-change.tsx'
import { useResource, type ResourceSource } from '../../../parts/resource/use-resource.ts'
import { Section } from '../../../parts/section.tsx'
import type { Tone } from '../../../parts/status-badge.tsx'
import { showToast } from '../../../parts/toast.tsx'
import { useBackgroundReading } from '../../../parts/use-background-reading.ts'
import { busStateOf, useBusHealth } from '../bus-health.ts'
import { BusNotice } from '../bus-notice.tsx'
import { call, session, live } from '../platform.ts'
import { listOf, resourceOf } from '../sources.ts'
import { pathOf, type DetailProps, type ViewProps } from '../view.ts'
import { messageWords } from './words.ts'

type Message = AnswerOf<'getMessage'>

const MESSAGE_TONES: Readonly<Record<Message['status'], Tone>> = {
  pending: 'active',
  delivered: 'good',
  dead: 'danger',
}

/** Whether the bus has neither accepted nor refused the message yet. */
function isWaiting({ status }: Message): boolean {
  return status === 'pending'
}

const MESSAGE_FILTERS: readonly ListFilter[] = [
  { name: 'status', kind: 'choice', values: Object.keys(MESSAGE_TONES) },
  { name: 'subject', kind: 'text' },
  { name: 'created', kind: 'period' },
]

const PATH = pathOf('messages')

/** The messages to the bus: the list, and beside it the message that the address names. */
export function MessagesPage({ id }: ViewProps) {
  const words = messageWords()
  const bus = busStateOf(useBusHealth().value.value)
  return (
    <ObjectsPage
      path={PATH}
      source={messageList}
      words={words}
      labelOf={(_, value) => words.statuses[value as Message['status']]}
      columns={messageColumns()}
      icon="messages"
      summary={<BusNotice state={bus} />}
      id={id}
      detail={(detail) => <MessageDrawer key={detail.id} {...detail} />}
    />
  )
}

function messageColumns(): readonly TableColumn<Message>[] {
  const { fields, statuses } = messageWords()
  const column = fieldColumns<Message, typeof fields>(fields)
  return [
    column.code('subject'),
    column.status('status', MESSAGE_TONES, statuses),
    column.number('attempts', { isWideOnly: true }),
    column.text('last_error', { isWideOnly: true }),
    column.time('created_at', { isWideOnly: true, isFromMedium: true }),
  ]
}

/** One message with what it carries; a dead one can be sent again. */
function MessageDrawer({ id, onClose }: DetailProps) {
  const { payload } = messageWords()
  const model = useResource(messageResource, id)
  useBackgroundReading(model, {
    mayChangeWithoutEvent() {
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

/** Reads the list again when the status of the shown message changes, because no event reports that. */
function useListFollows({ value }: ResourceModel<Message>): void {
  const refreshList = useListRefresh()
  const status = value.value?.status
  const lastStatus = useRef(status)
  useEffect(() => {
    if (lastStatus.current !== undefined && lastStatus.current !== status) refreshList()
    lastStatus.current = status
  }, [status])
}

/** Says that the shown message has died, because a changed status alone is easily overlooked. */
function useDeathToast({ value }: ResourceModel<Message>): void {
  const status = value.value?.status
  const lastStatus = useRef(status)
  useEffect(() => {
    if (lastStatus.current === 'pending' && status === 'dead') showToast('warning', messageWords().died)
    lastStatus.current = status
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
    <a class="button" href={pathOf('alerts', alertId)}>
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

// Every event is a message. Its delivery, which comes after the event, has none of its own.
const PREFIX = ''
const PAUSE_MS = 2_000

/** The list of the messages, as the filters of the address say. */
const messageList = listOf('listMessages', PREFIX, {
  filters: MESSAGE_FILTERS,
  keyOf: ({ id }) => id,
  mayChangeWithoutEvent: isWaiting,
})

/** One message. */
const messageResource = resourceOf('getMessage', PREFIX, (id) => ({ path: { id } }), {
  pauseMs: PAUSE_MS,
})

// docs/specification.md, Messages
const ALERT_SOURCE = 'platform.messages'
const MOST_READ = 200

/** The alert about a dead message: the newest alerts of its source have it. */
const alertOfMessage: ResourceSource<{ readonly alertId: string | null }> = {
  live,
  prefix: 'alert.',
  async read(id, signal) {
    const alerts = await call('listAlerts', { query: { source: ALERT_SOURCE, limit: MOST_READ } }, signal)
    if (!alerts.ok) return alerts
    const alert = alerts.value.items.find(({ alarm_id }) => alarm_id === `message.dead:${id}`)
    return { ok: true, value: { alertId: alert?.id ?? null }, etag: null }
  },
  pauseMs: PAUSE_MS,
}

// Marks and overrides of the direction of writing (UAX #9): they would make the text look like another one.
const DIRECTION_CHARACTERS = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/g

interface JsonViewProps {
  readonly label: string
  readonly value: unknown
}

/** A JSON value as indented text. The region takes the focus, so that the keyboard can scroll it. */
function JsonView({ label, value }: JsonViewProps) {
  return (
    <div class="json-view" role="region" aria-label={label} tabIndex={0}>
      <pre>
        <bdi>{jsonText(value)}</bdi>
      </pre>
    </div>
  )
}

function jsonText(value: unknown): string {
  const escape = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  return JSON.stringify(value, null, 2).replaceAll(DIRECTION_CHARACTERS, escape)
}
