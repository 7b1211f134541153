import { createHash } from 'node:crypto'
import type { Clock } from '../../kernel/clock.ts'
import { AppError } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { MINUTE } from '../../kernel/time.ts'
import type { CertificateFiles } from '../../ports/certificate-files.ts'
import type { Queries, Store, Tx } from '../../store/store.ts'
import { claimFile, releaseFile, useClaim } from './file-claims.ts'
import type { Certificate } from './model.ts'
import { findRegisteredName } from './store.ts'

export interface FileDeps {
  readonly store: Store
  readonly clock: Clock
  readonly files: CertificateFiles
}

/** A file that is on the disk, and is claimed until its certificate is registered. */
export interface WrittenFile {
  readonly fingerprintSha256: string
  /** SHA-256 of its content, in hexadecimal. */
  readonly sha256: string
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
  readonly #deps: FileDeps

  constructor(deps: FileDeps) {
    this.#deps = deps
  }

  /**
   * Writes the file of a certificate that is to be registered. Rejects with `certificate_exists`, with `certificate_busy`
   * while another process works on the file, and with `certificate_file_unavailable` if it cannot be written.
   */
  async write(fingerprintSha256: string, pem: string): Promise<WrittenFile> {
    const sha256 = digest(pem)
    const outcome = await this.#claim(fingerprintSha256, sha256)
    if (outcome === 'registered') throw await certificateExists(this.#deps.store.read, fingerprintSha256)
    if (outcome === 'busy') throw certificateBusy(fingerprintSha256)
    try {
      await this.#deps.files.write(fingerprintSha256, pem)
    } catch (cause) {
      throw fileUnavailable('The file of the certificate cannot be written; the log has the reason.', cause)
    }
    return { fingerprintSha256, sha256 }
  }

  /** Gives the claim back in the transaction of the registration. Rejects with `certificate_busy` if it has lapsed. */
  async adopt(tx: Tx, { fingerprintSha256, sha256 }: WrittenFile): Promise<void> {
    const isOurs = await useClaim(tx, { fingerprintSha256, content: sha256 }, this.#deps.clock.now())
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
    const claim = { fingerprintSha256, content: `removal ${newId()}` }
    const claimedAt = clock.monotonic()
    const outcome = fingerprintSha256 === '' ? 'claimed' : await this.#claim(fingerprintSha256, claim.content)
    const isInUse = outcome === 'registered' && name === files.nameOf(fingerprintSha256)
    const isLate = clock.monotonic() - claimedAt > CLAIM_MS / 2
    if (outcome === 'busy' || isInUse || isLate) return false
    await files.remove(name)
    if (outcome === 'claimed') await store.write((tx) => releaseFile(tx, claim))
    return true
  }

  #claim(fingerprintSha256: string, content: string): Promise<'claimed' | 'busy' | 'registered'> {
    const { clock, store } = this.#deps
    return store.write((tx) => {
      const now = clock.now()
      return claimFile(tx, { fingerprintSha256, content, claimedUntil: now + CLAIM_MS }, now)
    })
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

export async function certificateExists(queries: Queries, fingerprint: string): Promise<AppError> {
  const name = await findRegisteredName(queries, fingerprint)
  // It may have been deleted since.
  const as = name === undefined ? '' : ` as ${JSON.stringify(name)}`
  const message = `A certificate with the fingerprint ${fingerprint} is registered${as}.`
  return new AppError('conflict', 'certificate_exists', message)
}

function certificateBusy(fingerprint: string): AppError {
  return new AppError(
    'unavailable',
    'certificate_busy',
    `Another request works on the file of the certificate ${fingerprint}; try again.`,
    { retryAfterSeconds: 1 },
  )
}

function fileUnavailable(message: string, cause: unknown): AppError {
  return new AppError('unavailable', 'certificate_file_unavailable', message, { cause })
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
