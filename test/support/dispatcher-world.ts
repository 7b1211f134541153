import { Alerts } from '../../src/domains/alerts/index.ts'
import { Messages } from '../../src/domains/messages/index.ts'
import { Dispatcher } from '../../src/infra/bus/dispatcher.ts'
import type { BusMessage } from '../../src/kernel/bus.ts'
import type { Clock } from '../../src/kernel/clock.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { silentLogger, type Logger } from '../../src/kernel/logger.ts'
import { noMetrics } from '../../src/kernel/metrics.ts'
import { HOUR, SECOND } from '../../src/kernel/time.ts'
import type { Outbox } from '../../src/ports/outbox.ts'
import type { DialectName } from '../../src/store/dialects/capabilities.ts'
import { createLease } from '../../src/store/work/lease.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'
import { noNotifications } from './alerts.ts'
import { anyAlerts } from './declared-alerts.ts'
import { eventually } from './eventually.ts'
import { MemoryBus } from './memory-bus.ts'
import { testStore, type TestStore } from './store.ts'

export const LEASE_MS = 10 * SECOND
const FIRST_PAGE = { limit: 1_000 }

/** One process: its connection to the database, and its services. */
export interface DispatcherSite {
  readonly store: Store
  readonly messages: Messages
  readonly alerts: Alerts
  readonly dispatcher: Dispatcher
}

interface DispatcherSiteOptions {
  readonly clock?: Clock
  /** Replaces the time that a publication waits for its delivery. */
  readonly waitMs?: number
  /** Wraps the outbox to inject faults. */
  readonly faulty?: (outbox: Outbox) => Outbox
  readonly logger?: Logger
}

export interface DispatcherWorld extends AsyncDisposable {
  readonly bus: MemoryBus
  readonly first: DispatcherSite
  /** Opens another process on the same database and bus. */
  another(): Promise<DispatcherSite>
}

export async function openDispatchers(
  dialect: DialectName,
  options: DispatcherSiteOptions = {},
): Promise<DispatcherWorld> {
  await using opening = new AsyncDisposableStack()
  const database: TestStore = opening.use(await testStore(dialect, options.clock))
  const bus = new MemoryBus()
  const open = (store: Store) => {
    const site = openSite(store, bus, options)
    opening.defer(() => site.dispatcher.close())
    return site
  }
  const first = open(database.store)
  const opened = opening.move()
  return {
    bus,
    first,
    async another() {
      const parts = { clock: options.clock ?? systemClock, metrics: noMetrics, logger: silentLogger }
      const store = await openStore({ database: database.address, ...parts })
      opened.defer(() => store.close())
      const site = openSite(store, bus, options)
      opened.defer(() => site.dispatcher.close())
      return site
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

function openSite(
  store: Store,
  bus: MemoryBus,
  { clock = systemClock, waitMs, faulty = (same) => same, logger = silentLogger }: DispatcherSiteOptions,
): DispatcherSite {
  const parts = { store, clock, logger, metrics: noMetrics }
  const messages: Messages = new Messages({
    ...parts,
    delivery: {
      wake: () => dispatcher.wake(),
      waitForSettlement: (id, withinMs) => dispatcher.waitForSettlement(id, waitMs ?? withinMs),
    },
    alerts: {
      raise: (tx, alert) => alerts.raise(tx, alert),
      recoverIfRaised: (tx, alert) => alerts.recoverIfRaised(tx, alert),
    },
  })
  const alerts = new Alerts({
    ...parts,
    events: messages.eventsOf('alerts', JSON.stringify),
    notifications: noNotifications,
    acknowledgeForMs: 4 * HOUR,
    declared: anyAlerts,
  })
  const lease = createLease({ store, clock, name: 'delivery', ttlMs: LEASE_MS })
  const dispatcher: Dispatcher = new Dispatcher({ ...parts, bus, lease, outbox: faulty(messages) })
  return { store, messages, alerts, dispatcher }
}

/** Writes numbered messages in successive transactions, as one producer does. */
export async function writeNumbered(
  { messages, store }: DispatcherSite,
  subjects: readonly string[],
  count: number,
): Promise<void> {
  const events = messages.eventsOf<number>('things', String)
  for (let number = 1; number <= count; number++) {
    await store.write(async (tx) => {
      for (const type of subjects) await events.append(tx, { type, subject: 'thing', data: number })
    })
  }
}

function numberIn({ payload }: BusMessage): number {
  return (JSON.parse(payload) as { data: number }).data
}

/** The numbers that arrived on a subject, without duplicates. */
export function numbersOn(subject: string, arrived: readonly BusMessage[]): number[] {
  const ofSubject = arrived.filter((message) => message.subject === subject)
  return [...new Map(ofSubject.map((message) => [message.id, numberIn(message)])).values()]
}

export function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1)
}

export async function messageStatuses({ messages }: DispatcherSite): Promise<Record<string, number>> {
  const { items } = await messages.list({}, FIRST_PAGE)
  return Object.fromEntries(
    [...Map.groupBy(items, ({ status }) => status)].map(([status, some]) => [status, some.length]),
  )
}

export const allDelivered = (site: DispatcherSite, count: number) =>
  eventually(
    `${count} messages to be delivered`,
    async () => (await messageStatuses(site))['delivered'] === count,
  )
