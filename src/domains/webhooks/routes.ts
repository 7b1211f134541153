import type { JsonText } from '../../kernel/text.ts'
import type { Tx } from '../../store/store.ts'
import type { WebhookCaller } from '../../ports/webhook-caller.ts'
import { bodyWriter } from '../../wire/codec.ts'
import { entityTag, parseIfMatch } from '../../wire/entity-tag.ts'
import { SHARED_ERRORS, type ErrorCodes } from '../../wire/error-codes.ts'
import { encodePage, PageOf, parsePage, TimedQuery } from '../../wire/page.ts'
import { created, ok, type Answer, type Route, versioned, routeOf } from '../../wire/route.ts'
import { IdParams } from '../../wire/schemas.ts'
import type { StoredWebhook, Webhook } from './model.ts'
import {
  DeliveryParams,
  DeliveryQuery,
  DeliverySchema,
  encodeDelivery,
  encodeKnownWebhook,
  encodeNewWebhook,
  encodeWebhook,
  fromRecoverBody,
  fromWebhookBody,
  fromWebhookEditBody,
  RecoverBody,
  WebhookBody,
  WebhookEditBody,
  WebhookSchema,
  WebhookWithSecret,
} from './schemas.ts'
import type { Webhooks } from './service.ts'

const route = routeOf('Webhooks')

const ADMINS = ['admin'] as const

export const WEBHOOK_ERRORS = {
  webhook_not_found: { status: 404, meaning: 'There is no such webhook.' },
  delivery_not_found: { status: 404, meaning: 'The webhook has no such delivery.' },
  webhook_disabled: { status: 409, meaning: 'The webhook is disabled.' },
  too_many_webhooks: { status: 409, meaning: 'There are 100 webhooks already.' },
  url_refused: {
    status: 400,
    meaning: 'The address is not public, or without TLS; `webhooks.allow_private` does not name its network.',
  },
} as const satisfies ErrorCodes

const { webhook_not_found, delivery_not_found, webhook_disabled, too_many_webhooks, url_refused } =
  WEBHOOK_ERRORS
const { precondition_failed } = SHARED_ERRORS

const webhookText = bodyWriter(encodeWebhook)
const newWebhookText = bodyWriter(encodeNewWebhook)
const knownWebhookText = bodyWriter(encodeKnownWebhook)
const deliveryText = bodyWriter(encodeDelivery)

/** docs/specification.md, Webhooks */
export function webhookRoutes(webhooks: Webhooks, caller: WebhookCaller): Route[] {
  return [...settingRoutes(webhooks, caller), ...deliveryRoutes(webhooks)]
}

function settingRoutes(webhooks: Webhooks, caller: WebhookCaller): Route[] {
  return [
    route({
      method: 'POST',
      path: '/webhooks',
      operation: 'createWebhook',
      summary: 'Send events to an endpoint',
      description: 'It gets the events from now on. The response has the secret of the signatures once.',
      access: ADMINS,
      body: WebhookBody,
      answers: { 201: versioned('The new webhook; `ETag` names its version.', WebhookWithSecret) },
      errors: { url_refused, too_many_webhooks },
      prepare: async ({ body }) => {
        const settings = fromWebhookBody(body)
        requireCallable(caller, settings.url)
        return { settings, place: await webhooks.newestPlace() }
      },
      audit: { kind: 'webhook' },
      change: async (tx, { identity }, { settings, place }) =>
        withSecret(await webhooks.create(tx, settings, identity.id, place), 201),
    }),
    route({
      method: 'GET',
      path: '/webhooks',
      operation: 'listWebhooks',
      summary: 'List webhooks, newest first',
      access: ADMINS,
      query: TimedQuery,
      answers: { 200: { description: 'A page of webhooks.', schema: PageOf(WebhookSchema) } },
      read: async ({ query }) => ok(encodePage(await webhooks.list(parsePage(query)), encodeWebhook)),
    }),
    route({
      method: 'GET',
      path: '/webhooks/:id',
      operation: 'getWebhook',
      summary: 'Read a webhook',
      access: ADMINS,
      params: IdParams,
      answers: {
        200: {
          description: 'The webhook; `ETag` names its version, without what was delivered.',
          schema: WebhookSchema,
          hasTag: true,
          changesWithoutTag: true,
        },
      },
      errors: { webhook_not_found },
      read: async ({ params }) => webhookAnswer(await webhooks.get(params.id)),
    }),
    route({
      method: 'PATCH',
      path: '/webhooks/:id',
      operation: 'editWebhook',
      summary: 'Change, enable or disable a webhook',
      description:
        'At least one field; one that is left out keeps its value. With `If-Match` only that version is changed.',
      access: ADMINS,
      params: IdParams,
      body: WebhookEditBody,
      answers: { 200: versioned('The webhook; `ETag` names its version.', WebhookSchema) },
      errors: { webhook_not_found, url_refused, precondition_failed },
      prepare: async ({ body }) => {
        const edit = fromWebhookEditBody(body)
        if (edit.url !== undefined) requireCallable(caller, edit.url)
        return { edit, place: await webhooks.newestPlace() }
      },
      audit: { kind: 'webhook', before: (tx, { params }) => stateOf(webhooks, params.id, tx) },
      change: async (tx, { params, identity, headers }, { edit, place }) => {
        const versions = parseIfMatch(headers['if-match'])
        return webhookAnswer(await webhooks.edit(tx, params.id, edit, identity.id, { versions, place }))
      },
    }),
    route({
      method: 'DELETE',
      path: '/webhooks/:id',
      operation: 'deleteWebhook',
      summary: 'Delete a webhook with its deliveries',
      description: 'With `If-Match` only if it has that version.',
      access: ADMINS,
      params: IdParams,
      answers: { 204: { description: 'Deleted.' } },
      errors: { webhook_not_found, precondition_failed },
      audit: { kind: 'webhook', before: (tx, { params }) => stateOf(webhooks, params.id, tx) },
      change: async (tx, { params, identity, headers }) => {
        await webhooks.remove(tx, params.id, identity.id, parseIfMatch(headers['if-match']))
        return { status: 204 }
      },
    }),
    route({
      method: 'POST',
      path: '/webhooks/:id/rotate',
      operation: 'rotateWebhook',
      summary: 'Give a webhook another secret',
      description: 'The secret before it signs beside the new one for 24 hours.',
      access: ADMINS,
      params: IdParams,
      answers: { 200: versioned('The webhook, with its new secret.', WebhookWithSecret) },
      errors: { webhook_not_found, precondition_failed },
      audit: { kind: 'webhook' },
      change: async (tx, { params, identity, headers }) =>
        withSecret(await webhooks.rotate(tx, params.id, identity.id, parseIfMatch(headers['if-match'])), 200),
    }),
  ]
}

