import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { serverClock } from '../../../api/browser.ts'
import { VALUES } from '../../../api/generated.ts'
import type { ApiResult } from '../../../api/operations.ts'
import { localNumber, localTime } from '../../../i18n/local.ts'
import { Button } from '../../../parts/button.tsx'
import { Drawer } from '../../../parts/drawer.tsx'
import { FactList } from '../../../parts/facts.tsx'
import { CreateDialog } from '../../../parts/form/create-dialog.tsx'
import type { FormSchema } from '../../../parts/form/form-fields.ts'
import { fieldColumns } from '../../../parts/list/columns.tsx'
import type { TableColumn } from '../../../parts/list/data-table.tsx'
import { useListRefresh } from '../../../parts/list/list-refresh.ts'
import type { NewItemDialog } from '../../../parts/list/new-item.tsx'
import { ObjectsPage } from '../../../parts/list/objects-page.tsx'
import { ObjectActions } from '../../../parts/object-actions.tsx'
import { Section } from '../../../parts/section.tsx'
import { sendChange } from '../../../parts/send-change.ts'
import { ShownOnce } from '../../../parts/shown-once.tsx'
import { StatusBadge } from '../../../parts/status-badge.tsx'
import { Timeline } from '../../../parts/timeline.tsx'
import { useAnswer } from '../../../parts/use-answer.ts'
import { session, call } from '../platform.ts'
import { pathOf, type ViewProps } from '../view.ts'
import {
  stateOf,
  webhookTone,
  webhookList,
  DELIVERY_TONES,
  type Webhook,
  type WebhookDelivery,
} from './model.ts'
import { webhookWords } from './words.ts'

const PATH = pathOf('webhooks')

/** The webhooks: the list, and beside it the webhook that the address names. */
export function WebhooksPage({ id }: ViewProps) {
  const words = webhookWords()
  return (
    <ObjectsPage
      path={PATH}
      source={webhookList}
      words={words}
      columns={webhookColumns()}
      icon="webhook"
      id={id}
      newItem={session.may('createWebhook') && NewWebhook}
      detail={({ item, onClose }) => item && <WebhookDrawer webhook={item} onClose={onClose} />}
    />
  )
}

function webhookColumns(): readonly TableColumn<Webhook>[] {
  const { fields, states, never } = webhookWords()
  const column = fieldColumns<Webhook, typeof fields>(fields)
  return [
    column.code('url'),
    column.cell('state', (webhook) => (
      <StatusBadge tone={webhookTone(webhook)} label={states[stateOf(webhook)]} />
    )),
    column.cell('pending', ({ pending }) => localNumber(pending), { isWideOnly: true }),
    column.time('last_success_at', { isWideOnly: true }, never),
  ]
}

const DAY_MS = 86_400_000
const RECOVERED_MS = 7 * DAY_MS
const SHOWN = 50
// A delivery has no event.
const EVERY_MS = 3_000
const STATUSES = VALUES.listWebhookDeliveries.status

interface WebhookDrawerProps {
  readonly webhook: Webhook
  readonly onClose: () => void
}

/** One webhook, as the list has it, and what was sent to its endpoint. */
function WebhookDrawer({ webhook, onClose }: WebhookDrawerProps) {
  const words = webhookWords()
  const { url, enabled } = webhook
  const { secret, test, rotate, toggle, recover, remove } = useWebhookChanges(webhook)
  const refreshList = useListRefresh()
  const isEditing = useSignal(false)
  const mayEdit = session.may('editWebhook')
  return (
    <Drawer title={url} onClose={onClose}>
      <ObjectActions
        status={{ tone: webhookTone(webhook), label: words.states[stateOf(webhook)] }}
        actions={[
          mayEdit && { title: words.edit, run: () => (isEditing.value = true) },
          enabled && session.may('testWebhook') && { title: words.test.action, run: test },
          mayEdit && { title: (enabled ? words.disable : words.enable).action, run: toggle },
          session.may('recoverWebhook') && { title: words.recover.action, run: recover },
          session.may('rotateWebhook') && { title: words.rotate.action, run: rotate },
          session.may('deleteWebhook') && { title: words.remove.action, isDestructive: true, run: remove },
        ]}
      >
        {isEditing.value && (
          <EditWebhook webhook={webhook} onSaved={refreshList} onClose={() => (isEditing.value = false)} />
        )}
        {secret.value !== null && (
          <ShownOnce words={words.secret} secret={secret.value} onClose={() => (secret.value = null)} />
        )}
      </ObjectActions>
      <WebhookFacts webhook={webhook} />
      <WebhookDeliveries webhook={webhook} />
    </Drawer>
  )
}

