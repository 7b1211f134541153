import type { UploadState } from '../drive/port.ts'
import { ERROR_CODES, type ErrorCode } from '../errors.ts'
import type { LeftOut } from '../package/left-out.ts'
import {
  isBackupIdText,
  isFlag,
  isNumber,
  isText,
  listOf,
  objectOf,
  oneOf,
  optional,
  parseChecked,
  valuesOf,
  type ShapeCheck,
} from '../shape-checks.ts'

/** What a run has reached, in this order (docs/specification.md, Nightly backup). */
export const RUN_STATES = [
  'started',
  'packaged',
  'uploaded',
  'verified',
  'succeeded',
  'cleaned',
  'rebooting',
] as const
export type RunState = (typeof RUN_STATES)[number]

/** A failure of a run. */
export interface RunFailure {
  readonly errorCode: ErrorCode
  /** One sentence without secrets. */
  readonly message: string
  /** The step that failed. */
  readonly job: string
  readonly at: number
}

/** A package in the staging directory. */
export interface StagedArchive {
  /** Its name in the staging directory, and on the drive. */
  readonly name: string
  readonly size: number
  readonly sha256: string
  readonly sha1: string
  readonly createdAt: number
  /** What is in it, for the index of the month. */
  readonly contents: readonly string[]
  readonly leftOut?: LeftOut
}

/** An archive that this server has made and that may be on the drive. */
export interface MadeArchive {
  readonly backupId: string
  readonly sha256: string
  readonly sha1: string
}

/** The archive as the drive has it. */
export interface RemoteArchive {
  readonly fileId: string
  readonly folderId: string
  /** The path on the drive. */
  readonly path: string
}

/** The run in progress, or the last one. Times are milliseconds since the epoch. */
export interface RunRecord {
  readonly backupId: string
  /** The local date of its start. */
  readonly date: string
  readonly startedAt: number
  readonly status: 'running' | 'failed' | 'done'
  readonly reached: RunState
  /** The step in progress. */
  readonly job: string
  /** Milliseconds by the name of the step. */
  readonly durations: Readonly<Record<string, number>>
  readonly archive?: StagedArchive
  /** The unfinished upload of the archive. */
  readonly upload?: UploadState
  readonly remote?: RemoteArchive
  readonly failure?: RunFailure
}

/** What has happened on a local date. */
export interface NightRecord {
  readonly date: string
  readonly failures: number
  readonly succeededAt?: number
  /** When the night was reported as lost. */
  readonly lostAt?: number
}

export interface LastSuccess {
  readonly backupId: string
  readonly at: number
  readonly size: number
  readonly sha256: string
  readonly path: string
  readonly leftOut?: LeftOut
}

/** A reboot that the self-check has to confirm. */
export interface PendingReboot {
  readonly backupId: string
  readonly at: number
}

export interface DrillRecord {
  readonly backupId: string
  readonly endedAt: number
  readonly passed: boolean
  readonly rtoSeconds: number
  readonly rpoSeconds: number
}

const OPEN_ALERTS = ['failed', 'critical', 'selfcheck'] as const
/** An alert that was raised and not closed yet. */
export type OpenAlert = (typeof OPEN_ALERTS)[number]

/** The content of `state.json`: a plain value, without secrets. */
export interface BackupState {
  readonly format: 1
  readonly run?: RunRecord
  /** The last dates on which something has happened, the newest last. */
  readonly nights: readonly NightRecord[]
  readonly lastSuccess?: LastSuccess
  /** The alerts that a success has to close: of a backup, or of a self-check. */
  readonly openAlerts: readonly OpenAlert[]
  /** The ids that were given lately. */
  readonly givenIds: readonly string[]
  /** Runs that are given up, whose archives may be on the drive. */
  readonly abandonedIds: readonly string[]
  /** The verified backups on the drive; unknown until the drive was searched. */
  readonly remoteIds?: readonly string[]
  /** The archives that this server has made, by which it knows its own where servers share a folder. */
  readonly archives?: readonly MadeArchive[]
  /** The other servers that the last run has found in the folder of the drive. */
  readonly sharedWith?: readonly string[]
  readonly pendingReboot?: PendingReboot
  /** The local date of the last reboot by this routine. */
  readonly rebootedOn?: string
  /** The alert of a reboot that was held back is open: the next reboot closes it. */
  readonly rebootIsBlocked?: boolean
  /** Bytes by the name of the cleaning step. */
  readonly freedBytes?: Readonly<Record<string, number>>
  readonly drill?: DrillRecord
  readonly lastPassedDrillAt?: number
}