function deliveryRoutes(webhooks: Webhooks): Route[] {
  return [
    route({
      method: 'POST',
      path: '/webhooks/:id/test',
      operation: 'testWebhook',
      summary: 'Send an event that is only a test',
      description: 'The list of the deliveries shows its outcome.',
      access: ADMINS,
      params: IdParams,
      answers: { 202: { description: 'The delivery, which is made at once.', schema: DeliverySchema } },
      errors: { webhook_not_found, webhook_disabled },
      audit: { kind: 'webhook' },
      change: async (tx, { params, identity }) =>
        acceptedAnswer(deliveryText(await webhooks.test(tx, params.id, identity.id))),
    }),
    route({
      method: 'GET',
      path: '/webhooks/:id/deliveries',
      operation: 'listWebhookDeliveries',
      summary: 'List what was sent to an endpoint, newest first',
      access: ADMINS,
      params: IdParams,
      query: DeliveryQuery,
      answers: { 200: { description: 'A page of deliveries.', schema: PageOf(DeliverySchema) } },
      errors: { webhook_not_found },
      read: async ({ params, query }) =>
        ok(encodePage(await webhooks.deliveries(params.id, query.status, parsePage(query)), encodeDelivery)),
    }),
    route({
      method: 'POST',
      path: '/webhooks/:id/deliveries/:delivery_id/redeliver',
      operation: 'redeliverWebhook',
      summary: 'Send an event again',
      description:
        'The event keeps its `webhook-id`; its tries begin anew. A delivery that is not finished is tried now.',
      access: ADMINS,
      params: DeliveryParams,
      answers: { 202: { description: 'The delivery, pending.', schema: DeliverySchema } },
      errors: { webhook_not_found, delivery_not_found, webhook_disabled },
      audit: { kind: 'webhook' },
      change: async (tx, { params, identity }) =>
        acceptedAnswer(
          deliveryText(await webhooks.redeliver(tx, params.id, params.delivery_id, identity.id)),
        ),
    }),
    route({
      method: 'POST',
      path: '/webhooks/:id/recover',
      operation: 'recoverWebhook',
      summary: 'Send what an endpoint has missed',
      description:
        'What has failed since that time, and what has happened since then and was not sent; nothing from before the webhook was ' +
        'made. A webhook that is disabled is enabled by it, and gets what it has missed before what is new. The log of the events ' +
        'goes back as far as `messages.keep`.',
      access: ADMINS,
      params: IdParams,
      body: RecoverBody,
      answers: { 202: { description: 'The webhook; its deliveries follow.', schema: WebhookSchema } },
      errors: { webhook_not_found },
      prepare: async ({ params, body }) => {
        const since = fromRecoverBody(body)
        return { since, place: await webhooks.placeBefore(params.id, since) }
      },
      audit: { kind: 'webhook', before: (tx, { params }) => stateOf(webhooks, params.id, tx) },
      change: async (tx, { params, identity }, from) =>
        acceptedAnswer(webhookText(await webhooks.recover(tx, params.id, from, identity.id))),
    }),
  ]
}

function requireCallable(caller: WebhookCaller, url: string): void {
  const refusal = caller.refusal(url)
  if (refusal) throw refusal
}

/** The webhook before the change, for the audit trail. */
async function stateOf(webhooks: Webhooks, id: string, tx: Tx): Promise<JsonText> {
  return webhookText(await webhooks.get(id, tx))
}

function acceptedAnswer(body: JsonText): Answer {
  return { status: 202, body }
}

function webhookAnswer(webhook: Webhook): Answer {
  return ok(webhookText(webhook), entityTag(webhook.version))
}

function withSecret(webhook: StoredWebhook, status: 200 | 201): Answer {
  const body = newWebhookText(webhook)
  const tag = entityTag(webhook.version)
  return {
    ...(status === 201 ? created('/webhooks', webhook.id, body, tag) : ok(body, tag)),
    storedBody: knownWebhookText(webhook),
  }
}
