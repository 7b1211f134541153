import {
  Alerts,
  type Alert,
  type AlertDeps,
  type AlertOccasion,
  type AlertView,
  type Report,
} from '../../src/domains/alerts/index.ts'
import { Silences, type SilenceDeps } from '../../src/domains/alerts/silences/service.ts'
import { silentLogger } from '../../src/kernel/logger.ts'
import { noMetrics } from '../../src/kernel/metrics.ts'
import { HOUR } from '../../src/kernel/time.ts'
import type { DomainEvent } from '../../src/ports/events.ts'
import type { DialectName } from '../../src/store/dialects/capabilities.ts'
import { fakeClock } from './clock.ts'
import { inTransactions, testStore } from './store.ts'

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

/** Alerts and silences on a database of their own, with what they have emitted by their commits. */
export async function alertWorld(dialect: DialectName, overrides: Partial<AlertDeps> = {}) {
  const clock = fakeClock()
  const { store, address, ...disposal } = await testStore(dialect, clock)
  const events: DomainEvent<AlertView>[] = []
  const silenceEvents: string[] = []
  const noticed: Noticed[] = []
  const shared = { store, clock, logger: silentLogger, metrics: noMetrics }
  const service = new Alerts({
    ...shared,
    acknowledgeForMs: ACKNOWLEDGE_FOR_MS,
    events: {
      append: async (tx, event) =>
        tx.afterCommit(() => void events.push({ ...event, data: viewOf(event.data) })),
    },
    notifications: {
      notify: async (tx, { kind }, { alarmId, status }) =>
        tx.afterCommit(() => void noticed.push({ kind, alarmId, status })),
    },
    ...overrides,
  })
  const silenceDeps: SilenceDeps = {
    ...shared,
    alerts: service,
    events: { append: async (tx, { type }) => tx.afterCommit(() => void silenceEvents.push(type)) },
  }
  const alerts = inTransactions(store, service, 'report', 'recover', 'acknowledge', 'unfreeze')
  return {
    ...disposal,
    address,
    alerts,
    silences: inTransactions(store, new Silences(silenceDeps), 'create', 'end'),
    clock,
    events,
    silenceEvents,
    noticed,
    store,
    async report(report: Report, actor = 'anna') {
      const { alert, outcome } = await alerts.report(report, actor)
      return { alert: viewOf(alert), outcome }
    },
    types: () => events.map(({ type }) => type),
    kinds: () => noticed.map(({ kind }) => kind),
  }
}

export type AlertWorld = Awaited<ReturnType<typeof alertWorld>>

/** The alert as the API shows it. */
export function viewOf(alert: Alert | AlertView): AlertView {
  const { id, alarmId, source, title, body, level, weight, serverAddr, status, count } = alert
  const { firstAt, lastAt, recoveredAt } = alert
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
  }
}
