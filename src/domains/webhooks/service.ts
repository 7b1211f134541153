import { systemRecord } from '../../kernel/audit.ts'
import type { Clock } from '../../kernel/clock.ts'
import { declaredAlarmId } from '../../kernel/alerts.ts'
import { AppError, requireFound, requireVersion } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { toRfc3339 } from '../../kernel/time.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Counter, Metrics } from '../../kernel/metrics.ts'
import type { Page, PageRequest } from '../../kernel/page.ts'
import { Secret } from '../../kernel/secret.ts'
import { newWebhookSecret } from '../../kernel/standard-webhook.ts'
import type { AuditTrail } from '../../ports/audit.ts'
import type { PlatformRecovery, RecoverableAlerts } from '../../ports/alerts.ts'
import type { MessageLogReader } from '../../ports/events.ts'
import type { WebhookCaller } from '../../ports/webhook-caller.ts'
import type { Store, Tx, Queries } from '../../store/store.ts'
import { queuedWork } from '../../store/work/work-queue.ts'
import {
  WEBHOOK_ALERTS,
  FORMER_SECRET_MS,
  healthAfter,
  isSuccess,
  newDelivery,
  stepAfter,
  TEST_TYPE,
  testEvent,
  type CallResult,
  type WebhookDelivery,
  type DeliveryStatus,
  type DisabledReason,
  type StoredWebhook,
  type Webhook,
  type WebhookSettings,
} from './model.ts'
import {
  countUndelivered,
  countWebhooks,
  deleteOldDeliveries,
  deleteOrphans,
  deleteWebhook,
  findDelivery,
  findWebhook,
  hastenDeliveries,
  insertDelivery,
  insertWebhook,
  listDeliveries,
  listPendingThings,
  listWebhooks,
  lockWebhook,
  recordStep,
  releaseThing,
  requeueDelivery,
  setWebhookDue,
  updateWebhook,
  type Due,
} from './store.ts'

/** What the webhook domain needs of the rest of the platform. */
export interface WebhookDeps {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
  readonly alerts: RecoverableAlerts
  readonly audit: Pick<AuditTrail, 'record'>
  readonly log: MessageLogReader
  readonly caller: WebhookCaller
  /** How long finished deliveries are kept, in milliseconds: as long as the log has their events. */
  readonly keepMs: number
}

/** docs/specification.md, Webhooks: each may have a slow endpoint, and none of them waits for another. */
export const MAX_WEBHOOKS = 100

/** Wakes the parts of the worker. */
interface Waking {
  /** There may be a webhook, or a place in the log, that it has not seen. */
  wakeFeed(): void
  /** An endpoint has something to get. */
  wakeEndpoint(id: string): void
}

/** One call of a delivery, and what it has led to. */
export interface CallAttempt {
  readonly delivery: Due
  readonly result: CallResult
}

/** Endpoints of other programs that get events by HTTP (docs/specification.md, Webhooks). */
export class Webhooks {
  readonly #deps: WebhookDeps & Waking
  readonly #calls: Counter

