import { useSignal } from '@preact/signals'
import type { ApiResult } from '../../../api/operations.ts'
import { Button } from '../../../parts/button.tsx'
import { CommandLine } from '../../../parts/command-line.tsx'
import { CreateDialog } from '../../../parts/form/create-dialog.tsx'
import type { FormSchema } from '../../../parts/form/form-fields.ts'
import type { NewItemDialog } from '../../../parts/list/new-item.tsx'
import { Modal } from '../../../parts/modal.tsx'
import { call } from '../platform.ts'
import type { Webhook } from './model.ts'
import { webhookWords } from './words.ts'

// People write subjects in one line.
const SCHEMA: FormSchema = {
  required: ['url', 'subjects'],
  properties: {
    url: { type: 'string' },
    subjects: { type: 'string' },
    description: { type: 'string' },
  },
}

interface Entered {
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

function settingsOf(body: Entered) {
  const { url = '', subjects = '', description = '' } = body
  const named = subjects.split(',').map((each) => each.trim())
  return { url, subjects: named.filter((each) => each !== ''), description }
}

/** Asks for the address and the subjects, then shows the secret, which nobody can read again. */
export function NewWebhook({ onClose, onCreated }: NewItemDialog) {
  const created = useSignal<{ id: string; secret: string | null } | null>(null)
  if (created.value) {
    const { id, secret } = created.value
    return <WebhookSecret secret={secret ?? ''} onClose={() => onCreated(id)} />
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

export function EditWebhook({ webhook, onSaved, onClose }: EditWebhookProps) {
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

/** A secret, which is shown once. */
export function WebhookSecret({
  secret,
  onClose,
}: {
  readonly secret: string
  readonly onClose: () => void
}) {
  const words = webhookWords()
  return (
    <Modal label={words.secretTitle} onClose={onClose}>
      <h2>{words.secretTitle}</h2>
      <p>{words.secretText}</p>
      <CommandLine label={words.secretTitle} command={secret} />
      <div class="actions actions-end">
        <Button kind="main" onClick={onClose}>
          {words.secretSaved}
        </Button>
      </div>
    </Modal>
  )
}
