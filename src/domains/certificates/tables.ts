import { defineColumns, flag, generated, integer, json, text, schemaOf } from '../../store/columns.ts'
import type { LadderStep } from './ladder.ts'
import type { CertificateWarning, ChainMember } from './model.ts'

export const certificates = defineColumns({
  seq: generated(),
  id: text(),
  name: text(),
  fingerprintSha256: text(),
  serial: text(),
  subject: text(),
  issuer: text(),
  names: json<readonly string[]>(),
  notBefore: integer(),
  notAfter: integer(),
  key: text(),
  signature: text(),
  isCa: flag(),
  chain: json<readonly ChainMember[]>(),
  warnings: json<readonly CertificateWarning[]>(),
  endsAt: integer(),
  expiresFirst: text(),
  replacedBy: text().nullable(),
  revokedAt: integer().nullable(),
  revokedBy: text().nullable(),
  revokeReason: text().nullable(),
  createdBy: text(),
  createdAt: integer(),
  fileSha256: text(),
  /** The last step before its end that was reported. */
  reportedStep: integer<LadderStep>().nullable(),
  /** The step of the alert about its end, until that was recovered. */
  alertStep: integer<LadderStep>().nullable(),
  /** Whether there is an alert about its file. */
  hasFileAlert: flag(),
  version: integer(),
})

/** The names that a certificate needs to replace another one, for the search; see `coverageOf`. */
const certificateNames = defineColumns({
  name: text(),
  certificateId: text(),
  /** The wildcard that would cover the name. */
  wildcard: text().nullable(),
})

/** Which file a process works on, and until when. A file without a claim and without a certificate is left over. */
const fileClaims = defineColumns({
  fingerprintSha256: text(),
  /** A hash of the content to write, or the id of a removal. Requests with the same content share a claim. */
  content: text(),
  claimedUntil: integer(),
})

/** One row, which a transaction locks before it changes which certificate replaces which. */
const certificateLocks = defineColumns({ name: text() })

export const { changeRow, changeRows, db, lockable, names, pages, readRow, readRows } = schemaOf({
  certificates,
  certificate_names: certificateNames,
  certificate_file_claims: fileClaims,
  certificate_locks: certificateLocks,
})
