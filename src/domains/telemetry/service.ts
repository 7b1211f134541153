import type { RawBuilder } from 'kysely'
import { AppError, requireFound } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { JsonText } from '../../kernel/text.ts'
import type { Counter } from '../../kernel/metrics.ts'
import type { Page, PageRequest } from '../../kernel/page.ts'
import { storedTrace } from '../../kernel/trace.ts'
import type { Delivery } from '../../ports/outbox.ts'
import type { ServiceDeps, Tx } from '../../store/store.ts'
import { bucketSize, MAX_AGENTS, MAX_PENDING_BYTES, takeTokens, type Agent, type Upload } from './model.ts'
import {
  addToTotals,
  deleteDeliveredTelemetry,
  deleteSilentAgents,
  findAgent,
  insertAgent,
  insertionAfter,
  listAgents,
  lockAgent,
  readTotals,
  subtractFromTotals,
  updateAgent,
} from './store.ts'

/** What the telemetry domain needs of the rest of the platform. */
export interface TelemetryDeps extends ServiceDeps {
  readonly delivery: Pick<Delivery, 'wake'>
  /** The number of the newest message. */
  readonly newestMessage: RawBuilder<number>
  /** How many items may wait for the bus. */
  readonly maxPending: number
  /** How many items an agent may send in a second. */
  readonly ratePerSecond: number
  /** The maximum number of stored agents. */
  readonly maxAgents?: number
  /** How many bytes may wait for the bus. */
  readonly maxPendingBytes?: number
}

const REFUSALS = ['rate', 'pending'] as const
type Refusal = (typeof REFUSALS)[number]

// The outbox empties within seconds once the bus is back; until then there is no better time to name.
const PENDING_RETRY_SECONDS = 5

/** Accepts the telemetry of agents within its limits, and keeps a list of the agents. */
export class Telemetry {
  readonly #deps: Required<TelemetryDeps>
  readonly #insertUpload: ReturnType<typeof insertionAfter>
  readonly #accepted: Counter
  readonly #refused: Counter
  /** The refused uploads that were counted: a repeated transaction refuses its upload again. */
  readonly #counted = new WeakSet<Upload>()

