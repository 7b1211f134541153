import type { AnswerOf } from '../../../api/operations.ts'
import type { ListFilter } from '../../../parts/list/list-query.ts'
import type { Tone } from '../../../parts/status-badge.tsx'

export type Certificate = AnswerOf<'getCertificate'>

const CERTIFICATE_TONES: Readonly<Record<Certificate['status'], Tone>> = {
  valid: 'good',
  not_yet_valid: 'active',
  expiring: 'warning',
  expired: 'danger',
  revoked: 'quiet',
  replaced: 'quiet',
}

/** Whether clients may refuse a certificate whose own times are right, because of its chain. */
export function hasWrongChain({ status, warnings }: Pick<Certificate, 'status' | 'warnings'>): boolean {
  return status === 'valid' && (warnings.includes('chain_broken') || warnings.includes('chain_order'))
}

// From so many days on, the alert of the end is an error (docs/specification.md, Certificates).
const URGENT_DAYS = 7

/** How the status of a certificate is judged: one that ends within days needs a person now. */
export function certificateTone(certificate: Pick<Certificate, 'status' | 'days_left' | 'warnings'>): Tone {
  const { status, days_left } = certificate
  if (hasWrongChain(certificate)) return 'warning'
  return status === 'expiring' && days_left <= URGENT_DAYS ? 'danger' : CERTIFICATE_TONES[status]
}

export const CERTIFICATE_FILTERS: readonly ListFilter[] = [
  { name: 'status', kind: 'choice', values: Object.keys(CERTIFICATE_TONES) },
  {
    name: 'ends',
    kind: 'period',
    parameters: [null, 'expires_before'],
    words: ['overdue', 'next-7d', 'next-30d'],
  },
]

export type CertificateOccasion = 'registered' | 'begins' | 'revoked' | 'ends'

export interface CertificateMoment {
  readonly occasion: CertificateOccasion
  readonly at: string
  readonly tone: Tone
  readonly note?: string
}

/** The life of a certificate in the order of time. */
export function momentsOf(certificate: Certificate): readonly CertificateMoment[] {
  const { created_at, created_by, not_before, not_after, revoked_at, revoke_reason, status } = certificate
  const moments: CertificateMoment[] = [
    { occasion: 'begins', at: not_before, tone: 'good' },
    { occasion: 'registered', at: created_at, tone: 'active', note: created_by },
    { occasion: 'ends', at: not_after, tone: status === 'expired' ? 'danger' : 'quiet' },
  ]
  const revoked: CertificateMoment[] =
    revoked_at === null
      ? []
      : [{ occasion: 'revoked', at: revoked_at, tone: 'warning', note: revoke_reason ?? '' }]
  return [...moments, ...revoked].toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at))
}
