import { PACKAGE_CHECKS } from '../package/read-package.ts'

/** What a restored backup must pass, in this order (docs/specification.md, Restore drill). */
export const DRILL_CHECKS = [
  'archive-hash',
  ...PACKAGE_CHECKS,
  'database-opens',
  'integrity',
  'foreign-keys',
  'row-counts',
  'content-hash',
  'logs-readable',
] as const
export type DrillCheckName = (typeof DRILL_CHECKS)[number]

export interface DrillCheck {
  readonly name: DrillCheckName
  readonly ok: boolean
  /** What was found, or why the check is not possible. */
  readonly detail: string
}

/** `restore-drill-<id>.json` */
export interface DrillReport {
  readonly backup_id: string
  readonly passed: boolean
  /** Up to the first that failed. */
  readonly checks: readonly DrillCheck[]
  /** How long the restoration took, to the end of the last check. */
  readonly rto_seconds: number
  /** How old the data was when the restoration began. */
  readonly rpo_seconds: number
}

/** What a person wants to know besides the report. */
export interface DrillFacts {
  /** Its name and its bytes; undefined when it was not found. */
  readonly archive: { readonly file: string; readonly size: number } | undefined
  /** When the backup was made, and when the drill began, in milliseconds since the epoch. */
  readonly createdAt: number
  readonly startedAt: number
  /** The servers in the manifest, as soon as it is known. */
  readonly servers: readonly string[]
  readonly schemaVersion: string
  readonly rows: Readonly<Record<string, number>>
}

/** `passed`, or the check that failed. */
export function outcomeOf({ passed, checks }: DrillReport): string {
  return passed ? 'passed' : `failed at ${checks.at(-1)?.name ?? 'the start'}`
}