/** What a person does to a webhook; `secret` is its new one, while it is shown. */
function useWebhookChanges({ id, enabled }: Webhook) {
  const words = webhookWords()
  const path = { id }
  const secret = useSignal<string | null>(null)
  const onDone = useListRefresh()
  const test = () => sendChange({ words: words.test, send: () => call('testWebhook', { path }), onDone })
  const rotate = () =>
    sendChange({
      words: words.rotate,
      send: () => call('rotateWebhook', { path }),
      onDone: (rotated) => (secret.value = rotated.secret),
    })
  const toggle = () =>
    sendChange({
      words: { ...(enabled ? words.disable : words.enable), done: words.saved },
      send: () => call('editWebhook', { path, body: { enabled: !enabled } }),
      onDone,
    })
  const recover = () => {
    const since = new Date(serverClock.now() - RECOVERED_MS).toISOString()
    return sendChange({
      words: words.recover,
      send: () => call('recoverWebhook', { path, body: { since } }),
      onDone,
    })
  }
  const remove = () =>
    sendChange({
      words: words.remove,
      isDestructive: true,
      send: () => call('deleteWebhook', { path }),
      onDone,
    })
  return { secret, test, rotate, toggle, recover, remove }
}

function WebhookFacts({ webhook }: { readonly webhook: Webhook }) {
  const { fields, never } = webhookWords()
  const { description, subjects, pending, failing_since, last_success_at } = webhook
  return (
    <FactList
      facts={[
        [fields.description, description === '' ? null : description],
        [fields.subjects, subjects.join(', ')],
        [fields.pending, localNumber(pending)],
        [fields.failing_since, failing_since && localTime(failing_since)],
        [fields.last_success_at, last_success_at === null ? never : localTime(last_success_at)],
      ]}
    />
  )
}

/** The newest deliveries of a status, or of all. */
function WebhookDeliveries({ webhook }: { readonly webhook: Webhook }) {
  const words = webhookWords()
  const status = useSignal<WebhookDelivery['status'] | undefined>(undefined)
  const { id, pending, last_success_at, failing_since } = webhook
  const query = { limit: SHOWN, ...(status.value && { status: status.value }) }
  const inputs = [id, pending, last_success_at, failing_since, status.value]
  const { answer, refresh } = useAnswer(() => call('listWebhookDeliveries', { path: { id }, query }), inputs)
  useEffect(() => {
    const timer = setInterval(() => void refresh(), EVERY_MS)
    return () => clearInterval(timer)
  }, inputs)
  return (
    <Section title={words.deliveries}>
      <label class="filter timeline-filter">
        <span class="filter-name">{words.status}</span>
        <select
          class="input"
          value={status.value ?? ''}
          onChange={({ currentTarget }) =>
            (status.value = STATUSES.find((choice) => choice === currentTarget.value))
          }
        >
          <option value="">{words.all}</option>
          {STATUSES.map((choice) => (
            <option key={choice} value={choice}>
              {words.statuses[choice]}
            </option>
          ))}
        </select>
      </label>
      <Timeline
        label={words.deliveries}
        empty={words.noDeliveries}
        entries={(answer?.items ?? []).map((delivery) => ({
          key: delivery.id,
          at: delivery.created_at,
          tone: DELIVERY_TONES[delivery.status],
          title: <DeliveryTitle delivery={delivery} />,
          note: <DeliveryNote webhook={webhook} delivery={delivery} onSent={() => void refresh()} />,
        }))}
      />
    </Section>
  )
}

