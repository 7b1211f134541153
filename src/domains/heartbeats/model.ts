import { SECOND } from '../../kernel/time.ts'
import type { Severity } from '../../ports/alerts.ts'

/** The severities that the alert of a missed heartbeat may have. */
export const HEARTBEAT_SEVERITIES = [
  'CRITICAL',
  'HIGH',
  'ERROR',
  'WARNING',
  'INFO',
] as const satisfies readonly Severity[]
export type HeartbeatSeverity = (typeof HEARTBEAT_SEVERITIES)[number]

export const HEARTBEAT_STATUSES = ['waiting', 'ok', 'missed'] as const
export type HeartbeatStatus = (typeof HEARTBEAT_STATUSES)[number]

/** What a client sets. */
export interface HeartbeatSettings {
  readonly everySeconds: number
  readonly graceSeconds: number
  /** Severity of the alert of a missed beat. */
  readonly severity: HeartbeatSeverity
  /** Source of that alert. */
  readonly source: string
}

/** A dead man's switch: a program sends beats, and an alert is raised when they stop. */
export interface AlertHeartbeat extends HeartbeatSettings {
  readonly name: string
  readonly createdBy: string
  /** All times are epoch milliseconds, UTC. */
  readonly createdAt: number
  readonly updatedBy: string
  readonly updatedAt: number
  /** Null until the first beat. */
  readonly lastBeatAt: number | null
  /** The last beat, or a later change of the settings: the time from which the next beat is counted. */
  readonly countedFrom: number
  /** When the next beat is missed. */
  readonly dueAt: number
  /** Null unless it is missed now. */
  readonly missedAt: number | null
}

const DEFAULTS = { graceSeconds: 0, severity: 'HIGH', source: 'platform.heartbeats' } as const

/** The settings with their defaults. */
export function settingsOf(
  given: Pick<HeartbeatSettings, 'everySeconds'> & Partial<HeartbeatSettings>,
): HeartbeatSettings {
  return { ...DEFAULTS, ...given }
}

export function newHeartbeat(
  name: string,
  settings: HeartbeatSettings,
  createdBy: string,
  at: number,
): AlertHeartbeat {
  return {
    ...settings,
    name,
    createdBy,
    createdAt: at,
    updatedBy: createdBy,
    updatedAt: at,
    lastBeatAt: null,
    missedAt: null,
    ...countFrom(settings, at),
  }
}

const SETTINGS = ['everySeconds', 'graceSeconds', 'severity', 'source'] as const

export function hasSettings(heartbeat: AlertHeartbeat, settings: HeartbeatSettings): boolean {
  return SETTINGS.every((name) => heartbeat[name] === settings[name])
}

/** The next beat is counted from the change: a shorter period must not be missed already. */
export function withSettings(
  heartbeat: AlertHeartbeat,
  settings: HeartbeatSettings,
  updatedBy: string,
  at: number,
): AlertHeartbeat {
  return { ...heartbeat, ...settings, updatedBy, updatedAt: at, ...countFrom(settings, at) }
}

export function applyBeat(heartbeat: AlertHeartbeat, at: number): AlertHeartbeat {
  return { ...heartbeat, lastBeatAt: at, missedAt: null, ...countFrom(heartbeat, at) }
}

export function statusOf({ missedAt, lastBeatAt }: AlertHeartbeat): HeartbeatStatus {
  if (missedAt !== null) return 'missed'
  return lastBeatAt === null ? 'waiting' : 'ok'
}

function countFrom({ everySeconds, graceSeconds }: HeartbeatSettings, at: number) {
  return { countedFrom: at, dueAt: at + (everySeconds + graceSeconds) * SECOND }
}
