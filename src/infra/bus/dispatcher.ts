import type { Bus, BusState, PublishResult } from '../../kernel/bus.ts'
import type { Clock } from '../../kernel/clock.ts'
import { InterruptibleSleep } from '../../kernel/waiting.ts'
import { type Logger, createOutage, type Outage } from '../../kernel/logger.ts'
import type { Counter, Metrics } from '../../kernel/metrics.ts'
import { isRecording, receivedTrace, recordSpan } from '../../kernel/trace.ts'
import type {
  Delivery,
  DeliveryLease,
  Outbox,
  OutboxMessage,
  Settlement,
  UndeliveredMessage,
} from '../../ports/outbox.ts'
import { failedResult } from './batch.ts'
import { SubjectBackoff } from './subject-backoff.ts'

export interface DispatcherDeps {
  readonly bus: Bus
  readonly outbox: Outbox
  readonly lease: DeliveryLease
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
}

const BATCH_SIZE = 500
// New messages of other processes are found by polling; one poll takes a few microseconds.
const POLL_MS = 100
const LEASE_RETRY_MS = 500
// A query takes at most 32,766 parameters on SQLite.
const MAX_EXCLUDED = 10_000
// Each agent of telemetry has a subject of its own.
const MAX_FLOWING = 10_000

/**
 * Sends pending messages to the bus: oldest first, in batches, in order for each subject. A message that fails delays
 * the later ones of its subject and nothing else. Every process that may write runs a dispatcher; the one that holds
 * the lease delivers for all.
 */
export class Dispatcher implements Delivery {
  readonly #deps: DispatcherDeps
  readonly #outage: Outage
  readonly #refusal: Outage
  readonly #results: Counter
  readonly #backoff: SubjectBackoff
  /** The subjects whose last message was delivered, on this connection. */
  readonly #flowing = new Set<string>()
  /** By the id of a message; several callers may wait for the same one. */
  readonly #waiters = new Map<string, Set<() => void>>()
  readonly #pause = new InterruptibleSleep()
  readonly #stopListening: () => void
  #holdsLease = false
  #isClosing = false
  #connectionCount = 0
  #running: Promise<void> | undefined