function DeliveryTitle({ delivery }: { readonly delivery: WebhookDelivery }) {
  const words = webhookWords()
  const { type, status, attempts, response_status, error } = delivery
  const answer = response_status ?? error
  return (
    <>
      <bdi class="mono">{type}</bdi> · {words.statuses[status]} · {words.attempts(attempts)}
      {answer !== null && <> · {answer}</>}
    </>
  )
}

interface DeliveryNoteProps {
  readonly webhook: Webhook
  readonly delivery: WebhookDelivery
  readonly onSent: () => void
}

function DeliveryNote({ webhook, delivery, onSent }: DeliveryNoteProps) {
  const words = webhookWords()
  const redeliver = () =>
    sendChange({
      words: words.redeliver,
      send: () => call('redeliverWebhook', { path: { id: webhook.id, delivery_id: delivery.id } }),
      onDone: onSent,
    })
  return (
    <>
      {delivery.response_body !== null && delivery.response_body !== '' && (
        <pre class="mono">{delivery.response_body}</pre>
      )}
      {webhook.enabled && session.may('redeliverWebhook') && (
        <Button onClick={() => void redeliver()}>{words.redeliver.action}</Button>
      )}
    </>
  )
}

// People write subjects in one line.
const SCHEMA: FormSchema = {
  required: ['url', 'subjects'],
  properties: {
    url: { type: 'string' },
    subjects: { type: 'string' },
    description: { type: 'string' },
  },
}

interface EnteredWebhook {
  readonly url?: string
  readonly subjects?: string
  readonly description?: string
}

interface WebhookFormProps<T> {
  /** The webhook that is edited. */
  readonly webhook?: Webhook
  readonly send: (settings: ReturnType<typeof settingsOf>) => Promise<ApiResult<T>>
  readonly onDone: (saved: T) => void
  readonly onClose: () => void
}

function WebhookForm<T>({ webhook, send, onDone, onClose }: WebhookFormProps<T>) {
  const words = webhookWords()
  const { url, subjects, description } = words.fields
  return (
    <CreateDialog
      title={webhook ? words.edit : words.newItem}
      schema={SCHEMA}
      labels={{ url, subjects, description }}
      hints={words.hints}
      initial={initialOf(webhook)}
      action={webhook ? words.save : words.create}
      create={(body) => send(settingsOf(body))}
      doneOf={() => (webhook ? words.saved : words.created)}
      onCreated={onDone}
      onClose={onClose}
    />
  )
}

function initialOf(webhook: Webhook | undefined): Readonly<Record<string, string>> {
  if (!webhook) return {}
  const { url, subjects, description } = webhook
  return { url, subjects: subjects.join(', '), description }
}

function settingsOf(body: EnteredWebhook) {
  const { url = '', subjects = '', description = '' } = body
  const named = subjects.split(',').map((subject) => subject.trim())
  return { url, subjects: named.filter((subject) => subject !== ''), description }
}

/** Asks for the address and the subjects, then shows the secret, which nobody can read again. */
function NewWebhook({ onClose, onCreated }: NewItemDialog) {
  const created = useSignal<{ id: string; secret: string | null } | null>(null)
  if (created.value) {
    const { id, secret } = created.value
    return <ShownOnce words={webhookWords().secret} secret={secret ?? ''} onClose={() => onCreated(id)} />
  }
  return (
    <WebhookForm
      send={(body) => call('createWebhook', { body })}
      onDone={(webhook) => (created.value = webhook)}
      onClose={onClose}
    />
  )
}

interface EditWebhookProps {
  readonly webhook: Webhook
  readonly onSaved: () => void
  readonly onClose: () => void
}

function EditWebhook({ webhook, onSaved, onClose }: EditWebhookProps) {
  const onDone = () => {
    onSaved()
    onClose()
  }
  return (
    <WebhookForm
      webhook={webhook}
      send={(body) => call('editWebhook', { path: { id: webhook.id }, body })}
      onDone={onDone}
      onClose={onClose}
    />
  )
}
