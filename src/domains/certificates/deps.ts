import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import type { PlatformAlerts } from '../../ports/alerts.ts'
import type { CertificateFiles } from '../../ports/certificate-files.ts'
import type { EventSink } from '../../ports/events.ts'
import type { Store } from '../../store/store.ts'
import type { CertificateChange, CertificateEnding } from './events.ts'

/** What the certificate domain needs of the rest of the platform. */
export interface CertificateDeps {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
  readonly events: EventSink<CertificateChange | CertificateEnding>
  readonly alerts: PlatformAlerts
  readonly files: CertificateFiles
}
