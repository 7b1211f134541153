import type { LadderStep } from './ladder.ts'
import type { CertificateView } from './model.ts'

/** docs/specification.md, Events */
export const CERTIFICATE_EVENTS = {
  registered: 'certificate.registered',
  revoked: 'certificate.revoked',
  deleted: 'certificate.deleted',
  expiring: 'certificate.expiring',
} as const

/** A step before the end of a certificate, or of the first one of its chain. */
export interface CertificateEnding {
  readonly certificate: CertificateView
  readonly step: LadderStep
  /** Fingerprint of the certificate that ends first. */
  readonly expiresFirst: string
}

/** A change of a certificate, and who has made it. */
export interface CertificateChange {
  readonly certificate: CertificateView
  readonly actor: string
}