export const EMPTY_STATE: BackupState = {
  format: 1,
  nights: [],
  openAlerts: [],
  givenIds: [],
  abandonedIds: [],
}

export function hasReached({ reached }: RunRecord, state: RunState): boolean {
  return RUN_STATES.indexOf(reached) >= RUN_STATES.indexOf(state)
}

/** What has happened on a local date. */
export function nightOf({ nights }: BackupState, date: string): NightRecord {
  return nights.find((night) => night.date === date) ?? { date, failures: 0 }
}

/** The open alerts with one more. */
export function withOpenAlert({ openAlerts }: BackupState, alert: OpenAlert): readonly OpenAlert[] {
  return [...new Set([...openAlerts, alert])]
}

const KEPT_IDS = 100

/** The ids that were given, with one more. */
export function withGivenId({ givenIds }: BackupState, backupId: string): readonly string[] {
  return [...givenIds, backupId].slice(-KEPT_IDS)
}

const KEPT_NIGHTS = 10

/** The nights with one of them changed. */
export function withNight({ nights }: BackupState, night: NightRecord): readonly NightRecord[] {
  return [...nights.filter(({ date }) => date !== night.date), night].slice(-KEPT_NIGHTS)
}

/** Throws an error that says what is wrong, without the content. */
export function parseState(text: string): BackupState {
  return parseChecked<BackupState>(text, CHECKS)
}

export function encodeState(state: BackupState): string {
  return `${JSON.stringify(state, null, 2)}\n`
}

const isDate: ShapeCheck = (value) => typeof value === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(value)

const isLeftOut = objectOf({
  count: isNumber,
  files: listOf(objectOf({ path: isText, reason: isText })),
  missing_roots: listOf(isText),
})

const isRun = objectOf({
  backupId: isBackupIdText,
  date: isDate,
  startedAt: isNumber,
  status: oneOf(['running', 'failed', 'done']),
  reached: oneOf(RUN_STATES),
  job: isText,
  durations: valuesOf(isNumber),
  archive: optional(
    objectOf({
      // It becomes a path in the staging directory.
      name: (name) => typeof name === 'string' && /^backup-\d{8}-\d{6}\.tar\.[a-z.]+$/.test(name),
      size: isNumber,
      sha256: isText,
      sha1: isText,
      createdAt: isNumber,
      contents: listOf(isText),
      leftOut: optional(isLeftOut),
    }),
  ),
  upload: optional(
    objectOf({
      fileId: isText,
      uploadId: isText,
      size: isNumber,
      sha1: isText,
      partSize: isNumber,
      hasUrls: isFlag,
    }),
  ),
  remote: optional(objectOf({ fileId: isText, folderId: isText, path: isText })),
  failure: optional(objectOf({ errorCode: oneOf(ERROR_CODES), message: isText, job: isText, at: isNumber })),
})

const CHECKS: Readonly<Record<keyof BackupState, ShapeCheck>> = {
  format: (value) => value === 1,
  run: optional(isRun),
  nights: listOf(
    objectOf({
      date: isDate,
      failures: isNumber,
      succeededAt: optional(isNumber),
      lostAt: optional(isNumber),
    }),
  ),
  lastSuccess: optional(
    objectOf({
      backupId: isBackupIdText,
      at: isNumber,
      size: isNumber,
      sha256: isText,
      path: isText,
      leftOut: optional(isLeftOut),
    }),
  ),
  openAlerts: listOf(oneOf(OPEN_ALERTS)),
  givenIds: listOf(isBackupIdText),
  abandonedIds: listOf(isBackupIdText),
  remoteIds: optional(listOf(isBackupIdText)),
  archives: optional(listOf(objectOf({ backupId: isBackupIdText, sha256: isText, sha1: isText }))),
  sharedWith: optional(listOf(isText)),
  pendingReboot: optional(objectOf({ backupId: isBackupIdText, at: isNumber })),
  rebootedOn: optional(isDate),
  rebootIsBlocked: optional(isFlag),
  freedBytes: optional(valuesOf(isNumber)),
  drill: optional(
    objectOf({
      backupId: isBackupIdText,
      endedAt: isNumber,
      passed: isFlag,
      rtoSeconds: isNumber,
      rpoSeconds: isNumber,
    }),
  ),
  lastPassedDrillAt: optional(isNumber),
}
