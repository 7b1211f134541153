import type { LoadedConfig } from '../../config/config.ts'
import type { Environment } from '../../config/env.ts'
import type { ModuleName } from '../../config/value-types.ts'
import type { AuditSeal } from '../../domains/audit/index.ts'
import type { MirrorState } from '../../domains/users/index.ts'
import type { BusFacts } from '../../infra/bus/inspect-bus.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { DatabaseFacts } from '../../store/files/inspect-database.ts'
import type { KnownKeys } from '../signing-keys.ts'
import { sentenceWith, type ErrorValues, type SentenceCause } from '../../kernel/errors.ts'
import type { Activity } from './activity.ts'
import { FINDINGS, type FindingCode } from './findings.ts'
import type { ServiceUnit } from './service-unit.ts'
import type { ServiceUser } from './service-user.ts'

/** From harmless to grave. */
export const RESULTS = ['skipped', 'ok', 'warning', 'error'] as const
export type CheckResult = (typeof RESULTS)[number]

/** What a check has found of one thing. */
export interface CheckFinding {
  /** The thing: a path, an address, a setting. */
  readonly subject: string
  readonly result: CheckResult
  readonly detail: string
  /** What to do; set for a warning and an error. */
  readonly remedy?: string
  /** What `detail` and `remedy` say, for programs; set for a warning and an error. */
  readonly cause?: SentenceCause<FindingCode>
}

export interface Check {
  readonly name: string
  /** The modules that need what is checked; left out: all. */
  readonly modules?: readonly ModuleName[]
  /** Changes nothing. A rejection is an error of the check. */
  run(parts: DoctorParts): Promise<readonly CheckFinding[]>
}

/** Undefined is what cannot be read, as before the schema is current. */
export interface InspectedDatabase extends DatabaseFacts {
  readonly certificates: CertificateCounts | undefined
  /** The names of registered certificates whose file is gone, of the first 1,000. */
  readonly lostCertificates: readonly string[] | undefined
  readonly mirror: MirrorState | undefined
  /** Whether it was served with a signing key. */
  readonly hasSigningKey: boolean | undefined
  /** With which signing keys it was served. */
  readonly keys: KnownKeys | undefined
  /** The ids of the keys with which pages of the audit trail were sealed, and which this host does not have. */
  readonly lostAuditKeys: readonly string[] | undefined
  /** A SQLite file in the data directory with users that this database of PostgreSQL does not have. */
  readonly leftFile: string | undefined
  /** The newest seal of this host, if the audit trail does not contain it. */
  readonly missingSeal: AuditSeal | undefined
  /** For how long the longest overdue order is pending, in milliseconds. */
  readonly overdueOrderMs: number | undefined
  /** What the platform is doing. */
  readonly activity: Activity
  /** The payment channels whose provider has opened none of the last payments. */
  readonly failingChannels: readonly string[] | undefined
  readonly lastBackup: LastBackup | undefined
  /** Why the first of these that cannot be read cannot; undefined if all can, and while the schema is not current. */
  readonly failure: unknown
}

/** The last data backup that was completed. */
export interface LastBackup {
  /** Undefined until one was. */
  readonly at: number | undefined
  /** What is wrong with its file; undefined if it is there. */
  readonly fault: string | undefined
}

/** What the checks share. */
export interface DoctorParts {
  readonly loaded: LoadedConfig
  readonly env: Environment
  readonly clock: Clock
  /** The user id of this process; undefined where there is none. */
  readonly userId: number | undefined
  /** The processes of this host that serve the database, as far as it can be used. */
  ownProcesses(): Promise<readonly number[]>
  /** The units of systemd that serve with the configuration file; read once. */
  units(): Promise<readonly ServiceUnit[]>
  /** Whether this host has a user with this name or number. */
  hasUser(user: string): Promise<boolean>
  /** Read once; undefined where neither a unit, nor a process, nor a data directory of another than root names one. */
  serviceUser(): Promise<ServiceUser | undefined>
  /** Read once; undefined while there is no SQLite file. Rejects if the database cannot be used. */
  database(): Promise<InspectedDatabase | undefined>
  /** Read once. Rejects if no server answers. */
  bus(): Promise<BusFacts>
}

/** What the first start makes is no fault before it (docs/specification.md, Health). */
export const NOT_MADE_YET = 'is not made yet: the first `platform serve` makes it'

/** The registered certificates by their status. */
export type CertificateCounts = readonly { readonly status: string; readonly certificates: number }[]

export function skipped(subject: string, detail: string): CheckFinding {
  return { subject, result: 'skipped', detail }
}

export function fine(subject: string, detail: string): CheckFinding {
  return { subject, result: 'ok', detail }
}

export function warning(subject: string, code: FindingCode, values: ErrorValues = {}): CheckFinding {
  return { subject, result: 'warning', ...sentencesOf(code, values), cause: { code, values } }
}

export function fault(subject: string, code: FindingCode, values: ErrorValues = {}): CheckFinding {
  return { subject, result: 'error', ...sentencesOf(code, values), cause: { code, values } }
}

const SHOWN = 10

/** The gravest of many findings of one kind, and how many there are beside them: all would hide those of other checks. */
export function firstFindings(
  findings: readonly CheckFinding[],
  subject: string,
  others: string,
): readonly CheckFinding[] {
  if (findings.length <= SHOWN) return findings
  const sorted = findings.toSorted((one, other) => rankOf(other) - rankOf(one))
  return [...sorted.slice(0, SHOWN), skipped(subject, `${findings.length - SHOWN} more ${others}`)]
}

function rankOf({ result }: CheckFinding): number {
  return RESULTS.indexOf(result)
}

function sentencesOf(code: FindingCode, values: ErrorValues): Record<'detail' | 'remedy', string> {
  const { detail, remedy } = FINDINGS[code]
  return { detail: sentenceWith(detail, values), remedy: sentenceWith(remedy, values) }
}
