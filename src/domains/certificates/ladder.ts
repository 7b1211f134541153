import { DAY } from '../../kernel/time.ts'
import type { Severity } from '../../ports/alerts.ts'

/** The days before the end at which it is reported, and how severe that is (docs/specification.md, Certificates). */
export const LADDER = [
  { step: 60, severity: 'INFO' },
  { step: 30, severity: 'WARNING' },
  { step: 14, severity: 'WARNING' },
  { step: 7, severity: 'ERROR' },
  { step: 3, severity: 'HIGH' },
  { step: 1, severity: 'CRITICAL' },
  { step: 0, severity: 'CRITICAL' },
] as const satisfies readonly { step: number; severity: Severity }[]

export type LadderStep = (typeof LADDER)[number]['step']

/** What an inspection needs of a certificate, and what was reported of it before. */
export interface Inspected {
  /** When the certificate, or the first of its chain, ends; epoch milliseconds. */
  readonly endsAt: number
  readonly revokedAt: number | null
  readonly replacedBy: string | null
  /** The last step that was reported; null if there was none. */
  readonly reportedStep: LadderStep | null
  /** The step of its alert; null unless it was raised and not recovered since. */
  readonly alertStep: LadderStep | null
}

/** The result of the inspection of a certificate. A step that was reported before raises its alert again. */
export type Finding =
  | { readonly kind: 'report'; readonly step: LadderStep }
  | { readonly kind: 'raise'; readonly step: LadderStep }
  | { readonly kind: 'recover' }

/** The most urgent step that is due; undefined before the first one. */
export function dueStep(endsAt: number, now: number): LadderStep | undefined {
  return LADDER.findLast(({ step }) => endsAt - now <= step * DAY)?.step
}

/** Undefined when there is nothing to do. */
export function inspect(certificate: Inspected, now: number): Finding | undefined {
  const { endsAt, revokedAt, replacedBy, reportedStep, alertStep } = certificate
  if (revokedAt !== null || replacedBy !== null) return alertStep === null ? undefined : { kind: 'recover' }
  const step = dueStep(endsAt, now)
  if (step === undefined) return undefined
  if (reportedStep === null || step < reportedStep) return { kind: 'report', step }
  return alertStep === null ? { kind: 'raise', step } : undefined
}

export function severityOfStep(step: LadderStep): Severity {
  return LADDER.find((rung) => rung.step === step)?.severity ?? 'CRITICAL'
}
