import { DAY } from '../../kernel/time.ts'

export const CERTIFICATE_STATUSES = [
  'valid',
  'not_yet_valid',
  'expiring',
  'expired',
  'revoked',
  'replaced',
] as const
export type CertificateStatus = (typeof CERTIFICATE_STATUSES)[number]

export const CERTIFICATE_WARNINGS = [
  'weak_key',
  'weak_signature',
  'self_signed',
  'ca_as_leaf',
  'chain_order',
  'chain_broken',
  'chain_expires_first',
] as const
export type CertificateWarning = (typeof CERTIFICATE_WARNINGS)[number]

/** A certificate of a chain, without the first one. */
export interface ChainMember {
  readonly fingerprintSha256: string
  readonly subject: string
  /** Left out in what an older release has registered. */
  readonly issuer?: string
  readonly notAfter: number
}

/** The facts in a certificate. All times are epoch milliseconds. */
export interface CertificateFields {
  /** 64 hexadecimal digits, in lower case. */
  readonly fingerprintSha256: string
  /** Hexadecimal. */
  readonly serial: string
  /** RFC 4514. */
  readonly subject: string
  readonly issuer: string
  /** Its DNS names and IP addresses. */
  readonly names: readonly string[]
  readonly notBefore: number
  readonly notAfter: number
  /** Algorithm and size: `rsa-2048`, `ec-p256`, `ed25519`. */
  readonly key: string
  /** The name that OpenSSL gives to the algorithm: `sha256WithRSAEncryption`. */
  readonly signature: string
  readonly isCa: boolean
}

/** What the PEM says of a certificate and its chain. */
export interface CertificateFacts extends CertificateFields {
  readonly chain: readonly ChainMember[]
  readonly warnings: readonly CertificateWarning[]
  /** When the first of the certificate and its chain ends, and the fingerprint of that one. */
  readonly endsAt: number
  readonly expiresFirst: string
}

/** A registered certificate. */
export interface Certificate extends CertificateFacts {
  readonly id: string
  readonly name: string
  /** Id of the certificate that replaces it. */
  readonly replacedBy: string | null
  readonly revokedAt: number | null
  readonly revokedBy: string | null
  readonly revokeReason: string | null
  readonly createdBy: string
  readonly createdAt: number
  /** SHA-256 of its file, in hexadecimal. */
  readonly fileSha256: string
  /** 1 at the registration, larger after each change. */
  readonly version: number
}

/** A certificate with what depends on the time. */
export interface CertificateView extends Certificate {
  readonly status: CertificateStatus
  /** Days until it ends, begun ones as whole ones; 0 or less after its end. */
  readonly daysLeft: number
}

/** docs/specification.md, Certificates: 30 days */
export const EXPIRING_MS = 30 * DAY

type Timed = Pick<Certificate, 'notBefore' | 'notAfter' | 'revokedAt' | 'replacedBy'>

/** The first status whose rule holds; `valid` if none does. */
const STATUS_RULES: readonly (readonly [CertificateStatus, (certificate: Timed, now: number) => boolean])[] =
  [
    ['revoked', ({ revokedAt }) => revokedAt !== null],
    ['replaced', ({ replacedBy }) => replacedBy !== null],
    ['expired', ({ notAfter }, now) => notAfter <= now],
    ['not_yet_valid', ({ notBefore }, now) => notBefore > now],
    ['expiring', ({ notAfter }, now) => notAfter - now <= EXPIRING_MS],
  ]

export function certificateStatusOf(certificate: Timed, now: number): CertificateStatus {
  return STATUS_RULES.find(([, holds]) => holds(certificate, now))?.[0] ?? 'valid'
}

export function viewOf<T extends Certificate>(certificate: T, now: number): T & CertificateView {
  // Adding 0 makes 0 of -0.
  const daysLeft = Math.ceil((certificate.notAfter - now) / DAY) + 0
  return { ...certificate, status: certificateStatusOf(certificate, now), daysLeft }
}

/** What decides which certificate replaces which one. */
export interface Replaceable {
  readonly seq: number
  readonly id: string
  readonly names: readonly string[]
  readonly subject: string
  readonly notAfter: number
  readonly revokedAt: number | null
}

/**
 * The names that another certificate must have to replace this one. Without names it is the subject: no names would be
 * part of any others.
 */
export function coverageOf({ names, subject }: Pick<Replaceable, 'names' | 'subject'>): readonly string[] {
  return names.length > 0 ? names : [`subject ${subject}`]
}

const IPV4_ADDRESS = /^[\d.]+$/
const HOST_NAME = /^[a-z0-9_-]+(\..+)$/

/** The wildcard that covers a DNS name: `*` stands for its first label, and for no more (RFC 9525, section 6.3). */
export function wildcardOf(name: string): string | undefined {
  const rest = IPV4_ADDRESS.test(name) ? undefined : HOST_NAME.exec(name)?.[1]
  return rest === undefined ? undefined : `*${rest}`
}

/** Whether one certificate has at least the names of the other, each exactly or by a wildcard. */
export function covers(one: Pick<Replaceable, 'names' | 'subject'>, other: typeof one): boolean {
  const names = new Set(coverageOf(one))
  return coverageOf(other).every((name) => names.has(name) || names.has(wildcardOf(name) ?? name))
}

/**
 * The certificate that replaces each of these: one that is not revoked, has at least its names and ends later; of several
 * the one that ends last, so that it is not replaced itself.
 */
export function replacementsAmong(certificates: readonly Replaceable[]): Map<string, string | null> {
  const candidates = certificates.filter(({ revokedAt }) => revokedAt === null)
  const entries = candidates.flatMap((candidate) =>
    coverageOf(candidate).map((name) => ({ name, candidate })),
  )
  const byName = Map.groupBy(entries, ({ name }) => name)
  const replacementOf = (certificate: Replaceable) => {
    // A replacement also covers the first of its names. A wildcard may have thousands of certificates below it.
    const [name = ''] = coverageOf(certificate)
    return [name, wildcardOf(name) ?? '']
      .flatMap((covering) => byName.get(covering) ?? [])
      .map(({ candidate }) => candidate)
      .filter((candidate) => candidate.notAfter > certificate.notAfter && covers(candidate, certificate))
      .toSorted(endsLastFirst)[0]
  }
  return new Map(certificates.map((certificate) => [certificate.id, replacementOf(certificate)?.id ?? null]))
}

function endsLastFirst(one: Replaceable, other: Replaceable): number {
  return other.notAfter - one.notAfter || other.seq - one.seq
}
