import { requireFound } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import type { Counter } from '../../kernel/metrics.ts'
import { mapPage, type Page, type PageRequest } from '../../kernel/page.ts'
import type { Queries, Tx } from '../../store/store.ts'
import { endingRecovery, fileAlert } from './alerts.ts'
import { readBundle, type CertificateBundle } from './bundle.ts'
import { certificateBusy, certificateExists, ClaimedFiles, type WrittenFile } from './claimed-files.ts'
import type { CertificateDeps } from './deps.ts'
import { CERTIFICATE_EVENTS } from './events.ts'
import { Inspection, type InspectionResult } from './inspection.ts'
import {
  viewOf,
  covers,
  replacementsAmong,
  type Certificate,
  type CertificateStatus,
  type CertificateView,
} from './model.ts'
import { refusePrivateKeys } from './private-keys.ts'
import {
  countCertificates,
  deleteCertificate,
  findByFingerprint,
  findCertificate,
  insertCertificate,
  listCertificates,
  lockAllReplacements,
  lockCertificate,
  recordFileAlert,
  recordSteps,
  revokeCertificate,
  SOONEST_END_FIRST,
  listRelatives,
  setReplacedBy,
  type CertificateFilter,
  type InspectedCertificate,
  type Relative,
} from './store.ts'

/** What a client sends to register a certificate. */
export interface NewCertificate {
  readonly name: string
  readonly pem: string
}

/** A certificate that is ready to be registered: its file is written, and claimed unless it was repaired. */
export interface Registration extends Pick<CertificateBundle, 'facts'> {
  readonly name: string
  readonly file: WrittenFile
}

const CHANGES = ['registered', 'revoked', 'deleted'] as const
type Change = (typeof CHANGES)[number]

/** The registered certificates, their files, and the inspection of both. */
export class Certificates {
  readonly #deps: CertificateDeps
  readonly #files: ClaimedFiles
  readonly #inspection: Inspection
  readonly #changes: Counter
  readonly #removals = new Set<Promise<unknown>>()

