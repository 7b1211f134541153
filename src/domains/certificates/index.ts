import { builtInCommand, type BuiltInCommand } from '../../kernel/command.ts'
import { formatCount } from '../../kernel/text.ts'
import { countJob, type Job } from '../../kernel/job.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import { defineDomain, type DomainParts } from '../../wire/domain.ts'
import { CERTIFICATE_ALERTS } from './alerts.ts'
import type { CertificateDeps } from './deps.ts'
import { CERTIFICATE_EVENTS } from './events.ts'
import { CERTIFICATE_STATUSES } from './model.ts'
import { CERTIFICATE_ERRORS, CERTIFICATE_READERS, certificateRoutes } from './routes.ts'
import { CertificateChangeSchema, CertificateEndingSchema, encodeCertificateEvent } from './schemas.ts'
import { Certificates } from './service.ts'
import { names } from './tables.ts'

export type { CertificateDeps } from './deps.ts'
export type { InspectionResult } from './inspection.ts'
export type { Certificate, CertificateStatus, CertificateView, CertificateWarning } from './model.ts'
export { Certificates, type NewCertificate, type Registration } from './service.ts'

/** X.509 certificates, their files, and the inspection of both (docs/specification.md, Certificates). */
export const certificatesDomain = defineDomain({
  name: 'certificates',
  tables: names,
  events: CERTIFICATE_EVENTS,
  eventSchemas: {
    [CERTIFICATE_EVENTS.expiring]: CertificateEndingSchema,
    'certificate.*': CertificateChangeSchema,
  },
  eventReaders: CERTIFICATE_READERS,
  errors: CERTIFICATE_ERRORS,
  alerts: CERTIFICATE_ALERTS,
  encodeEvent: encodeCertificateEvent,
  create: (deps: CertificateDeps & { readonly scanEveryMs: number }) => {
    const certificates = new Certificates(deps)
    return {
      service: certificates,
      routes: certificateRoutes(certificates),
      jobs: {
        api: [certificateCountJob(certificates, deps.metrics)],
        worker: [certificateInspectionJob(certificates, deps.scanEveryMs)],
      },
      builtInCommands: [inspectCertificatesCommand(certificates)],
    } satisfies DomainParts
  },
})

/** Inspects all certificates now, instead of at the next scan. */
function inspectCertificatesCommand(certificates: Pick<Certificates, 'inspect'>): BuiltInCommand {
  return builtInCommand({
    id: 'certificates.inspect',
    title: 'Inspect certificates',
    description: 'Inspects all certificates and their files now, instead of at the next scan.',
    async run({ signal, print }) {
      const { inspected, reported, damagedFiles } = await certificates.inspect(signal)
      print(
        `Inspected ${formatCount(inspected, 'certificate')}: ${reported} reported, ${formatCount(damagedFiles, 'damaged file')}.`,
      )
    },
  })
}

/** Reports certificates that end soon and damaged files (docs/specification.md, Certificates). */
function certificateInspectionJob(certificates: Certificates, everyMs: number): Job {
  return {
    name: 'certificate-inspection',
    everyMs,
    async run(signal) {
      await certificates.inspect(signal)
    },
  }
}

/** Updates the gauge of certificates. */
function certificateCountJob(certificates: Certificates, metrics: Metrics): Job {
  return countJob(metrics, {
    name: 'certificate-count',
    gauge: { name: 'certificates', help: 'Certificates by status, counted every 30 s.' },
    label: 'status',
    values: CERTIFICATE_STATUSES,
    count: async () =>
      (await certificates.countByStatus()).map(({ status, certificates: count }) => [status, count] as const),
  })
}
