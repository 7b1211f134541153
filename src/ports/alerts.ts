import type { AlarmId, FiringSeverity } from '../kernel/alerts.ts'
import type { Tx } from '../store/store.ts'

/** The standard levels, the most severe first (docs/specification.md, Alerts); `CLOSE` is a recovery. */
export type Severity = FiringSeverity | 'CLOSE'

/** An alert that the platform itself raises. */
export interface PlatformAlert {
  /** The identity of the alert: declared by its domain, at most 128 characters, none of them chosen freely by a client. */
  readonly alarmId: AlarmId
  /** The part that raises it: `platform.orders`. */
  readonly source: string
  /** Title and body may quote a client: forbidden variables are removed, and what is too long is cut. */
  readonly title: string
  readonly body: string
  /** `CLOSE` recovers the alert. */
  readonly severity: Severity
  readonly serverAddr?: string
}

/** The end of an alert, with the reason as its body. */
export type PlatformRecovery = Omit<PlatformAlert, 'severity'>

/** Where a domain raises and recovers alerts. */
export interface PlatformAlerts {
  /** Raises or recovers an alert in the caller's transaction; raising it again raises its count. */
  raise(tx: Tx, alert: PlatformAlert): Promise<void>
}

/** For a domain that does not record which of its alerts fire. */
export interface RecoverableAlerts extends PlatformAlerts {
  /** Recovers an alert; does nothing if there is none with its `alarmId`, or if it has recovered. */
  recoverIfRaised(tx: Tx, alert: PlatformRecovery): Promise<void>
}