  constructor(deps: CertificateDeps) {
    this.#deps = deps
    this.#files = new ClaimedFiles(deps)
    this.#inspection = new Inspection(deps, this.#files)
    this.#changes = deps.metrics.counter({
      name: 'certificate_changes_total',
      help: 'Certificates that were registered, revoked or deleted.',
      labels: { change: CHANGES },
    })
  }

  /**
   * Reads a certificate and writes its file, before the transaction that registers it. Rejects with `private_key_refused`,
   * `invalid_certificate`, `certificate_exists`, `certificate_busy` and `certificate_file_unavailable`.
   */
  async prepare({ name, pem }: NewCertificate): Promise<Registration> {
    refusePrivateKeys({ name })
    return this.store(name, await readBundle(pem))
  }

  /** Writes the file of a bundle; see {@link prepare}. */
  async store(name: string, { facts, pem }: CertificateBundle): Promise<Registration> {
    return { name, facts, file: await this.#files.write(facts.fingerprintSha256, pem) }
  }

  /**
   * Registers a certificate, or returns the registered one whose file was repaired. Rejects with `certificate_exists`, and
   * with `certificate_busy` if its preparation is too old.
   */
  async register(tx: Tx, { name, facts, file }: Registration, actor: string): Promise<CertificateView> {
    if (file.isRepair) return this.#recordRepair(tx, file, actor)
    await lockAllReplacements(tx)
    const certificate: Certificate = {
      ...facts,
      id: newId(),
      name,
      replacedBy: null,
      revokedAt: null,
      revokedBy: null,
      revokeReason: null,
      createdBy: actor,
      createdAt: this.#deps.clock.now(),
      fileSha256: file.sha256,
      version: 1,
    }
    if (!(await insertCertificate(tx, certificate))) {
      const registered = await findByFingerprint(tx, facts.fingerprintSha256)
      throw registered ? certificateExists(registered) : certificateBusy(facts.fingerprintSha256)
    }
    await this.#files.adopt(tx, file)
    await this.#updateReplacements(tx, certificate)
    return this.#record(tx, 'registered', await this.#reread(tx, certificate), actor)
  }

  /** Recovers the alert of the file. */
  async #recordRepair(tx: Tx, { fingerprintSha256 }: WrittenFile, actor: string): Promise<CertificateView> {
    const { alerts, clock, logger } = this.#deps
    const found = await findByFingerprint(tx, fingerprintSha256)
    const certificate = found && (await lockCertificate(tx, found.id))
    if (!certificate) throw certificateBusy(fingerprintSha256)
    if (certificate.hasFileAlert) {
      await recordFileAlert(tx, certificate.id, false)
      await alerts.raise(tx, fileAlert(certificate, undefined))
    }
    const fields = logFields(certificate, actor)
    tx.afterCommit(() => logger.info(fields, 'certificate file repaired'))
    return viewOf(certificate, clock.now())
  }

  /** Rejects with `certificate_not_found`. */
  async get(id: string, queries: Queries = this.#deps.store.read): Promise<CertificateView> {
    const certificate = await findCertificate(queries, id)
    return viewOf(requireFound(certificate, 'certificate', id), this.#deps.clock.now())
  }

  async list(
    filter: CertificateFilter,
    page: PageRequest<'notAfter' | 'seq'>,
  ): Promise<Page<CertificateView>> {
    const { clock, store } = this.#deps
    const now = clock.now()
    const certificates = await listCertificates(store.read, filter, now, page)
    return mapPage(certificates, (certificate) => viewOf(certificate, now))
  }

  /** The certificates in use that end within 30 days, the soonest end first; at most `limit`. */
  async listExpiring(limit: number): Promise<readonly CertificateView[]> {
    return (await this.list({ status: 'expiring' }, { limit, order: SOONEST_END_FIRST })).items
  }

  /** A certificate and its PEM. Rejects with `certificate_not_found`, and with `certificate_file_unavailable`. */
  async readPem(id: string): Promise<{ certificate: Certificate; pem: string }> {
    const certificate = await this.get(id)
    return { certificate, pem: await this.#files.read(certificate) }
  }

  /** Revokes a certificate; a revoked one is returned unchanged. Rejects with `certificate_not_found`. */
  async revoke(tx: Tx, id: string, reason: string | null, actor: string): Promise<CertificateView> {
    await lockAllReplacements(tx)
    const known = requireFound(await lockCertificate(tx, id), 'certificate', id)
    const now = this.#deps.clock.now()
    if (known.revokedAt !== null) return viewOf(known, now)
    const version = known.version + 1
    const revoked = { ...known, revokedAt: now, revokedBy: actor, revokeReason: reason, version }
    await revokeCertificate(tx, revoked)
    await this.#updateReplacements(tx, revoked)
    if (known.alertStep !== null) await this.#recover(tx, revoked, 'It was revoked.')
    return this.#record(tx, 'revoked', await this.#reread(tx, revoked), actor)
  }

  /** Deletes a certificate, and its file after the commit. Rejects with `certificate_not_found`. */
  async remove(tx: Tx, id: string, actor: string): Promise<void> {
    const { alerts } = this.#deps
    await lockAllReplacements(tx)
    const known = requireFound(await lockCertificate(tx, id), 'certificate', id)
    await deleteCertificate(tx, id)
    await this.#updateReplacements(tx, known)
    if (known.alertStep !== null) await alerts.raise(tx, endingRecovery(known, 'It was deleted.'))
    if (known.hasFileAlert) await alerts.raise(tx, fileAlert(known, undefined))
    await this.#record(tx, 'deleted', { ...known, version: known.version + 1 }, actor)
    tx.afterCommit(() => this.#removeFile(known))
  }

  /** Resolves when the files of the deleted certificates are removed, or are left to the next inspection. */
  async waitForRemovals(): Promise<void> {
    await Promise.all(this.#removals)
  }

  /** Inspects the ends and the files of all certificates now, as the worker does. */
  inspect(signal: AbortSignal): Promise<InspectionResult> {
    return this.#inspection.run(signal)
  }

  /** How many certificates there are of each status. Takes long where there are many. */
  countByStatus(): Promise<{ status: CertificateStatus; certificates: number }[]> {
    const { clock, store } = this.#deps
    return store.readAside(countCertificates(store.read, clock.now()))
  }

  /** The certificate as the transaction has left it: its replacement may have changed, too. */
  async #reread(tx: Tx, { id }: Certificate): Promise<Certificate> {
    return requireFound(await findCertificate(tx, id), 'certificate', id)
  }

  /** Updates what replaces what, and recovers the alerts of replaced certificates. */
  async #updateReplacements(tx: Tx, changed: Certificate): Promise<void> {
    for (const { id } of await updateReplacements(tx, changed)) {
      const certificate = requireFound(await lockCertificate(tx, id), 'certificate', id)
      await this.#recover(tx, certificate, 'It was replaced.')
    }
  }

  async #recover(tx: Tx, certificate: InspectedCertificate, reason: string): Promise<void> {
    await recordSteps(tx, certificate.id, certificate.reportedStep, null)
    await this.#deps.alerts.raise(tx, endingRecovery(certificate, reason))
  }

  /** Writes the event of a change in its transaction, and its log line after the commit. */
  async #record(tx: Tx, change: Change, changed: Certificate, actor: string): Promise<CertificateView> {
    const { clock, events, logger } = this.#deps
    const certificate = viewOf(changed, clock.now())
    const type = CERTIFICATE_EVENTS[change]
    await events.append(tx, { type, subject: certificate.id, data: { certificate, actor } })
    tx.afterCommit(() => {
      this.#changes.increment({ change })
      logger.info(logFields(certificate, actor), `certificate ${change}`)
    })
    return certificate
  }

  #removeFile({ fingerprintSha256 }: Certificate): void {
    const { logger } = this.#deps
    const removal = this.#files
      .removeLeftOver(this.#files.nameOf(fingerprintSha256))
      .catch((error: unknown) => {
        logger.warn({ fingerprint: fingerprintSha256, error }, 'certificate file left to the next inspection')
      })
    this.#removals.add(removal)
    void removal.finally(() => this.#removals.delete(removal))
  }
}

function logFields({ id, name, fingerprintSha256 }: Certificate, actor: string) {
  return { certificate_id: id, name, fingerprint: fingerprintSha256, actor }
}

/**
 * Judges again which certificate replaces which, after one has changed. Only certificates whose names it covers can be
 * affected. The transaction must have locked all replacements. Returns those with an alert that are replaced from now on.
 */
async function updateReplacements(tx: Tx, changed: Certificate): Promise<readonly Relative[]> {
  const relatives = await listRelatives(tx, changed)
  const replacements = replacementsAmong(relatives)
  const replacementOf = ({ id }: Pick<Certificate, 'id'>) => replacements.get(id) ?? null
  const affected = relatives.filter(
    (relative) => covers(changed, relative) && replacementOf(relative) !== relative.replacedBy,
  )
  for (const relative of affected) await setReplacedBy(tx, relative.id, replacementOf(relative))
  return affected.filter((relative) => replacementOf(relative) !== null && relative.alertStep !== null)
}
