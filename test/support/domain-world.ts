import type { Clock } from '../../src/kernel/clock.ts'
import { silentLogger } from '../../src/kernel/logger.ts'
import { noMetrics } from '../../src/kernel/metrics.ts'
import type { PlatformAlert } from '../../src/ports/alerts.ts'
import type { DomainEvent } from '../../src/ports/events.ts'
import type { DialectName } from '../../src/store/dialects/capabilities.ts'
import type { Store, Tx } from '../../src/store/store.ts'
import { fakeClock } from './clock.ts'
import { testStores } from './store.ts'

/** Records the events and alerts that a domain commits. */
function committed<T>() {
  const events: DomainEvent<T>[] = []
  const alerts: PlatformAlert[] = []
  const append = async (tx: Tx, event: DomainEvent<T>) => tx.afterCommit(() => events.push(event))
  const raise = async (tx: Tx, alert: PlatformAlert) => tx.afterCommit(() => alerts.push(alert))
  const recoverIfRaised = async (tx: Tx, alert: Omit<PlatformAlert, 'severity'>) =>
    tx.afterCommit(() => {
      const last = alerts.findLast(({ alarmId }) => alarmId === alert.alarmId)
      if (last && last.severity !== 'CLOSE') alerts.push({ ...alert, severity: 'CLOSE' })
    })
  return {
    events,
    alerts,
    /** The events as texts: `order.paid 17`. */
    eventLines: () => events.map(({ type, subject }) => `${type} ${subject}`),
    /** The alerts as texts: `backup.failed ERROR`. */
    alertLines: () => alerts.map(({ alarmId, severity }) => `${alarmId} ${severity}`),
    sinks: { events: { append }, alerts: { raise, recoverIfRaised } },
  }
}

/** What one process gives to a domain, and what the domain has committed there. */
export function domainParts<T>(store: Store, clock: Clock) {
  const { sinks, ...record } = committed<T>()
  return { record, deps: { store, clock, logger: silentLogger, metrics: noMetrics, ...sinks } }
}

/** The domain of one process on an empty database; `another` is that of another process on the same one. */
export async function domainWorld<T, W extends object>(
  dialect: DialectName,
  domainOf: (parts: ReturnType<typeof domainParts<T>>) => W,
  clock = fakeClock(),
) {
  const stores = await testStores(dialect, clock)
  const processOn = (store: Store) => {
    const parts = domainParts<T>(store, clock)
    return { store, clock, ...parts.record, ...domainOf(parts) }
  }
  return {
    ...processOn(stores.store),
    another: processOn(stores.otherStore),
    [Symbol.asyncDispose]: () => stores[Symbol.asyncDispose](),
  }
}
