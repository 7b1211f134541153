import type { Bus, BusMessage, Delivery } from '../../kernel/bus.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import { backoffMs } from '../../kernel/retry.ts'

export interface OutboxMessage extends BusMessage {
  /** Messages of one subject go out in the order of their numbers. */
  readonly seq: number
}

/** Where the messages wait that were written with a change. */
export interface Outbox {
  /** The oldest pending messages in their order, without those of some subjects. */
  pending(limit: number, withoutSubjects: readonly string[]): Promise<OutboxMessage[]>
  /**
   * Records what became of messages. May happen twice for the same one. Answers the numbers of those that it left
   * alone, because another process is settling them or has done so.
   */
  settle(settlement: {
    delivered: readonly OutboxMessage[]
    failed: readonly (OutboxMessage & { reason: string })[]
    refused: readonly (OutboxMessage & { reason: string })[]
  }): Promise<readonly number[]>
}

/** Makes sure that of all processes on one database one delivers, since two could overtake each other. */
export interface DeliveryLease {
  hold(): Promise<boolean>
  release(): Promise<void>
}

export interface DispatcherOptions {
  readonly bus: Bus
  readonly outbox: Outbox
  readonly lease: DeliveryLease
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
}

export interface Dispatcher {
  start(): void
  /** There is something to deliver. */
  wake(): void
  /** Resolves when that message was delivered or refused by way of this process, or when it was not within the time. */
  settled(id: string, withinMs: number): Promise<void>
  /** Lets the batch under way finish and gives the lease away; may be called twice. */
  close(): Promise<void>
}

const BATCH = 500
// Rows of other processes are found by looking; the look costs some microseconds.
const LOOK_EVERY_MS = 100
const LEASE_RETRY_MS = 500
const SUBJECT_BACKOFF = { initialMs: 100, maximumMs: 30_000 }
// More subjects than this in trouble at once is trouble of the bus, not of a subject.
const BLOCKED_LIMIT = 100

interface Block {
  readonly until: number
  readonly attempts: number
}

/**
 * Carries pending messages to the bus: oldest first, in batches, in the order of each subject. A message that fails
 * holds back its own subject alone. It runs in every process that may write messages; whoever has the lease delivers
 * for all.
 */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { bus, outbox, lease, clock, logger } = options
  const outcomes = options.metrics.counter({
    name: 'outbox_messages_total',
    help: 'Messages that were sent to the bus, by what became of them.',
    labels: ['outcome'],
  })
  const blocked = new Map<string, Block>()
  const waiters = new Map<string, () => void>()
  const alarm = createAlarm()
  let leading = false
  let closing = false
  let running: Promise<void> | undefined

  const stopListening = bus.onState((state) => {
    if (state === 'connected') blocked.clear()
    alarm.ring()
  })

  const run = async () => {
    while (!closing) {
      await alarm.wait(await round())
    }
    if (leading) await lease.release().catch(() => undefined)
  }

  /** One look at the outbox; answers how long to sleep. */
  const round = async (): Promise<number> => {
    try {
      if (bus.state !== 'connected') {
        await giveWay()
        return LEASE_RETRY_MS
      }
      leading = await lease.hold()
      if (!leading) return LEASE_RETRY_MS
      await drain()
      return LOOK_EVERY_MS
    } catch (error) {
      logger.warn({ error }, 'messages wait: the outbox cannot be read or written now')
      return LEASE_RETRY_MS
    }
  }

  /** Without a bus this process is in the way of one that has it. */
  const giveWay = async () => {
    if (!leading) return
    leading = false
    await lease.release()
  }

  const drain = async () => {
    while (!closing && bus.state === 'connected' && (leading = await lease.hold())) {
      const batch = await outbox.pending(BATCH, subjectsToLeave())
      if (batch.length === 0) return
      await deliver(batch)
      if (blocked.size > BLOCKED_LIMIT) return
    }
  }

  const deliver = async (batch: readonly OutboxMessage[]) => {
    const deliveries = await bus.publish(batch)
    const settlement = sorted(batch, deliveries)
    const leftAlone = new Set(
      await outbox.settle({ ...settlement, failed: firstOfEachSubject(settlement.failed) }),
    )
    for (const [outcome, messages] of Object.entries(settlement))
      outcomes.increment({ outcome }, messages.length)
    const isLeft = ({ seq }: OutboxMessage) => leftAlone.has(seq)
    const answered = [...settlement.delivered, ...settlement.refused].filter((message) => !isLeft(message))
    for (const { subject } of answered) blocked.delete(subject)
    const waiting = [...settlement.failed, ...batch.filter(isLeft)]
    for (const { subject } of firstOfEachSubject(waiting)) block(subject)
    for (const { id } of answered) waiters.get(id)?.()
  }

  const block = (subject: string) => {
    const attempts = (blocked.get(subject)?.attempts ?? 0) + 1
    blocked.set(subject, { attempts, until: clock.monotonic() + backoffMs(SUBJECT_BACKOFF, attempts - 1) })
  }

  const subjectsToLeave = (): string[] => {
    const now = clock.monotonic()
    return [...blocked].filter(([, { until }]) => until > now).map(([subject]) => subject)
  }

  const close = async () => {
    closing = true
    stopListening()
    alarm.ring()
    await running
  }

  return {
    start: () => {
      running ??= run()
    },
    wake: alarm.ring,
    settled(id, withinMs) {
      if (bus.state !== 'connected' || !leading) return Promise.resolve()
      return new Promise((resolve) => {
        const done = () => {
          clearTimeout(timer)
          waiters.delete(id)
          resolve()
        }
        const timer = setTimeout(done, withinMs)
        waiters.set(id, done)
      })
    },
    close,
  }
}

function sorted(batch: readonly OutboxMessage[], deliveries: readonly Delivery[]) {
  const delivered: OutboxMessage[] = []
  const failed: (OutboxMessage & { reason: string })[] = []
  const refused: (OutboxMessage & { reason: string })[] = []
  batch.forEach((message, index) => {
    const delivery = deliveries[index] ?? { outcome: 'failed', reason: 'the bus gave no answer' }
    if (delivery.outcome === 'delivered') delivered.push(message)
    else if (delivery.outcome === 'failed') failed.push({ ...message, reason: delivery.reason })
    else refused.push({ ...message, reason: delivery.reason })
  })
  return { delivered, failed, refused }
}

/** What stands behind a failed message of its subject was held back by it, and is not at fault. */
function firstOfEachSubject<M extends { subject: string }>(messages: readonly M[]): M[] {
  const firsts = new Map<string, M>()
  for (const message of messages) if (!firsts.has(message.subject)) firsts.set(message.subject, message)
  return [...firsts.values()]
}

/** A sleep that can be cut short; a ring while nobody sleeps cuts the next sleep short. */
function createAlarm() {
  let rung = false
  let wakeUp: (() => void) | undefined
  return {
    ring() {
      rung = true
      wakeUp?.()
    },
    async wait(milliseconds: number) {
      if (!rung) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, milliseconds)
          wakeUp = () => {
            clearTimeout(timer)
            // After the turn, so that everything that was written in it goes out in one batch.
            setImmediate(resolve)
          }
        })
      }
      wakeUp = undefined
      rung = false
    },
  }
}
