import { createHash } from 'node:crypto'
import { sql, type RawBuilder } from 'kysely'
import type { PageOrder, PageRequest } from '../../kernel/page.ts'
import { NEXT_VERSION, type NewRowOf, type RowOf } from '../../store/columns.ts'
import { type AnyQuery, sizeOf } from '../../store/pages.ts'
import type { Queries, Tx } from '../../store/store.ts'
import type { LadderStep } from './ladder.ts'
import {
  coverageOf,
  EXPIRING_MS,
  wildcardOf,
  type Certificate,
  type CertificateStatus,
  type Replaceable,
} from './model.ts'
import { certificates, changeRow, changeRows, db, lockable, pages, readRow, readRows } from './tables.ts'

/** A certificate with what the inspections have done. */
export type InspectedCertificate = RowOf<typeof certificates>

const insert = changeRow((on, row: NewRowOf<typeof certificates>) =>
  on
    .insertInto('certificates')
    .values(certificates.values(row))
    .onConflict((conflict) => conflict.column('fingerprint_sha256').doNothing()),
)

/** `false` when a certificate with the fingerprint is registered. */
export async function insertCertificate(tx: Tx, certificate: Certificate): Promise<boolean> {
  const row = { ...certificate, reportedStep: null, alertStep: null, hasFileAlert: false }
  if (!(await insert(tx, row))) return false
  const rows = searchedNames(certificate).map((name) => ({
    name,
    certificate_id: certificate.id,
    wildcard: wildcardOf(name) ?? null,
  }))
  await db(tx).insertInto('certificate_names').values(rows).execute()
  return true
}

/** Finds a certificate and locks it until the end of the transaction. */
export const [findCertificate, lockCertificate] = lockable(
  (on, id: string) => on.selectFrom('certificates').select(certificates.all).where('id', '=', id),
  certificates.decode,
)

/** The certificate with this fingerprint; undefined if none is registered. */
export const findByFingerprint = readRow(
  (on, fingerprint: string) =>
    on.selectFrom('certificates').select(certificates.all).where('fingerprint_sha256', '=', fingerprint),
  certificates.decode,
)

/** The certificates behind a position, in the order of their registration. */
export const listBatch = readRows(
  (on, after: number, limit: number) =>
    on
      .selectFrom('certificates')
      .select(certificates.all)
      .where('seq', '>', after)
      .orderBy('seq')
      .limit(limit),
  certificates.decode,
)

/** Writes a revocation; the transaction must have locked the certificate. */
export const revokeCertificate = changeRows((on, revoked: Certificate) =>
  on
    .updateTable('certificates')
    .set(certificates.set(revoked, 'revokedAt', 'revokedBy', 'revokeReason', 'version'))
    .where('id', '=', revoked.id),
)

const deleteNamesOf = changeRows((on, id: string) =>
  on.deleteFrom('certificate_names').where('certificate_id', '=', id),
)

const deleteRow = changeRows((on, id: string) => on.deleteFrom('certificates').where('id', '=', id))

export async function deleteCertificate(tx: Tx, id: string): Promise<void> {
  await deleteNamesOf(tx, id)
  await deleteRow(tx, id)
}

/** Makes concurrent changes of what replaces what wait for each other; comes before any lock of a certificate. */
export const lockAllReplacements = readRows((on) =>
  on.selectFrom('certificate_locks').select('name').forUpdate(),
)

/** A certificate as a candidate to replace others, or to be replaced. */
export type Relative = Replaceable & Pick<InspectedCertificate, 'replacedBy' | 'alertStep'>

/**
 * The certificates that share a name with this one, directly or by a wildcard of either of them, and this one if it is
 * registered.
 */
export async function listRelatives(
  tx: Tx,
  certificate: Pick<Certificate, 'names' | 'subject'>,
): Promise<Relative[]> {
  const names = searchedNames(certificate)
  const covering = names.flatMap((name) => wildcardOf(name) ?? [])
  const wildcards = names.filter((name) => name.startsWith('*.'))
  const rows = await db(tx)
    .selectFrom('certificates')
    .select(
      certificates.pick('seq', 'id', 'names', 'subject', 'notAfter', 'revokedAt', 'replacedBy', 'alertStep'),
    )
    .where('id', 'in', (sharing) =>
      sharing
        .selectFrom('certificate_names')
        .select('certificate_id')
        .where('name', 'in', [...new Set([...names, ...covering])])
        .$if(wildcards.length > 0, (query) =>
          query.union((below) =>
            below.selectFrom('certificate_names').select('certificate_id').where('wildcard', 'in', wildcards),
          ),
        ),
    )
    .execute()
  return rows.map((row) => certificates.decode(row))
}

// PostgreSQL keeps up to 2,700 bytes in an index.
const INDEXED_CHARACTERS = 255

