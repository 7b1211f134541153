import type { Counter } from '../../kernel/metrics.ts'
import type { Tx } from '../../store/store.ts'
import { endingAlert, endingRecovery, fileAlert } from './alerts.ts'
import type { ClaimedFiles, FileProblem } from './claimed-files.ts'
import type { CertificateDeps } from './deps.ts'
import { CERTIFICATE_EVENTS } from './events.ts'
import { inspect, LADDER, type Finding, type LadderStep } from './ladder.ts'
import { viewOf } from './model.ts'
import {
  listBatch,
  lockCertificate,
  recordFileAlert,
  recordSteps,
  type InspectedCertificate,
} from './store.ts'

/** What one inspection has done. */
export interface InspectionResult {
  /** Certificates that it has looked at. */
  readonly inspected: number
  /** Steps that it has reported. */
  readonly reported: number
  /** Alerts about the end of a certificate that it has recovered. */
  readonly recovered: number
  /** Files of certificates that are missing, altered or unreadable. */
  readonly damagedFiles: number
  /** Files without a certificate that it has removed. */
  readonly removedFiles: number
}

const BATCH = 100

/** Looks at the ends and the files of all certificates (docs/specification.md, Certificates). */
export class Inspection {
  readonly #deps: CertificateDeps
  readonly #files: ClaimedFiles
  readonly #reports: Counter

  constructor(deps: CertificateDeps, files: ClaimedFiles) {
    this.#deps = deps
    this.#files = files
    this.#reports = deps.metrics.counter({
      name: 'certificate_reports_total',
      help: 'Reported steps before the end of a certificate, by days.',
      labels: { step: LADDER.map(({ step }) => String(step)) },
    })
  }

  /** Several processes may inspect at once: each step is reported once. Stops early when `signal` is aborted. */
  async run(signal: AbortSignal): Promise<InspectionResult> {
    // The files are listed before the certificates are read, so a file whose certificate is registered meanwhile is kept.
    const names = new Set(await this.#files.list())
    const result = { inspected: 0, reported: 0, recovered: 0, damagedFiles: 0, removedFiles: 0 }
    for await (const certificate of this.#certificates(signal)) {
      names.delete(this.#files.nameOf(certificate.fingerprintSha256))
      result.inspected++
      const finding = await this.#inspectEnd(certificate)
      if (finding?.kind === 'report') result.reported++
      if (finding?.kind === 'recover') result.recovered++
      if (await this.#inspectFile(certificate)) result.damagedFiles++
    }
    for (const name of names) if (!signal.aborted && (await this.#removeLeftOver(name))) result.removedFiles++
    return result
  }

  async *#certificates(signal: AbortSignal): AsyncGenerator<InspectedCertificate> {
    let certificates: InspectedCertificate[] = []
    do {
      const after = certificates.at(-1)?.seq ?? 0
      certificates = await listBatch(this.#deps.store.read, after, BATCH)
      for (const certificate of certificates) {
        if (signal.aborted) return
        yield certificate
      }
    } while (certificates.length === BATCH)
  }

  /** The read shows whether there is something to do; the transaction decides again on the locked row. */
  async #inspectEnd(certificate: InspectedCertificate): Promise<Finding | undefined> {
    const { clock, store } = this.#deps
    if (!inspect(certificate, clock.now())) return undefined
    return store.write(async (tx) => {
      const locked = await lockCertificate(tx, certificate.id)
      const finding = locked && inspect(locked, clock.now())
      if (finding) await this.#apply(tx, locked, finding)
      return finding
    })
  }

  async #apply(tx: Tx, certificate: InspectedCertificate, finding: Finding): Promise<void> {
    const { alerts } = this.#deps
    const { id, reportedStep } = certificate
    if (finding.kind === 'recover') {
      await recordSteps(tx, id, reportedStep, null)
      return alerts.raise(tx, endingRecovery(certificate, 'It was revoked or replaced.'))
    }
    // A step that was reported before only raises its alert again.
    const { kind, step } = finding
    const lastReported = kind === 'report' ? step : reportedStep
    await recordSteps(tx, id, lastReported, step)
    await alerts.raise(tx, endingAlert(certificate, step))
    if (kind === 'report') await this.#report(tx, certificate, step)
  }

  async #report(tx: Tx, certificate: InspectedCertificate, step: LadderStep): Promise<void> {
    const { clock, events, logger } = this.#deps
    const { id, name, expiresFirst } = certificate
    const data = { certificate: viewOf(certificate, clock.now()), step, expiresFirst }
    await events.append(tx, { type: CERTIFICATE_EVENTS.expiring, subject: id, data })
    tx.afterCommit(() => {
      this.#reports.increment({ step: String(step) })
      logger.info({ certificate_id: id, name, step, actor: 'worker' }, 'certificate ends soon')
    })
  }

  async #inspectFile(certificate: InspectedCertificate): Promise<FileProblem | undefined> {
    const problem = await this.#files.problemOf(certificate)
    if ((problem !== undefined) === certificate.hasFileAlert) return problem
    await this.#deps.store.write(async (tx) => {
      const locked = await lockCertificate(tx, certificate.id)
      // The certificate was deleted, or another process was faster.
      if (!locked || locked.hasFileAlert !== certificate.hasFileAlert) return
      await recordFileAlert(tx, locked.id, problem !== undefined)
      await this.#deps.alerts.raise(tx, fileAlert(locked, problem))
    })
    return problem
  }

  async #removeLeftOver(name: string): Promise<boolean> {
    const isRemoved = await this.#files.removeLeftOver(name)
    if (isRemoved) this.#deps.logger.info({ file: name }, 'certificate file without a certificate removed')
    return isRemoved
  }
}
