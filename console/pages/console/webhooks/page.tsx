import { localNumber, localTime } from '../../../i18n/local.ts'
import type { TableColumn } from '../../../parts/list/data-table.tsx'
import { ObjectsPage } from '../../../parts/list/objects-page.tsx'
import { StatusBadge } from '../../../parts/status-badge.tsx'
import { session } from '../platform.ts'
import { pathOf, type ViewProps } from '../view.ts'
import { WebhookDrawer } from './drawer.tsx'
import { stateOf, webhookTone, webhookList, type Webhook } from './model.ts'
import { NewWebhook } from './webhook-form.tsx'
import { webhookWords } from './words.ts'

const PATH = pathOf({ name: 'webhooks' })

/** The webhooks: the list, and beside it the webhook that the address names. */
export function WebhooksPage({ id }: ViewProps) {
  const words = webhookWords()
  return (
    <ObjectsPage
      path={PATH}
      source={webhookList}
      words={words}
      columns={webhookColumns(words)}
      icon="webhook"
      id={id}
      newItem={
        session.may('createWebhook') && {
          title: words.newWebhook,
          dialog: (dialog) => <NewWebhook {...dialog} />,
        }
      }
      detail={({ item, onClose }) => item && <WebhookDrawer webhook={item} onClose={onClose} />}
    />
  )
}

function webhookColumns(words: ReturnType<typeof webhookWords>): readonly TableColumn<Webhook>[] {
  const { fields, states, never } = words
  return [
    { key: 'url', title: fields.url, cell: ({ url }) => <bdi class="mono">{url}</bdi> },
    {
      key: 'state',
      title: fields.state,
      cell: (webhook) => <StatusBadge tone={webhookTone(webhook)} label={states[stateOf(webhook)]} />,
    },
    { key: 'pending', title: fields.pending, isWideOnly: true, cell: ({ pending }) => localNumber(pending) },
    {
      key: 'last_success_at',
      title: fields.last_success_at,
      isWideOnly: true,
      cell: ({ last_success_at }) => (last_success_at === null ? never : localTime(last_success_at)),
    },
  ]
}
