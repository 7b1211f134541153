import { DAY, toRfc3339 } from '../../kernel/time.ts'
import { declaredAlarmId, type AlertTable } from '../../kernel/alerts.ts'
import type { PlatformAlert } from '../../ports/alerts.ts'
import { severityOfStep, type LadderStep } from './ladder.ts'
import type { Certificate } from './model.ts'

// The body of an alert is for people, who can list the others.
const SHOWN_NAMES = 10

/** The alerts of certificates, for `docs/reference/alerts.md`. */
export const CERTIFICATE_ALERTS = {
  'certificate.expiring:*': {
    severities: ['INFO', 'WARNING', 'ERROR', 'HIGH', 'CRITICAL'],
    raisedBy: 'A certificate, or one of its chain, ends soon or has ended; `*` is its fingerprint.',
    endedBy: 'The certificate is replaced, revoked or deleted.',
    whatToDo: 'Register a new certificate with at least the same names.',
  },
  'certificate.file:*': {
    severities: ['ERROR'],
    raisedBy: 'The file of a certificate is missing, altered or unreadable; `*` is its fingerprint.',
    endedBy: 'An inspection finds the file as it was written, or the certificate is deleted.',
    whatToDo: 'Put the file back from a backup, or delete the certificate and register it again.',
    repeatEveryMs: DAY,
  },
} as const satisfies AlertTable

function certificateAlarm(alert: keyof typeof CERTIFICATE_ALERTS, { fingerprintSha256 }: Certificate) {
  const alarmId = declaredAlarmId(CERTIFICATE_ALERTS, alert, fingerprintSha256)
  return { alarmId, source: 'platform.certificates' }
}

/** The alert of a certificate that ends soon. */
export function endingAlert(certificate: Certificate, step: LadderStep): PlatformAlert {
  const { name, endsAt } = certificate
  return {
    ...certificateAlarm('certificate.expiring:*', certificate),
    title: step === 0 ? `The certificate ${name} has ended` : `The certificate ${name} ends ${within(step)}`,
    body: `${whatEnds(certificate, step === 0 ? 'ended' : 'ends')} at ${toRfc3339(endsAt)}. ${namesOf(certificate)}`,
    severity: severityOfStep(step),
  }
}

/** The recovery of that alert. */
export function endingRecovery(certificate: Certificate, reason: string): PlatformAlert {
  return {
    ...certificateAlarm('certificate.expiring:*', certificate),
    title: `The certificate ${certificate.name} needs no replacement`,
    body: reason,
    severity: 'CLOSE',
  }
}

/** The alert of a file that is not as it was written; without a problem its recovery. */
export function fileAlert(certificate: Certificate, problem: string | undefined): PlatformAlert {
  const { name, fingerprintSha256 } = certificate
  return {
    ...certificateAlarm('certificate.file:*', certificate),
    title: `The file of the certificate ${name} ${problem ?? 'is as it was written'}`,
    body:
      problem === undefined
        ? 'It was found or written again, or the certificate was deleted.'
        : `Register the same PEM again, which writes the file anew, or put certs/${fingerprintSha256}.pem back from a backup.`,
    severity: problem === undefined ? 'CLOSE' : 'ERROR',
  }
}

function within(step: LadderStep): string {
  return step === 1 ? 'within 24 hours' : `within ${step} days`
}

function whatEnds(
  { fingerprintSha256, expiresFirst, chain, notAfter, endsAt }: Certificate,
  verb: 'ends' | 'ended',
): string {
  if (expiresFirst === fingerprintSha256) return `It ${verb}`
  const member = chain.find(({ fingerprintSha256: fingerprint }) => fingerprint === expiresFirst)
  const days = Math.floor((notAfter - endsAt) / DAY)
  return `A certificate of its chain (${member?.subject ?? expiresFirst}) ${verb} ${days} days before it,`
}

function namesOf({ names, subject }: Certificate): string {
  if (names.length === 0) return `Subject: ${subject}`
  const others = names.length - SHOWN_NAMES
  return `Names: ${names.slice(0, SHOWN_NAMES).join(', ')}${others > 0 ? ` and ${others} more` : ''}`
}