/** The names in `certificate_names`; a long one, which is a subject, is there by its digest. */
function searchedNames(certificate: Pick<Certificate, 'names' | 'subject'>): string[] {
  return coverageOf(certificate).map((name) =>
    name.length <= INDEXED_CHARACTERS ? name : createHash('sha256').update(name).digest('hex'),
  )
}

export const setReplacedBy = changeRows((on, id: string, replacedBy: string | null) =>
  on.updateTable('certificates').set({ replaced_by: replacedBy, version: NEXT_VERSION }).where('id', '=', id),
)

/** Records the last step that was reported, and the step of the alert that is raised; null for none. */
export const recordSteps = changeRows(
  (on, id: string, reported: LadderStep | null, alert: LadderStep | null) =>
    on.updateTable('certificates').set({ reported_step: reported, alert_step: alert }).where('id', '=', id),
)

export const recordFileAlert = changeRows((on, id: string, hasFileAlert: boolean) =>
  on.updateTable('certificates').set(certificates.set({ hasFileAlert }, 'hasFileAlert')).where('id', '=', id),
)

/** The end that comes first, first. */
export const SOONEST_END_FIRST: PageOrder<'notAfter' | 'seq'> = {
  name: 'not_after',
  keys: [
    { name: 'notAfter', type: 'integer', direction: 'asc' },
    { name: 'seq', type: 'integer', direction: 'asc' },
  ],
}

type At = (now: number) => RawBuilder<boolean>
/** A status, when its rule holds, and when it does not: an index answers a comparison, but not its negation. */
type StatusRule = readonly [status: CertificateStatus, holds: At, holdsNot: At]

/** The rules of `certificateStatusOf`, in the same order. */
const STATUS_RULES: readonly StatusRule[] = [
  ['revoked', () => sql`revoked_at is not null`, () => sql`revoked_at is null`],
  ['replaced', () => sql`replaced_by is not null`, () => sql`replaced_by is null`],
  ['expired', (now) => sql`not_after <= ${now}`, (now) => sql`not_after > ${now}`],
  ['not_yet_valid', (now) => sql`not_before > ${now}`, (now) => sql`not_before <= ${now}`],
  [
    'expiring',
    (now) => sql`not_after <= ${now} + ${sql.lit(EXPIRING_MS)}`,
    (now) => sql`not_after > ${now} + ${sql.lit(EXPIRING_MS)}`,
  ],
]

/** Adds the condition of a status: no earlier rule holds, and its own one does. `valid` has no rule. */
function withStatus(wanted: CertificateStatus, query: AnyQuery, now: number): AnyQuery {
  let narrowed = query
  for (const [status, holds, holdsNot] of STATUS_RULES) {
    if (status === wanted) return narrowed.where(holds(now))
    narrowed = narrowed.where(holdsNot(now))
  }
  return narrowed
}

const ofStatus = (status: CertificateStatus) => (query: AnyQuery, now: number) =>
  withStatus(status, query, now)

// Each status is a member, whose value is the time now.
const pageOfCertificates = pages(
  {
    table: 'certificates',
    createdAt: 'created_at',
    size: sizeOf('serial', 'subject', 'issuer', 'names', 'chain'),
  },
  (on) => on.selectFrom('certificates').select(certificates.all),
  {
    revoked: ofStatus('revoked'),
    replaced: ofStatus('replaced'),
    expired: ofStatus('expired'),
    not_yet_valid: ofStatus('not_yet_valid'),
    expiring: ofStatus('expiring'),
    valid: ofStatus('valid'),
    expiresBefore: (query, time: number) => query.where('not_after', '<', time),
  },
  certificates.decode,
)

export interface CertificateFilter {
  readonly status?: CertificateStatus | undefined
  /** Only certificates that end before this time. */
  readonly expiresBefore?: number | undefined
}

/** Lists certificates by their registration, the newest first, or by their end. */
export function listCertificates(
  queries: Queries,
  { status, expiresBefore }: CertificateFilter,
  now: number,
  page: PageRequest<'notAfter' | 'seq'>,
) {
  return pageOfCertificates(queries, { ...(status && { [status]: now }), expiresBefore }, page)
}

/** The query that counts the certificates of each status at that time. It reads the whole table. */
export function countCertificates(queries: Queries, now: number) {
  const cases = STATUS_RULES.map(([status, holds]) => sql`when ${holds(now)} then ${sql.lit(status)}`)
  const status = sql<CertificateStatus>`case ${sql.join(cases, sql` `)} else 'valid' end`
  return db(queries)
    .selectFrom((from) => from.selectFrom('certificates').select(status.as('status')).as('each'))
    .select(['status', (row) => row.fn.countAll<number>().as('certificates')])
    .groupBy('status')
}
