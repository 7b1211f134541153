import {
  Alerts,
  type Alert,
  type AlertDeps,
  type AlertNotifications,
  type AlertOccasion,
  type AlertView,
  type Report,
} from '../../src/domains/alerts/index.ts'
import { Silences } from '../../src/domains/alerts/silences/service.ts'
import type { Clock } from '../../src/kernel/clock.ts'
import { silentLogger } from '../../src/kernel/logger.ts'
import { noMetrics } from '../../src/kernel/metrics.ts'
import { HOUR } from '../../src/kernel/time.ts'
import type { DomainEvent } from '../../src/ports/events.ts'
import type { DialectName } from '../../src/store/dialects/capabilities.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'
import { fakeClock } from './clock.ts'
import { anyAlerts } from './declared-alerts.ts'
import { inTransactions, testStore } from './store.ts'

/** Sends no notifications. */
export const noNotifications: AlertNotifications = {
  async notify() {},
  async review() {},
  async acknowledged() {},
}

export const ACKNOWLEDGE_FOR_MS = 4 * HOUR

/** A report with an id of its own, of which a test changes what matters to it. */
export const FAILED: Report = {
  alarmId: 'backup.failed',
  source: 'platform.backup',
  title: 'Backup failed',
  body: 'No space left.',
  serverAddr: '192.0.2.10',
  level: 'ERROR',
}

/** What was passed to the notifications. */
export interface Noticed {
  readonly kind: AlertOccasion['kind']
  readonly alarmId: string | null
  readonly status: AlertView['status']
}

/** What was committed, of all processes of a world. */
interface Committed {
  readonly events: DomainEvent<AlertView>[]
  readonly silenceEvents: string[]
  readonly noticed: Noticed[]
}

/** Alerts and silences on a database of their own, with what their commits have emitted. */
export async function alertWorld(dialect: DialectName, overrides: Partial<AlertDeps> = {}) {
  const clock = fakeClock()
  const { store, address, ...disposal } = await testStore(dialect, clock)
  const record: Committed = { events: [], silenceEvents: [], noticed: [] }
  return {
    ...disposal,
    ...record,
    ...processOn(store, clock, record, overrides),
    clock,
    types: () => record.events.map(({ type }) => type),
    kinds: () => record.noticed.map(({ kind }) => kind),
    /** The same on a connection of its own, as another process has it. */
    async otherProcess() {
      const limits = {}
      const own = await openStore({
        database: address,
        clock,
        metrics: noMetrics,
        logger: silentLogger,
        limits,
      })
      return {
        ...processOn(own, clock, record, overrides),
        [Symbol.asyncDispose]: () => own.close(),
      }
    },
  }
}

function processOn(store: Store, clock: Clock, record: Committed, overrides: Partial<AlertDeps>) {
  const shared = { store, clock, logger: silentLogger, metrics: noMetrics }
  const service = new Alerts({
    ...shared,
    acknowledgeForMs: ACKNOWLEDGE_FOR_MS,
    declared: anyAlerts,
    events: {
      append: async (tx, event) =>
        tx.afterCommit(() => void record.events.push({ ...event, data: viewOf(event.data) })),
    },
    notifications: {
      ...noNotifications,
      notify: async (tx, { kind }, { alarmId, status }) =>
        tx.afterCommit(() => void record.noticed.push({ kind, alarmId, status })),
    },
    ...overrides,
  })
  const silences = new Silences({
    ...shared,
    alerts: service,
    events: { append: async (tx, { type }) => tx.afterCommit(() => void record.silenceEvents.push(type)) },
  })
  const alerts = inTransactions(store, service, 'report', 'recover', 'acknowledge', 'unfreeze')
  return {
    store,
    alerts,
    silences: inTransactions(store, silences, 'create', 'end'),
    async report(report: Report, actor = 'anna') {
      const { alert, outcome } = await alerts.report(report, actor)
      return { alert: viewOf(alert), outcome }
    },
  }
}

export type AlertWorld = Awaited<ReturnType<typeof alertWorld>>

/** The alert as the API shows it. */
export function viewOf(alert: Alert | AlertView): AlertView {
  const { id, alarmId, source, title, body, level, weight, serverAddr, status, count } = alert
  const { firstAt, lastAt, recoveredAt, labels, version } = alert
  return {
    id,
    alarmId,
    source,
    title,
    body,
    level,
    weight,
    serverAddr,
    status,
    count,
    firstAt,
    lastAt,
    recoveredAt,
    runbookUrl: alert.runbookUrl,
    startsAt: alert.startsAt,
    generatorUrl: alert.generatorUrl,
    labels,
    version,
  }
}
