import { createHash } from 'node:crypto'
import { AppError } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { MINUTE } from '../../kernel/time.ts'
import type { Tx } from '../../store/store.ts'
import type { CertificateDeps } from './deps.ts'
import type { Certificate } from './model.ts'
import { findByFingerprint } from './store.ts'
import { changeRow, changeRows } from './tables.ts'

/** A file that is on the disk, and is claimed until its certificate is registered. */
export interface WrittenFile {
  readonly fingerprintSha256: string
  /** SHA-256 of its content, in hexadecimal. */
  readonly sha256: string
  /** Whether its certificate is registered already: its file was damaged, and nothing is claimed. */
  readonly isRepair: boolean
}

/** How a file differs from what was written; undefined if it does not. */
export type FileProblem = 'is missing' | 'was altered' | 'cannot be read'

// A registration takes a fraction of a second. After that time the process is taken for dead.
const CLAIM_MS = MINUTE

/**
 * The files of the certificates. Who writes or removes one claims it in the database first, so that no process removes a
 * file that another one is about to register.
 */
export class ClaimedFiles {
  readonly #deps: Pick<CertificateDeps, 'store' | 'clock' | 'files'>

  constructor(deps: Pick<CertificateDeps, 'store' | 'clock' | 'files'>) {
    this.#deps = deps
  }

  /**
   * Writes the file of a certificate that is to be registered, or the damaged one of a registered certificate. Rejects with
   * `certificate_exists` if there is nothing to write, with `certificate_busy` while another process works on the file, and
   * with `certificate_file_unavailable` if it cannot be written.
   */
  async write(fingerprintSha256: string, pem: string): Promise<WrittenFile> {
    const sha256 = digest(pem)
    const outcome = await this.#claim(fingerprintSha256, sha256)
    if (outcome === 'busy') throw certificateBusy(fingerprintSha256)
    const isRepair = outcome === 'registered'
    if (isRepair) await this.#requireDamage(fingerprintSha256, sha256)
    try {
      await this.#deps.files.write(fingerprintSha256, pem)
    } catch (cause) {
      throw fileUnavailable('The file of the certificate cannot be written; the log has the reason.', cause)
    }
    return { fingerprintSha256, sha256, isRepair }
  }

  /** The file must be written exactly as it was registered; a file with another chain would count as altered. */
  async #requireDamage(fingerprintSha256: string, sha256: string): Promise<void> {
    const registered = await findByFingerprint(this.#deps.store.read, fingerprintSha256)
    if (!registered) throw certificateBusy(fingerprintSha256)
    const problem = await this.problemOf(registered)
    if (problem !== undefined && registered.fileSha256 === sha256) return
    throw certificateExists(registered, problem)
  }

  /** Gives the claim back in the transaction of the registration. Rejects with `certificate_busy` if it has lapsed. */
  async adopt(tx: Tx, { fingerprintSha256, sha256 }: WrittenFile): Promise<void> {
    const isOurs = await useClaim(tx, fingerprintSha256, sha256, this.#deps.clock.now())
    if (!isOurs) throw certificateBusy(fingerprintSha256)
  }

  /** The PEM of a certificate. Rejects with `certificate_file_unavailable`. */
  async read(certificate: Certificate): Promise<string> {
    const { pem, problem, cause } = await this.#inspect(certificate)
    if (pem !== undefined) return pem
    throw fileUnavailable(`The file of the certificate ${problem}; an operator has to restore it.`, cause)
  }

  async problemOf(certificate: Certificate): Promise<FileProblem | undefined> {
    return (await this.#inspect(certificate)).problem
  }

  list(): Promise<readonly string[]> {
    return this.#deps.files.list()
  }

  nameOf(fingerprintSha256: string): string {
    return this.#deps.files.nameOf(fingerprintSha256)
  }

  /**
   * Removes a file unless it is the one of a registered certificate, or another process works on it. Returns whether it
   * has removed it.
   */
  async removeLeftOver(name: string): Promise<boolean> {
    const { files, clock, store } = this.#deps
    const [fingerprintSha256 = ''] = /^[0-9a-f]{64}(?=\.)/.exec(name) ?? []
    const content = `removal ${newId()}`
    const claimedAt = clock.monotonic()
    const outcome = fingerprintSha256 === '' ? 'claimed' : await this.#claim(fingerprintSha256, content)
    const isInUse = outcome === 'registered' && name === files.nameOf(fingerprintSha256)
    const isLate = clock.monotonic() - claimedAt > CLAIM_MS / 2
    if (outcome === 'busy' || isInUse || isLate) return false
    await files.remove(name)
    if (outcome === 'claimed') await store.write((tx) => releaseClaim(tx, fingerprintSha256, content))
    return true
  }

  #claim(fingerprintSha256: string, content: string): Promise<'claimed' | 'busy' | 'registered'> {
    const { clock, store } = this.#deps
    return store.write((tx) => claimFile(tx, fingerprintSha256, content, clock.now()))
  }

  async #inspect({ fingerprintSha256, fileSha256 }: Certificate): Promise<Finding> {
    try {
      const pem = await this.#deps.files.read(fingerprintSha256)
      if (pem === undefined) return { problem: 'is missing' }
      return digest(pem) === fileSha256 ? { pem } : { problem: 'was altered' }
    } catch (cause) {
      return { problem: 'cannot be read', cause }
    }
  }
}

