import type { Job } from '../../kernel/job.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import { SECOND } from '../../kernel/time.ts'
import { CERTIFICATE_STATUSES } from './model.ts'
import type { Certificates } from './service.ts'

const COUNT_EVERY_MS = 30 * SECOND

/** Reports certificates that end soon and damaged files (docs/specification.md, Certificates). */
export function certificateInspectionJob(certificates: Certificates, everyMs: number): Job {
  return {
    name: 'certificate-inspection',
    everyMs,
    async run(signal) {
      await certificates.inspect(signal)
    },
  }
}

/** Updates the gauge of certificates. */
export function certificateCountJob(certificates: Certificates, metrics: Metrics): Job {
  const byStatus = metrics.gauge({
    name: 'certificates',
    help: 'Certificates by status, counted every 30 s.',
    labels: ['status'],
  })
  return {
    name: 'certificate-count',
    everyMs: COUNT_EVERY_MS,
    gauges: [byStatus],
    async run() {
      const rows = await certificates.countByStatus()
      const counts = new Map(rows.map(({ status, certificates: count }) => [status, count]))
      for (const status of CERTIFICATE_STATUSES) byStatus.set(counts.get(status) ?? 0, { status })
    },
  }
}