  constructor(deps: WebhookDeps & Waking) {
    this.#deps = deps
    this.#calls = deps.metrics.counter({
      name: 'webhook_calls_total',
      help: 'Calls of the endpoints of webhooks, by outcome.',
      labels: { outcome: ['delivered', 'failed'] },
    })
  }

  /** Rejects with `too_many_webhooks`. The events after `place` are its own. */
  async create(tx: Tx, settings: WebhookSettings, actor: string, place: number): Promise<StoredWebhook> {
    const { webhooks = 0 } = (await countWebhooks(tx)) ?? {}
    if (webhooks >= MAX_WEBHOOKS) {
      const message = `There are ${MAX_WEBHOOKS} webhooks already; delete one that is not used.`
      throw new AppError('conflict', 'too_many_webhooks', message)
    }
    const at = this.#deps.clock.now()
    const webhook: StoredWebhook = {
      ...settings,
      id: newId(),
      disabledReason: settings.enabled ? null : 'by_hand',
      version: 1,
      createdAt: at,
      createdBy: actor,
      updatedAt: at,
      updatedBy: actor,
      failingSince: null,
      lastSuccessAt: null,
      pending: 0,
      secret: new Secret(newWebhookSecret()),
      formerSecret: null,
      formerSecretUntil: null,
      place,
      pausedUntil: null,
      recoverSince: null,
    }
    await insertWebhook(tx, { ...webhook, ...queuedWork(at), dueAt: null })
    this.#log(tx, webhook.id, 'created', actor)
    return webhook
  }

  /** Newest first. */
  list(page: PageRequest): Promise<Page<Webhook>> {
    return listWebhooks(this.#deps.store.read, {}, page)
  }

  /** Rejects with `webhook_not_found`. */
  async get(id: string, queries: Queries = this.#deps.store.read): Promise<Webhook> {
    return requireFound(await findWebhook(queries, id), 'webhook', id)
  }

  /** Where the log ends for a webhook that is created or enabled now. */
  newestPlace(): Promise<number> {
    return this.#deps.log.settledPlace()
  }

  /**
   * Changes the fields of `edit`; equal values change nothing. A webhook that is enabled gets the events after `place`.
   * Rejects with `webhook_not_found` and `precondition_failed`.
   */
  async edit(
    tx: Tx,
    id: string,
    edit: Partial<WebhookSettings>,
    actor: string,
    { versions, place }: { readonly versions: readonly number[] | undefined; readonly place: number },
  ): Promise<Webhook> {
    const known = requireFound(await lockWebhook(tx, id), 'webhook', id)
    requireVersion(known.version, versions, 'webhook')
    if (!isChange(known, edit)) return known
    const webhook = { ...this.#nextVersionOf(known, actor), ...edit }
    const isEnabled = !known.enabled && webhook.enabled
    const next: StoredWebhook = {
      ...webhook,
      ...(isEnabled && { ...HEALTHY, place: Math.max(place, known.place) }),
      ...(known.enabled && !webhook.enabled && { disabledReason: 'by_hand' as const }),
    }
    await updateWebhook(tx, next)
    if (isEnabled) await this.#recoverAlert(tx, next, 'The webhook was enabled.')
    if (known.ordered && !next.ordered) await hastenDeliveries(tx, next, this.#deps.clock.now())
    if (next.enabled) await this.#makeDue(tx, id)
    this.#log(tx, id, 'changed', actor)
    return next
  }

  /** Deletes it with its deliveries. Rejects with `webhook_not_found` and `precondition_failed`. */
  async remove(tx: Tx, id: string, actor: string, versions: readonly number[] | undefined): Promise<void> {
    const known = requireFound(await lockWebhook(tx, id), 'webhook', id)
    requireVersion(known.version, versions, 'webhook')
    await deleteWebhook(tx, id)
    await this.#recoverAlert(tx, known, 'The webhook was deleted.')
    this.#log(tx, id, 'deleted', actor)
  }

  /** Gives it a new secret; the present one signs beside it for a day. Rejects as {@link remove}. */
  async rotate(
    tx: Tx,
    id: string,
    actor: string,
    versions: readonly number[] | undefined,
  ): Promise<StoredWebhook> {
    const known = requireFound(await lockWebhook(tx, id), 'webhook', id)
    requireVersion(known.version, versions, 'webhook')
    const webhook = {
      ...this.#nextVersionOf(known, actor),
      secret: new Secret(newWebhookSecret()),
      formerSecret: known.secret,
      formerSecretUntil: this.#deps.clock.now() + FORMER_SECRET_MS,
    }
    await updateWebhook(tx, webhook)
    this.#log(tx, id, 'rotated', actor)
    return webhook
  }

  /** Sends an event that only says that it is a test. Rejects with `webhook_not_found` and `webhook_disabled`. */
  async test(tx: Tx, id: string, actor: string): Promise<WebhookDelivery> {
    const known = requireEnabled(requireFound(await lockWebhook(tx, id), 'webhook', id))
    const now = this.#deps.clock.now()
    const { eventId, body, thing } = testEvent(id, newId(), now)
    const event = { eventId, thing, type: TEST_TYPE, place: null, payload: body }
    const delivery = newDelivery(newId(), id, event, { createdAt: now, dueAt: now })
    await insertDelivery(tx, delivery)
    await updateWebhook(tx, { ...known, pending: known.pending + 1 })
    await this.#makeDue(tx, id)
    this.#log(tx, id, 'tested', actor)
    return delivery
  }

  /** Newest first. Rejects with `webhook_not_found`. */
  async deliveries(webhookId: string, status: DeliveryStatus | undefined, page: PageRequest) {
    await this.get(webhookId)
    return listDeliveries(this.#deps.store.read, { webhookId, status }, page)
  }

  /**
   * Sends an event again, as if it were new. One that is not finished is tried now.
   * Rejects with `webhook_not_found`, `delivery_not_found` and `webhook_disabled`.
   */
  async redeliver(tx: Tx, id: string, deliveryId: string, actor: string): Promise<WebhookDelivery> {
    const known = requireEnabled(requireFound(await lockWebhook(tx, id), 'webhook', id))
    const delivery = requireFound(await findDelivery(tx, id, deliveryId), 'delivery', deliveryId)
    const now = this.#deps.clock.now()
    const isPending = delivery.status === 'pending'
    const { thing } = delivery
    if (isPending) await releaseThing(tx, id, thing, now)
    const isWaiting = isPending
      ? delivery.dueAt === null
      : known.ordered && (await listPendingThings(tx, id, [thing])).has(thing)
    await requeueDelivery(tx, deliveryId, isWaiting ? null : now)
    if (!isPending) await updateWebhook(tx, { ...known, pending: known.pending + 1 })
    await this.#makeDue(tx, id)
    this.#log(tx, id, 'redelivered', actor)
    return (await findDelivery(tx, id, deliveryId)) ?? delivery
  }

  /** Where the log begins for {@link recover}: not before finished deliveries are forgotten. */
  async placeBefore(id: string, since: number): Promise<number> {
    const { clock, log, keepMs } = this.#deps
    const { createdAt } = await this.get(id)
    return log.placeBefore(Math.max(since, createdAt, clock.now() - keepMs))
  }

  /**
   * Sends what has failed since a time, and what has happened since then and was not sent; `place` is that of
   * {@link placeBefore}. One that is disabled is enabled at the place where it stopped, so that nothing new comes before
   * what it has missed. Rejects with `webhook_not_found`.
   */
  async recover(
    tx: Tx,
    id: string,
    { since, place }: { readonly since: number; readonly place: number },
    actor: string,
  ): Promise<Webhook> {
    const known = requireFound(await lockWebhook(tx, id), 'webhook', id)
    const webhook = {
      ...(known.enabled ? known : { ...this.#nextVersionOf(known, actor), ...HEALTHY, enabled: true }),
      place: Math.min(place, known.place),
      recoverSince: Math.min(since, known.recoverSince ?? since),
      pausedUntil: null,
    }
    await updateWebhook(tx, webhook)
    if (!known.enabled) await this.#recoverAlert(tx, webhook, 'The webhook was enabled.')
    await hastenDeliveries(tx, webhook, this.#deps.clock.now())
    await this.#makeDue(tx, id)
    this.#log(tx, id, 'recovered', actor)
    return webhook
  }

  /** Records calls that have ended, and what they say about the endpoint. */
  async settle(tx: Tx, id: string, attempts: readonly CallAttempt[]): Promise<void> {
    const known = await lockWebhook(tx, id)
    // Deleted meanwhile.
    if (!known) return
    const now = this.#deps.clock.now()
    let finished = 0
    for (const { delivery, result } of attempts) {
      const step = stepAfter(delivery, result, now)
      if (!(await recordStep(tx, delivery.id, step))) continue
      if (step.status === 'pending') continue
      finished++
      await releaseThing(tx, id, delivery.thing, now)
    }
    const results = attempts.map(({ result }) => result)
    const { disable, ...health } = healthAfter(known, results, now)
    const pending = Math.max(0, known.pending - finished)
    await updateWebhook(tx, { ...known, ...health, pending })
    if (disable && known.enabled) await this.#disable(tx, { ...known, ...health, pending }, disable)
    tx.afterCommit(() => {
      for (const result of results)
        this.#calls.increment({ outcome: isSuccess(result) ? 'delivered' : 'failed' })
    })
  }

  /** The number of events that endpoints have not got yet. */
  async pending(): Promise<number> {
    return (await countUndelivered(this.#deps.store.read))?.pending ?? 0
  }

  /** Removes one batch of old deliveries, and of those of deleted webhooks; returns how many. */
  prune(limit: number): Promise<number> {
    const { store, clock, keepMs } = this.#deps
    return store.write(async (tx) => {
      const finished = await deleteOldDeliveries(tx, clock.now() - keepMs, limit)
      return finished > 0 ? finished : deleteOrphans(tx, limit)
    })
  }

  async #disable(tx: Tx, webhook: StoredWebhook, reason: DisabledReason): Promise<void> {
    const { alerts, audit, logger } = this.#deps
    await updateWebhook(tx, {
      ...this.#nextVersionOf(webhook, 'worker'),
      enabled: false,
      disabledReason: reason,
    })
    await audit.record(tx, {
      ...systemRecord('disableWebhook', { kind: 'webhook', id: webhook.id }),
      changes: { enabled: [true, false], disabled_reason: [null, reason] },
    })
    const { host } = new URL(webhook.url)
    await alerts.raise(tx, { ...alertOf(webhook), body: disabledText(webhook, reason), severity: 'ERROR' })
    tx.afterCommit(() => logger.warn({ webhook_id: webhook.id, host, reason }, 'webhook disabled'))
  }

  async #recoverAlert(tx: Tx, webhook: StoredWebhook, body: string): Promise<void> {
    await this.#deps.alerts.recoverIfRaised(tx, { ...alertOf(webhook), body })
  }

  #nextVersionOf(webhook: StoredWebhook, actor: string): StoredWebhook {
    return {
      ...webhook,
      version: webhook.version + 1,
      updatedAt: this.#deps.clock.now(),
      updatedBy: actor,
    }
  }

  async #makeDue(tx: Tx, id: string): Promise<void> {
    const { clock, wakeEndpoint, wakeFeed } = this.#deps
    await setWebhookDue(tx, id, clock.now())
    tx.afterCommit(() => wakeEndpoint(id))
    tx.afterCommit(wakeFeed)
  }

  #log(tx: Tx, id: string, change: string, actor: string): void {
    const { logger, wakeFeed } = this.#deps
    tx.afterCommit(() => logger.info({ webhook_id: id, actor }, `webhook ${change}`))
    tx.afterCommit(wakeFeed)
  }
}

const HEALTHY = { disabledReason: null, failingSince: null, pausedUntil: null } as const

function isChange(known: StoredWebhook, edit: Partial<WebhookSettings>): boolean {
  return Object.entries(edit).some(
    ([name, value]) => JSON.stringify(known[name as keyof WebhookSettings]) !== JSON.stringify(value),
  )
}

function requireEnabled(webhook: StoredWebhook): StoredWebhook {
  if (webhook.enabled) return webhook
  throw new AppError('conflict', 'webhook_disabled', 'The webhook is disabled; enable it first.')
}

/** It names only the host of the address: the rest may have a secret. */
function disabledText({ id, url, failingSince, updatedAt }: StoredWebhook, reason: DisabledReason): string {
  const { host } = new URL(url)
  const cause =
    reason === 'gone' ? 'has answered 410: it wants no more events' : 'has failed all calls of 5 days'
  const since = toRfc3339(failingSince ?? updatedAt)
  return [
    `The endpoint on ${host} ${cause}. Events wait in the log as long as messages are kept.`,
    `Repair it. This enables the webhook and sends what it has missed, before what is new: POST /webhooks/${id}/recover {"since":"${since}"}`,
  ].join('\n')
}

function alertOf({ id, description }: StoredWebhook): Omit<PlatformRecovery, 'body'> {
  return {
    alarmId: declaredAlarmId(WEBHOOK_ALERTS, 'webhook.disabled:*', id),
    source: 'platform.webhooks',
    title: `The webhook ${description === '' ? id : `“${description}”`} is disabled`,
  }
}
