import { statement } from './tables.ts'
import { findByFingerprint } from './store.ts'
import type { Tx } from '../../store/store.ts'

interface Claim {
  readonly fingerprintSha256: string
  readonly content: string
}

/** The right to write or remove a file, until that time. */
export interface FileClaim extends Claim {
  readonly claimedUntil: number
}

const insert = statement<FileClaim>((on, value) =>
  on
    .insertInto('certificate_file_claims')
    .values({
      fingerprint_sha256: value('fingerprintSha256'),
      content: value('content'),
      claimed_until: value('claimedUntil'),
    })
    .onConflict((conflict) => conflict.column('fingerprint_sha256').doNothing()),
)

const take = statement<FileClaim & { now: number }>((on, value) =>
  on
    .updateTable('certificate_file_claims')
    .set({ content: value('content'), claimed_until: value('claimedUntil') })
    .where('fingerprint_sha256', '=', value('fingerprintSha256'))
    .where((claim) =>
      claim.or([claim('claimed_until', '<=', value('now')), claim('content', '=', value('content'))]),
    ),
)

const release = statement<Claim>((on, value) =>
  on
    .deleteFrom('certificate_file_claims')
    .where('fingerprint_sha256', '=', value('fingerprintSha256'))
    .where('content', '=', value('content')),
)

const use = statement<Claim & { now: number }>((on, value) =>
  on
    .deleteFrom('certificate_file_claims')
    .where('fingerprint_sha256', '=', value('fingerprintSha256'))
    .where('content', '=', value('content'))
    .where('claimed_until', '>', value('now')),
)

/**
 * Claims a file. `busy`: another process works on it. `registered`: a certificate has it, and nothing is claimed. Claims
 * for the same content are one.
 */
export async function claimFile(
  tx: Tx,
  claim: FileClaim,
  now: number,
): Promise<'claimed' | 'busy' | 'registered'> {
  // The claim comes first: a registration that commits after it needs the claim, too.
  const changed = (await tx.change(insert, claim)) + (await tx.change(take, { ...claim, now }))
  const isKnown = (await findByFingerprint(tx, claim.fingerprintSha256)) !== undefined
  if (isKnown && changed > 0) await tx.change(release, claim)
  if (isKnown) return 'registered'
  return changed > 0 ? 'claimed' : 'busy'
}

/** Gives a claim back. */
export async function releaseFile(tx: Tx, claim: Claim): Promise<void> {
  await tx.change(release, claim)
}

/** Gives a claim back with the registration; `false` if it has lapsed, so that the file may be gone. */
export async function useClaim(tx: Tx, claim: Claim, now: number): Promise<boolean> {
  return (await tx.change(use, { ...claim, now })) === 1
}
