import type { Clock } from '../../kernel/clock.ts'
import { AppError, notFound } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Page, PageRequest } from '../../kernel/page.ts'
import { toRfc3339 } from '../../kernel/time.ts'
import type { Delivery, Settlement } from '../../ports/outbox.ts'
import type { Store, Tx } from '../../store/store.ts'
import { EVENT_HEADERS, toCloudEvent, type DomainEvent, type Message, type NewMessage } from './model.ts'
import {
  deleteDelivered,
  findMessage,
  insertMessage,
  listMessages,
  listPending,
  lockPending,
  markAttempt,
  markDelivered,
  readBacklog,
  reviveMessage,
  type MessageFilter,
  type PendingMessage,
} from './store.ts'

/** What the messages domain needs of the rest of the platform. */
export interface MessageDeps {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  /** The module that speaks, for the `source` of events. */
  readonly module: string
  readonly delivery: Delivery
  readonly alerts: { raise(tx: Tx, alert: MessageAlert): Promise<void> }
}

/** The alert that a dead message raises. */
export interface MessageAlert {
  readonly alarmId: string
  readonly source: 'platform.messages'
  readonly title: string
  readonly body: string
  readonly severity: 'ERROR'
}

export interface Messages {
  /** Writes an event in the caller's transaction; it goes out after the commit, at least once. */
  append(tx: Tx, event: DomainEvent): Promise<void>
  /** Persists a message, which goes out after the commit; answers it pending. */
  publish(message: NewMessage): Promise<Message>
  /** The message as it is after a short wait for the bus. Rejects with `message_not_found`. */
  awaitDelivery(id: string): Promise<Message>
  /** Rejects with `message_not_found`. */
  get(id: string): Promise<Message>
  /** Newest first. */
  list(filter: MessageFilter, page: PageRequest): Promise<Page<Message>>
  /** Sends a dead message once more. Rejects with `message_not_found`, or `invalid_transition` when it is not dead. */
  redrive(id: string): Promise<Message>
  /** The oldest pending messages in their order, leaving out those of some subjects. */
  pending(limit: number, withoutSubjects: readonly string[]): Promise<PendingMessage[]>
  /** Answers the numbers of those that it left alone: another transaction holds them now, or has settled them. */
  settle(settlement: Settlement): Promise<number[]>
  /** How many wait, and since when the oldest does (epoch milliseconds). */
  backlog(): Promise<{ pending: number; oldest: number | null }>
  /** Removes one batch of messages delivered before that time; answers how many. */
  prune(before: number, limit: number): Promise<number>
}

const EVENT_HEADERS_TEXT = JSON.stringify(EVENT_HEADERS)
// Long enough for a bus on the same network, short enough for a client that waits.
const PUBLISH_PATIENCE_MS = 1_000
const REASON_LENGTH = 500
// An alert about a message that could not be sent is itself a message; it must not raise another one.
const UNALERTED_SUBJECTS = 'alert.'

export function createMessageService(deps: MessageDeps): Messages {
  const { store, clock, logger, delivery, alerts } = deps
  const source = `/platform/${deps.module}`

  const bury = async (tx: Tx, { seq, id, subject, reason }: Settlement['refused'][number]) => {
    if (!(await markAttempt(tx, seq, shortened(reason), 'dead'))) return
    tx.afterCommit(() =>
      logger.error({ message_id: id, subject, reason }, 'the bus refused a message for good'),
    )
    if (!subject.startsWith(UNALERTED_SUBJECTS)) await alerts.raise(tx, deadAlert(id, subject, reason))
  }

  const get = async (id: string): Promise<Message> => {
    const message = await findMessage(store.read, id)
    if (!message) throw notFound('message', id)
    return message
  }

  return {
    async append(tx, event) {
      const createdAt = clock.now()
      const id = newId()
      const payload = toCloudEvent({ id, source, time: toRfc3339(createdAt) }, event)
      await insertMessage(tx, { id, subject: event.type, payload, headers: EVENT_HEADERS_TEXT, createdAt })
      tx.afterCommit(delivery.wake)
    },

    publish: ({ subject, payload, headers }) =>
      store.write(async (tx) => {
        const message = newMessage(subject, JSON.stringify(payload), headers, clock.now())
        await insertMessage(tx, { ...message, headers: JSON.stringify(headers) })
        tx.afterCommit(delivery.wake)
        return message
      }),

    async awaitDelivery(id) {
      // Asked for before the look, or a delivery between the two would be waited for in vain.
      const settled = delivery.settled(id, PUBLISH_PATIENCE_MS)
      const message = await get(id)
      if (message.status !== 'pending') return message
      await settled
      return get(id)
    },

    get,

    list: (filter, page) => listMessages(store.read, filter, page),

    async redrive(id) {
      const revived = await store.write(async (tx) => {
        const message = await reviveMessage(tx, id)
        tx.afterCommit(delivery.wake)
        return message
      })
      if (revived) return revived
      const { status } = await get(id)
      throw new AppError(
        'conflict',
        'invalid_transition',
        `A ${status} message cannot become pending; only a dead one can be sent once more.`,
      )
    },

    pending: (limit, withoutSubjects) => listPending(store.read, limit, withoutSubjects),

    settle: ({ delivered, failed, refused }) =>
      store.write(async (tx) => {
        const seqs = [...delivered, ...failed, ...refused].map(({ seq }) => seq)
        const free = await lockPending(tx, seqs)
        const isFree = ({ seq }: { seq: number }) => free.has(seq)
        const arrived = delivered.filter(isFree).map(({ seq }) => seq)
        await markDelivered(tx, arrived, clock.now())
        for (const { seq, reason } of failed.filter(isFree)) {
          await markAttempt(tx, seq, shortened(reason), 'pending')
        }
        for (const message of refused.filter(isFree)) await bury(tx, message)
        return seqs.filter((seq) => !free.has(seq))
      }),

    backlog: () => readBacklog(store.read),

    prune: (before, limit) => store.write((tx) => deleteDelivered(tx, before, limit)),
  }
}

function newMessage(
  subject: string,
  payload: string,
  headers: NewMessage['headers'],
  createdAt: number,
): Message {
  return {
    id: newId(),
    subject,
    payload,
    headers,
    status: 'pending',
    attempts: 0,
    lastError: null,
    createdAt,
    deliveredAt: null,
  }
}

function shortened(reason: string): string {
  return reason.slice(0, REASON_LENGTH)
}

function deadAlert(id: string, subject: string, reason: string): MessageAlert {
  return {
    alarmId: `message.dead:${id}`,
    source: 'platform.messages',
    title: `A message on ${subject} cannot be delivered`,
    body: `The bus refused message ${id}: ${shortened(reason)}. Redrive it once the cause is gone.`,
    severity: 'ERROR',
  }
}
