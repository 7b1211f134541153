import type { AnswerOf } from '../../../api/operations.ts'
import type { ListSource } from '../../../parts/list/use-list.ts'
import type { Tone } from '../../../parts/status-badge.tsx'
import { call, live } from '../platform.ts'

export type Webhook = AnswerOf<'getWebhook'>
export type WebhookDelivery = AnswerOf<'listWebhookDeliveries'>['items'][number]

export const DELIVERY_TONES: Readonly<Record<WebhookDelivery['status'], Tone>> = {
  pending: 'quiet',
  delivered: 'good',
  failed: 'danger',
}

const PAGE_LENGTH = 50
// Neither a change nor a delivery has an event.
const EVERY_MS = 15_000

/** The list of the webhooks. */
export const webhookList: ListSource<Webhook> = {
  filters: [],
  live,
  prefix: 'webhook.',
  read: (query, signal) => call('listWebhooks', { query: { ...query, limit: PAGE_LENGTH } }, signal),
  keyOf: ({ id }) => id,
  fromEvent: () => 'changed',
  everyMs: EVERY_MS,
}

export type WebhookState = 'enabled' | 'by_hand' | 'gone' | 'failing'

export function stateOf({ disabled_reason }: Webhook): WebhookState {
  return disabled_reason ?? 'enabled'
}

export function webhookTone({ enabled, disabled_reason, failing_since }: Webhook): Tone {
  if (!enabled) return disabled_reason === 'by_hand' ? 'quiet' : 'danger'
  return failing_since === null ? 'good' : 'danger'
}