interface Finding {
  readonly pem?: string
  readonly problem?: FileProblem
  readonly cause?: unknown
}

/** The file of a registered certificate with a problem is written again from the PEM of its registration only. */
export function certificateExists(
  { fingerprintSha256, name }: Pick<Certificate, 'fingerprintSha256' | 'name'>,
  problem?: FileProblem,
): AppError {
  const registered = `A certificate with the fingerprint ${fingerprintSha256} is registered as ${JSON.stringify(name)}.`
  const remedy = `Its file ${problem}; send it with the chain with which it was registered.`
  const message = problem === undefined ? registered : `${registered} ${remedy}`
  return new AppError('conflict', 'certificate_exists', message)
}

export function certificateBusy(fingerprint: string): AppError {
  const message = `Another request works on the file of the certificate ${fingerprint}; try again.`
  return new AppError('unavailable', 'certificate_busy', message, { retryAfterSeconds: 1 })
}

function fileUnavailable(message: string, cause: unknown): AppError {
  return new AppError('unavailable', 'certificate_file_unavailable', message, { cause })
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

const insertClaim = changeRows((on, fingerprint: string, content: string, until: number) =>
  on
    .insertInto('certificate_file_claims')
    .values({ fingerprint_sha256: fingerprint, content, claimed_until: until })
    .onConflict((conflict) => conflict.column('fingerprint_sha256').doNothing()),
)

const takeClaim = changeRows((on, fingerprint: string, content: string, until: number, now: number) =>
  on
    .updateTable('certificate_file_claims')
    .set({ content, claimed_until: until })
    .where('fingerprint_sha256', '=', fingerprint)
    .where((claim) => claim.or([claim('claimed_until', '<=', now), claim('content', '=', content)])),
)

/** Gives a claim back. */
const releaseClaim = changeRows((on, fingerprint: string, content: string) =>
  on
    .deleteFrom('certificate_file_claims')
    .where('fingerprint_sha256', '=', fingerprint)
    .where('content', '=', content),
)

/** Gives a claim back with the registration; `false` if it has lapsed, so that the file may be gone. */
const useClaim = changeRow((on, fingerprint: string, content: string, now: number) =>
  on
    .deleteFrom('certificate_file_claims')
    .where('fingerprint_sha256', '=', fingerprint)
    .where('content', '=', content)
    .where('claimed_until', '>', now),
)

/**
 * Claims the right to write or remove a file. `busy`: another process works on it. `registered`: a certificate has it, and
 * nothing is claimed. Claims for the same content are one.
 */
async function claimFile(
  tx: Tx,
  fingerprint: string,
  content: string,
  now: number,
): Promise<'claimed' | 'busy' | 'registered'> {
  const until = now + CLAIM_MS
  // The claim comes first: a registration that commits after it needs the claim, too.
  const inserted = await insertClaim(tx, fingerprint, content, until)
  const changed = inserted + (await takeClaim(tx, fingerprint, content, until, now))
  if (!(await findByFingerprint(tx, fingerprint))) return changed > 0 ? 'claimed' : 'busy'
  if (changed > 0) await releaseClaim(tx, fingerprint, content)
  return 'registered'
}
