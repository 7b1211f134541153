import type { AnswerOf } from '../../../api/operations.ts'
import type { Tone } from '../../../parts/status-badge.tsx'
import { listOf } from '../sources.ts'

export type Webhook = AnswerOf<'getWebhook'>
export type WebhookDelivery = AnswerOf<'listWebhookDeliveries'>['items'][number]

export const DELIVERY_TONES: Readonly<Record<WebhookDelivery['status'], Tone>> = {
  pending: 'quiet',
  delivered: 'good',
  failed: 'danger',
}

// Neither a change nor a delivery has an event.
const EVERY_MS = 15_000

/** The list of the webhooks. */
export const webhookList = listOf('listWebhooks', 'webhook.', {
  keyOf: ({ id }) => id,
  everyMs: EVERY_MS,
})

export type WebhookState = 'enabled' | 'by_hand' | 'gone' | 'failing'

export function stateOf({ disabled_reason }: Webhook): WebhookState {
  return disabled_reason ?? 'enabled'
}

export function webhookTone({ enabled, disabled_reason, failing_since }: Webhook): Tone {
  if (!enabled) return disabled_reason === 'by_hand' ? 'quiet' : 'danger'
  return failing_since === null ? 'good' : 'danger'
}
