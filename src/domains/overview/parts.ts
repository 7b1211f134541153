import type { Identity, Role } from '../../kernel/identity.ts'
import type { OrderCounts } from './model.ts'

/** All times are epoch milliseconds, UTC. */
export interface OverviewParts {
  readonly orders: OrderCounts
  /** Null without a channel. */
  readonly payments: {
    readonly channels: readonly string[]
    /** The payments that need a person. */
    readonly attention: number
    readonly oldestAt: number | null
  } | null
  readonly messages: {
    readonly pending: number
    readonly oldestPendingAt: number | null
    readonly dead: number
    readonly oldestDeadAt: number | null
  }
  /** The firing ones, by severity. */
  readonly alerts: Readonly<Record<'CRITICAL' | 'HIGH' | 'ERROR' | 'WARNING' | 'INFO', number>>
  readonly heartbeats: { readonly late: number; readonly items: readonly LateHeartbeat[] }
  /** The unclosed ones, by level. */
  readonly tickets: Readonly<Record<'critical' | 'high' | 'medium' | 'low' | 'info', number>>
  readonly sessions: { readonly open: number }
  readonly pool: Readonly<Record<'size' | 'used' | 'cooling' | 'free', number>> & { readonly cidr: string }
  readonly certificates: {
    readonly expiring: number
    readonly expired: number
    readonly items: readonly ExpiringCertificate[]
  }
  readonly dataBackups: {
    readonly last: LastDataBackup | null
    /** Null if the worker makes no backups by itself. */
    readonly backupEverySeconds: number | null
  }
  readonly night: { readonly last: Night | null }
  readonly drill: Drill
  readonly executions: { readonly awaitingApproval: number; readonly oldestAt: number | null }
}

export interface LateHeartbeat {
  readonly name: string
  readonly lastBeatAt: number | null
  readonly missedAt: number | null
}

export interface ExpiringCertificate {
  readonly id: string
  readonly name: string
  readonly notAfter: number
  readonly daysLeft: number
}

export interface LastDataBackup {
  readonly id: string
  readonly status: 'running' | 'completed' | 'failed'
  readonly sizeBytes: number | null
  readonly createdAt: number
  readonly finishedAt: number | null
  readonly verifiedAt: number | null
  readonly error: string | null
}

/** The restore drill, by its heartbeat. */
export interface Drill {
  /** Null when no drill is expected. */
  readonly status: 'waiting' | 'ok' | 'missed' | null
  readonly lastPassedAt: number | null
  /** When the next one has to have passed. */
  readonly dueAt: number | null
}

/** A part of the overview that the domain reads from another one. */
export interface PartSource<T> {
  /** The roles of its list. */
  readonly readers: readonly Role[]
  readonly read: (identity: Identity) => Promise<T>
}

/** Where each part comes from. */
export type PartSources = { readonly [Name in keyof OverviewParts]: PartSource<OverviewParts[Name]> }

/** The overview of one caller: a part is null without the role of its list. */
export type OverviewView = { readonly [Name in keyof OverviewParts]: OverviewParts[Name] | null } & {
  readonly at: number
}

/** What is known of an alert of the nightly backup. Times are epoch milliseconds. */
interface NightAlertState {
  readonly id: string
  readonly isFiring: boolean
  /** The last report. */
  readonly lastAt: number
}

/** The alerts of the nightly backup; undefined for one that was never reported. */
interface NightAlertStates {
  /** `backup.start` */
  readonly started?: NightAlertState | undefined
  /** `backup.done` */
  readonly succeeded?: NightAlertState | undefined
  /** `backup.failed` */
  readonly failed?: NightAlertState | undefined
  /** `backup.failed.critical` */
  readonly lost?: NightAlertState | undefined
}

export const NIGHT_STATUSES = ['running', 'succeeded', 'failed', 'lost'] as const

/** The last nightly backup, as it has reported itself. */
interface Night {
  readonly status: (typeof NIGHT_STATUSES)[number]
  readonly startedAt: number | null
  /** Time of the last verified backup, which may be that of an earlier night. */
  readonly succeededAt: number | null
  /** Time of the last failure; null unless `backup.failed` fires. */
  readonly failedAt: number | null
  /** The alert that describes the failure; null unless the last night has failed. */
  readonly alertId: string | null
}

/** Null when no night was ever reported. */
export function nightOf({ started, succeeded, failed, lost }: NightAlertStates): Night | null {
  if (!started && !succeeded && !failed && !lost) return null
  const startedAt = started?.lastAt ?? null
  const succeededAt = succeeded?.lastAt ?? null
  const failedAt = failed?.isFiring ? failed.lastAt : null
  const times = { startedAt, succeededAt, failedAt }
  if (lost?.isFiring) return { status: 'lost', ...times, alertId: lost.id }
  if (failed?.isFiring) return { status: 'failed', ...times, alertId: failed.id }
  const isRunning = startedAt !== null && startedAt > (succeededAt ?? 0)
  return { status: isRunning ? 'running' : 'succeeded', ...times, alertId: null }
}