  constructor(deps: DispatcherDeps) {
    const { bus, clock, logger, metrics } = deps
    this.#deps = deps
    this.#outage = createOutage(logger, 'outbox', { clock })
    this.#refusal = createOutage(logger, 'delivery', { clock })
    this.#backoff = new SubjectBackoff(clock)
    this.#results = metrics.counter({
      name: 'outbox_messages_total',
      help: 'Messages that were sent to the bus, by outcome.',
      labels: ['outcome'],
    })
    this.#count({ delivered: [], failed: [], refused: [] })
    this.#stopListening = bus.onState((state) => this.#onBusState(state))
  }

  /** Whether this process delivers, and no other one. */
  get isDelivering(): boolean {
    return this.#holdsLease
  }

  /** Whether the bus answers, but does not take messages, which wait. */
  get isRefused(): boolean {
    return this.#refusal.isFailing
  }

  /** May be called twice. */
  start(): void {
    this.#running ??= this.#run()
  }

  wake(): void {
    this.#pause.interrupt()
  }

  waitForSettlement(id: string, withinMs: number): Promise<void> {
    if (this.#deps.bus.state !== 'connected' || !this.#holdsLease) return Promise.resolve()
    return new Promise((resolve) => {
      const waiters = this.#waiters.getOrInsertComputed(id, () => new Set())
      const done = () => {
        clearTimeout(timer)
        waiters.delete(done)
        if (waiters.size === 0) this.#waiters.delete(id)
        resolve()
      }
      const timer = setTimeout(done, withinMs)
      waiters.add(done)
    })
  }

  /** Finishes the current batch and releases the lease; may be called twice. */
  async close(): Promise<void> {
    this.#isClosing = true
    this.#stopListening()
    this.wake()
    await this.#running
  }

  #onBusState(state: BusState): void {
    if (state === 'connected') {
      this.#connectionCount += 1
      this.#flowing.clear()
      this.#backoff.clear()
      this.#refusal.works()
    }
    this.wake()
  }

  async #run(): Promise<void> {
    while (!this.#isClosing) await this.#pause.sleep(await this.#poll())
    await this.#releaseLease().catch(() => undefined)
  }

  /** Returns the pause until the next poll, in milliseconds. */
  async #poll(): Promise<number> {
    try {
      // Without a bus this process must not keep the lease from one that is connected.
      if (this.#deps.bus.state !== 'connected') await this.#releaseLease()
      else {
        const isHeld = await this.#takeLease()
        if (isHeld) await this.#drain()
        this.#outage.works()
        if (isHeld) return POLL_MS
      }
    } catch (error) {
      this.#outage.fails(error)
    }
    return LEASE_RETRY_MS
  }

  async #takeLease(): Promise<boolean> {
    this.#holdsLease = await this.#deps.lease.hold()
    return this.#holdsLease
  }

  async #releaseLease(): Promise<void> {
    if (!this.#holdsLease) return
    this.#holdsLease = false
    await this.#deps.lease.release()
  }

  async #drain(): Promise<void> {
    while (!this.#isClosing && this.#deps.bus.state === 'connected' && (await this.#takeLease())) {
      const waiting = this.#backoff.waiting()
      if (waiting.length > MAX_EXCLUDED) return
      const pending = await this.#deps.outbox.pending(BATCH_SIZE, waiting)
      const settled = await this.#deliver(this.#firstOfStopped(pending))
      if (settled === 0) return
    }
  }

  /**
   * Takes only the first message of a subject that is not flowing. A stream that comes back while a batch is on its way would
   * store the end of the batch before the messages that it has missed.
   */
  #firstOfStopped(pending: readonly OutboxMessage[]): OutboxMessage[] {
    const stopped = new Set<string>()
    return pending.filter(({ subject }) => {
      if (this.#flowing.has(subject)) return true
      const isFirst = !stopped.has(subject)
      stopped.add(subject)
      return isFirst
    })
  }

  /** Returns how many messages were delivered or refused. */
  async #deliver(batch: readonly OutboxMessage[]): Promise<number> {
    if (batch.length === 0) return 0
    const connection = this.#connectionCount
    const begin = this.#deps.clock.monotonic()
    const results = toSettlement(batch, await this.#deps.bus.publish(batch))
    recordDeliveries(results, this.#deps.clock.monotonic() - begin)
    const skipped = new Set(
      await this.#deps.outbox.settle({ ...results, failed: firstOfEachSubject(results.failed) }),
    )
    this.#count(results)
    const isSettled = ({ seq }: OutboxMessage) => !skipped.has(seq)
    const delivered = results.delivered.filter(isSettled)
    const refused = results.refused.filter(isSettled)
    const settled = [...delivered, ...refused]
    const unsettled = firstOfEachSubject([
      ...results.failed,
      ...batch.filter((message) => !isSettled(message)),
    ])
    const isSameConnection = connection === this.#connectionCount
    // Failures of an earlier connection must not delay messages on this one.
    const failures = isSameConnection ? unsettled : []
    this.#backoff.update({
      succeeded: delivered.map(subjectOf),
      refused: refused.map(subjectOf),
      failed: failures.map(subjectOf),
    })
    // A refused message may have to wait: then the others of its subject are not sent again with it each time.
    const stopped = [...results.failed, ...results.refused.filter((message) => !isSettled(message))]
    if (isSameConnection) {
      this.#updateFlowing(results.delivered, stopped)
      this.#noteRefusal(results.failed)
    }
    for (const { id } of settled) for (const done of this.#waiters.get(id) ?? []) done()
    return settled.length
  }

  /** A missing stream has lines of its own in the log. */
  #noteRefusal(failed: readonly UndeliveredMessage[]): void {
    const first = failed.find(({ fault }) => fault !== 'no_stream')
    if (first && this.#deps.bus.state === 'connected') {
      const { subject, reason } = first
      this.#refusal.fails(new Error(`${subject}: ${reason}`))
    } else if (this.#backoff.isEmpty) this.#refusal.works()
  }

  #updateFlowing(delivered: readonly OutboxMessage[], stopped: readonly OutboxMessage[]): void {
    if (this.#flowing.size > MAX_FLOWING) this.#flowing.clear()
    for (const { subject } of delivered) this.#flowing.add(subject)
    for (const { subject } of stopped) this.#flowing.delete(subject)
  }

  #count(results: Settlement): void {
    for (const [outcome, messages] of Object.entries(results)) {
      this.#results.increment({ outcome }, messages.length)
    }
  }
}

function recordDeliveries({ delivered, failed, refused }: Settlement, durationMs: number): void {
  const record = ({ subject, traceHeaders }: OutboxMessage, isFailed: boolean) => {
    if (!traceHeaders) return
    const trace = receivedTrace(traceHeaders)
    recordSpan({ name: `publish ${subject}`, kind: 'producer', trace, durationMs, attributes: {}, isFailed })
  }
  if (!isRecording()) return
  for (const message of delivered) record(message, false)
  for (const message of [...failed, ...refused]) record(message, true)
}

function toSettlement(batch: readonly OutboxMessage[], results: readonly PublishResult[]): Settlement {
  const delivered: OutboxMessage[] = []
  const undelivered: Record<'failed' | 'refused', UndeliveredMessage[]> = { failed: [], refused: [] }
  batch.forEach((message, index) => {
    const result = results[index] ?? failedResult('the bus gave no answer')
    if (result.outcome === 'delivered') delivered.push(message)
    else undelivered[result.outcome].push({ ...message, reason: result.reason, fault: result.fault })
  })
  return { delivered, ...undelivered }
}

function subjectOf({ subject }: OutboxMessage): string {
  return subject
}

/** Messages behind the first failed one of a subject only waited for it: they have not failed themselves. */
function firstOfEachSubject<M extends { subject: string }>(messages: readonly M[]): M[] {
  const firsts = new Map<string, M>()
  for (const message of messages) if (!firsts.has(message.subject)) firsts.set(message.subject, message)
  return [...firsts.values()]
}
