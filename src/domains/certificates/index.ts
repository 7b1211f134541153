import { CERTIFICATE_ALERTS } from './alerts.ts'
import { inspectCertificatesCommand } from './commands.ts'
import { defineDomain, type DomainParts } from '../../wire/domain.ts'
import type { CertificateDeps } from './deps.ts'
import { CERTIFICATE_EVENTS } from './events.ts'
import { certificateCountJob, certificateInspectionJob } from './jobs.ts'
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
      certificates,
      routes: certificateRoutes(certificates),
      jobs: {
        api: [certificateCountJob(certificates, deps.metrics)],
        worker: [certificateInspectionJob(certificates, deps.scanEveryMs)],
      },
      builtInCommands: [inspectCertificatesCommand(certificates)],
    } satisfies DomainParts & { certificates: Certificates }
  },
})