  constructor(deps: TelemetryDeps) {
    this.#deps = { maxAgents: MAX_AGENTS, maxPendingBytes: MAX_PENDING_BYTES, ...deps }
    this.#insertUpload = insertionAfter(deps.newestMessage)
    this.#accepted = deps.metrics.counter({
      name: 'telemetry_accepted_total',
      help: 'Items of telemetry that were accepted.',
    })
    this.#refused = deps.metrics.counter({
      name: 'telemetry_refused_total',
      help: 'Items of telemetry that were refused: above the rate of their agent, or because too many wait.',
      labels: { reason: REFUSALS },
    })
  }

  /**
   * Writes the items of one request as one row, which is published after the commit. Rejects with `rate_limited`, and
   * accepts none of them, above the rate of the agent or when too many items wait.
   */
  async accept(tx: Tx, upload: Upload, actor: string): Promise<void> {
    const at = this.#deps.clock.now()
    await this.#requireRoom(tx, upload)
    const isNew = await this.#updateAgent(tx, upload, at)
    const agents = await this.#addToTotals(tx, upload, isNew)
    // After the update of the totals, which locks their row: so uploads are numbered in the order of the commits, and
    // each one reads a message that is not older than that of the one before.
    const { agentId, items, bytes, content } = upload
    const row = { id: newId(), agentId, items, bytes, content, trace: storedTrace() }
    await this.#insertUpload(tx, { ...row, sent: 0, acceptedAt: at, acceptedBy: actor, deliveredAt: null })
    if (agents > this.#deps.maxAgents) await this.#forget(tx, agents - this.#deps.maxAgents, upload.agentId)
    tx.afterCommit(() => this.#record(upload, actor))
  }

  /** Rejects with `agent_not_found`. */
  async getAgent(agentId: string): Promise<Agent & { lastItem: JsonText }> {
    return requireFound(await findAgent(this.#deps.store.read, agentId), 'agent', agentId)
  }

  /** Newest first, by their first item. */
  listAgents(page: PageRequest): Promise<Page<Agent>> {
    return listAgents(this.#deps.store.read, {}, page)
  }

  /** How many items and bytes wait, and how many agents are remembered. */
  async totals(): Promise<{ pending: number; pendingBytes: number; agents: number }> {
    const { pendingItems, pendingBytes, agents } = await readTotals(this.#deps.store.read)
    return { pending: pendingItems, pendingBytes, agents }
  }

  /** Removes one batch of the uploads that were delivered before `before`; returns how many. */
  prune(before: number, limit: number): Promise<number> {
    return this.#deps.store.write((tx) => deleteDeliveredTelemetry(tx, before, limit))
  }

  /** Must be called before any change: a later refusal makes the store repeat the whole group of writes. */
  async #requireRoom(tx: Tx, upload: Upload): Promise<void> {
    const { pendingItems, pendingBytes } = await readTotals(tx)
    const { maxPending, maxPendingBytes } = this.#deps
    const fits = pendingItems + upload.items <= maxPending && pendingBytes + upload.bytes <= maxPendingBytes
    if (!fits) throw this.#refusePending(upload, pendingBytes)
  }

  /** Returns whether the agent is new. */
  async #updateAgent(tx: Tx, upload: Upload, at: number): Promise<boolean> {
    const { agentId } = upload
    const known = await lockAgent(tx, agentId)
    const { firstAt = at, items = 0, bucketFullAt: fullAt = 0 } = known ?? {}
    const agent = {
      agentId,
      firstAt,
      lastAt: at,
      items: items + upload.items,
      bucketFullAt: this.#takeTokens(upload, fullAt, at),
      lastItem: new JsonText(upload.lastItem),
      refusedAt: null,
    }
    if (known) await updateAgent(tx, agent)
    // Another transaction has added the agent: now its row can be locked.
    else if (!(await insertAgent(tx, agent))) return this.#updateAgent(tx, upload, at)
    return known === undefined
  }

  #takeTokens(upload: Upload, fullAt: number, at: number): number {
    const { ratePerSecond } = this.#deps
    const tokens = takeTokens(fullAt, upload.items, at, ratePerSecond)
    if (tokens.outcome === 'taken') return tokens.fullAt
    throw this.#refuse(upload, 'rate', rateMessage(upload.items, ratePerSecond), tokens.retryAfterSeconds)
  }

  /** Returns the number of agents. Rejects if other transactions have used up the limit since it was read. */
  async #addToTotals(tx: Tx, upload: Upload, isNew: boolean): Promise<number> {
    const { items, bytes } = upload
    const { maxPending: maxItems, maxPendingBytes: maxBytes } = this.#deps
    const agents = await addToTotals(tx, { items, bytes, agents: isNew ? 1 : 0, maxItems, maxBytes })
    if (agents === undefined) throw this.#refusePending(upload, (await readTotals(tx)).pendingBytes)
    return agents
  }

  async #forget(tx: Tx, count: number, sender: string): Promise<void> {
    await subtractFromTotals(tx, 0, 0, await deleteSilentAgents(tx, count, sender))
  }

  #refusePending(upload: Upload, pendingBytes: number): AppError {
    const { maxPending, maxPendingBytes } = this.#deps
    const [limit, size, unit] =
      pendingBytes + upload.bytes > maxPendingBytes
        ? [maxPendingBytes, upload.bytes, 'bytes of items']
        : [maxPending, upload.items, 'items']
    const message = `${limit} ${unit} may wait for the bus, and there is no room for ${size} more.`
    return this.#refuse(upload, 'pending', message, PENDING_RETRY_SECONDS)
  }

  #refuse(upload: Upload, reason: Refusal, message: string, retryAfterSeconds: number): AppError {
    if (!this.#counted.has(upload)) this.#refused.increment({ reason }, upload.items)
    this.#counted.add(upload)
    return new AppError('rate_limited', 'rate_limited', message, { retryAfterSeconds })
  }

  #record({ agentId, items }: Upload, actor: string): void {
    const { logger, delivery } = this.#deps
    this.#accepted.increment({}, items)
    logger.debug({ agent_id: agentId, items, actor }, 'telemetry accepted')
    delivery.wake()
  }
}

function rateMessage(items: number, perSecond: number): string {
  const atOnce = bucketSize(perSecond)
  const limit = `An agent may send ${perSecond} items a second, and ${atOnce} at once; none of these items was accepted.`
  // Waiting, as `Retry-After` suggests, does not help here.
  return items > atOnce ? `${limit} A batch of ${items} never fits: send ${atOnce} at most.` : limit
}
