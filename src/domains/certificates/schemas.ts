import { Type } from 'typebox'
import { encoderOf } from '../../wire/codec.ts'
import { TimedPageQuery } from '../../wire/page.ts'
import {
  Fields,
  GivenTime,
  Id,
  Nullable,
  NullableTimestamp,
  OneOf,
  Text,
  Timestamp,
  Version,
} from '../../wire/schemas.ts'
import type { CertificateChange, CertificateEnding } from './events.ts'
import { LADDER } from './ladder.ts'
import { CERTIFICATE_STATUSES, CERTIFICATE_WARNINGS } from './model.ts'

const Name = Text({ minLength: 1, maxLength: 100, examples: ['shop.example.com'] })
const Reason = { minLength: 1, maxLength: 1_024, examples: ['The key was lost.'] }
const Fingerprint = Type.String({
  pattern: '^[0-9a-f]{64}$',
  description: 'SHA-256 of the certificate in DER, in hexadecimal.',
})
const Status = OneOf(CERTIFICATE_STATUSES, '`expiring`: 30 days or less are left.')
const DistinguishedName = Type.String({ description: 'RFC 4514.', examples: ['CN=shop.example.com,O=Shop'] })

export const CertificateSchema = Fields(
  {
    id: Id,
    name: Name,
    fingerprint_sha256: Fingerprint,
    serial: Type.String({ description: 'Hexadecimal.' }),
    subject: DistinguishedName,
    issuer: DistinguishedName,
    names: Type.Array(Type.String(), { description: 'DNS names and IP addresses.' }),
    not_before: Timestamp,
    not_after: Timestamp,
    days_left: Type.Integer({
      description: 'Days until `not_after`; a part of a day counts as one. 0 or less after it.',
    }),
    key: Type.String({ description: 'Algorithm and size.', examples: ['rsa-2048', 'ec-p256', 'ed25519'] }),
    signature: Type.String({
      description: 'Algorithm of the signature, as OpenSSL names it.',
      examples: ['sha256WithRSAEncryption', 'ecdsa-with-SHA256', 'ED25519'],
    }),
    is_ca: Type.Boolean(),
    chain: Type.Array(
      Fields({
        fingerprint_sha256: Fingerprint,
        subject: DistinguishedName,
        issuer: Type.Optional({
          ...DistinguishedName,
          description: 'RFC 4514. Left out if an older release has registered it.',
        }),
        not_after: Timestamp,
      }),
      { description: 'The other certificates of the PEM, in their order.' },
    ),
    status: Status,
    warnings: Type.Array(OneOf(CERTIFICATE_WARNINGS)),
    replaced_by: Nullable<string>({ type: 'string', description: 'Id of the certificate that replaces it.' }),
    revoked_at: NullableTimestamp,
    revoke_reason: Nullable<string>({ type: 'string' }),
    created_by: Type.String({ description: 'Id of the caller.' }),
    created_at: Timestamp,
    version: Version,
  },
  { $id: 'Certificate' },
)

export const NewCertificateBody = Fields({
  name: Name,
  pem: Text({
    minLength: 1,
    // A body has at most 1 MiB.
    maxLength: 1_000_000,
    description:
      'The certificate in PEM (RFC 7468), then its chain: up to 20 certificates. Text around the blocks is ignored. A ' +
      'private key is refused.',
  }),
})

export const RevocationBody = Fields({ reason: Type.Optional(Text(Reason)) })

const SORTS = ['created_at', 'not_after'] as const

export const CertificateQuery = Fields({
  status: Type.Optional(Status),
  expires_before: Type.Optional(
    GivenTime('Only certificates that end before this time. RFC 3339 with any offset; write `+` as `%2B`.'),
  ),
  sort: Type.Optional(
    OneOf(SORTS, '`created_at` (default): newest first. `not_after`: the end that comes first, first.'),
  ),
  ...TimedPageQuery,
})

export const encodeCertificate = encoderOf(CertificateSchema)

export const CertificateEndingSchema = Fields({
  certificate: CertificateSchema,
  step: Type.Integer({ enum: LADDER.map(({ step }) => step) }),
  expires_first: Fingerprint,
})

export const CertificateChangeSchema = Fields({ certificate: CertificateSchema, actor: Type.String() })

const encodeEnding = encoderOf(CertificateEndingSchema)

const encodeChange = encoderOf(CertificateChangeSchema)

/** The data of an event. */
export function encodeCertificateEvent(data: CertificateChange | CertificateEnding): string {
  return 'step' in data ? encodeEnding(data) : encodeChange(data)
}
