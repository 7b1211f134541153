import type { LoadedConfig } from '../../config/config.ts'
import type { Environment } from '../../config/env.ts'
import type { ModuleName } from '../../config/value-types.ts'
import type { BusFacts } from '../../infra/bus/inspect-bus.ts'
import type { Clock } from '../../kernel/clock.ts'
import { sentenceWith, type ErrorValues, type SentenceCause } from '../../kernel/errors.ts'
import type { DatabaseState } from './database-state.ts'
import { documentPath, FINDINGS, type FindingCode, type FindingSentences } from './findings.ts'
import type { ServiceUnit, ServiceUser } from './service.ts'

/** From harmless to grave. A check that cannot or need not run is skipped. */
export const RESULTS = ['skipped', 'ok', 'warning', 'error'] as const
export type CheckResult = (typeof RESULTS)[number]

/** What a check has found. */
export interface CheckFinding {
  /** What was examined: a path, an address, a setting. */
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
  /** The check runs for a process with one of these modules; left out: for all. */
  readonly modules?: readonly ModuleName[]
  /** Changes nothing. A rejection is an error of the check. */
  run(parts: DoctorParts): Promise<readonly CheckFinding[]>
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
  database(): Promise<DatabaseState | undefined>
  /** As `database`, but empty while no database can be used, which `databaseCheck` reports. */
  knownState(): Promise<Partial<DatabaseState>>
  /** Read once. Rejects if no server answers. */
  bus(): Promise<BusFacts>
}

/** Nothing is wrong with what the first start makes while it is not made (docs/specification.md, Health). */
export const NOT_MADE_YET = 'is not made yet: the first `platform serve` makes it'

export function skipped(subject: string, detail: string): CheckFinding {
  return { subject, result: 'skipped', detail }
}

export function fine(subject: string, detail: string): CheckFinding {
  return { subject, result: 'ok', detail }
}

export function warning(subject: string, code: FindingCode, values?: ErrorValues): CheckFinding {
  return { subject, result: 'warning', ...explain(code, values) }
}

export function fault(subject: string, code: FindingCode, values?: ErrorValues): CheckFinding {
  return { subject, result: 'error', ...explain(code, values) }
}

function explain(code: FindingCode, values?: ErrorValues) {
  const { detail, remedy, document }: FindingSentences = FINDINGS[code]
  const all = { ...values, ...(document !== undefined && { document: documentPath(document) }) }
  return {
    detail: sentenceWith(detail, all),
    remedy: sentenceWith(remedy, all),
    cause: { code, values: all },
  }
}

const MOST_FINDINGS = 10

/**
 * The gravest findings of a check that has many of one kind, and how many more there are: all would hide those of other checks.
 * `others` says in words what those are.
 */
export function firstFindings(
  findings: readonly CheckFinding[],
  subject: string,
  others: string,
): readonly CheckFinding[] {
  if (findings.length <= MOST_FINDINGS) return findings
  const sorted = findings.toSorted((one, other) => rankOf(other) - rankOf(one))
  return [
    ...sorted.slice(0, MOST_FINDINGS),
    skipped(subject, `${findings.length - MOST_FINDINGS} more ${others}`),
  ]
}

function rankOf({ result }: CheckFinding): number {
  return RESULTS.indexOf(result)
}
