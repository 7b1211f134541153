import { FIRING_SEVERITIES, type AlertTable, type FiringSeverity } from '../../kernel/alerts.ts'
import { SECOND, DAY } from '../../kernel/time.ts'
import { nextRun } from './schedule.ts'

export const HEARTBEAT_STATUSES = ['waiting', 'ok', 'missed'] as const
export type HeartbeatStatus = (typeof HEARTBEAT_STATUSES)[number]

/** What a client sets. */
export interface HeartbeatSettings {
  /** 0 with a schedule. */
  readonly everySeconds: number
  /** Five cron fields: when a run begins. */
  readonly schedule: string | null
  /** The time zone of the schedule. */
  readonly timeZone: string | null
  /** The longest time from a start to its end. */
  readonly maxRunSeconds: number | null
  readonly graceSeconds: number
  /** Severity of the alert of a missed beat. */
  readonly severity: FiringSeverity
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
  /** The start of the run that has not ended. */
  readonly startedAt: number | null
  /** The duration of the last run with a start and an end. */
  readonly durationSeconds: number | null
  /** 1 at the creation, larger after each change. */
  readonly version: number
}

/** A heartbeat with the hash of its address for pings; null for one that has none. */
export interface StoredHeartbeat extends AlertHeartbeat {
  readonly pingHash: string | null
}

export const PING_KINDS = ['done', 'start', 'fail', 'exit', 'log'] as const
export type PingKind = (typeof PING_KINDS)[number]

/** What a program says about its run. */
export interface RunSignal {
  readonly kind: PingKind
  /** The code of `exit`: 0 to 255. */
  readonly exitCode: number | null
}

export interface Ping extends RunSignal {
  readonly at: number
  /** The duration of the run that it ends, if there was a start. */
  readonly durationSeconds: number | null
  /** Null for a beat by name. */
  readonly remoteAddress: string | null
  readonly body: string
}

const DEFAULTS = {
  everySeconds: 0,
  schedule: null,
  timeZone: null,
  maxRunSeconds: null,
  graceSeconds: 0,
  severity: 'HIGH',
  source: 'platform.heartbeats',
} as const

/** The settings with their defaults. */
export function settingsOf(settings: Partial<HeartbeatSettings>): HeartbeatSettings {
  return { ...DEFAULTS, ...settings }
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
    startedAt: null,
    durationSeconds: null,
    version: 1,
    ...countFrom(settings, at),
  }
}

export function hasSettings(heartbeat: AlertHeartbeat, settings: HeartbeatSettings): boolean {
  const names = Object.keys(DEFAULTS) as (keyof typeof DEFAULTS)[]
  return names.every((name) => heartbeat[name] === settings[name])
}

/** The next beat is counted from the change: a shorter period must not be missed already. */
export function withSettings(
  heartbeat: AlertHeartbeat,
  settings: HeartbeatSettings,
  updatedBy: string,
  at: number,
): AlertHeartbeat {
  const changed = { ...heartbeat, ...settings, updatedBy, updatedAt: at, ...countFrom(settings, at) }
  return heartbeat.startedAt === null ? changed : { ...changed, ...endOfRun(changed, at) }
}

/** Whether the signal says that a run has failed. */
export function isFailure({ kind, exitCode }: RunSignal): boolean {
  return kind === 'fail' || (kind === 'exit' && exitCode !== 0)
}

/** The heartbeat after a signal; the time of the next beat is counted from a beat and from a start. */
export function applySignal<H extends AlertHeartbeat>(heartbeat: H, signal: RunSignal, at: number): H {
  if (signal.kind === 'log') return heartbeat
  if (signal.kind === 'start') return { ...heartbeat, startedAt: at, ...endOfRun(heartbeat, at) }
  const durationSeconds = durationOf(heartbeat, at) ?? heartbeat.durationSeconds
  const ended = { ...heartbeat, startedAt: null, durationSeconds }
  if (isFailure(signal)) return { ...ended, missedAt: heartbeat.missedAt ?? at }
  return { ...ended, lastBeatAt: at, missedAt: null, ...countFrom(heartbeat, at) }
}

/** How long the run took that ends at this time. */
export function durationOf({ startedAt }: AlertHeartbeat, at: number): number | null {
  return startedAt === null ? null : Math.max(0, Math.round((at - startedAt) / SECOND))
}

export function statusOf({ missedAt, lastBeatAt }: AlertHeartbeat): HeartbeatStatus {
  if (missedAt !== null) return 'missed'
  return lastBeatAt === null ? 'waiting' : 'ok'
}

function countFrom({ everySeconds, schedule, timeZone, graceSeconds }: HeartbeatSettings, at: number) {
  const expectedAt = schedule === null ? at + everySeconds * SECOND : nextRun(schedule, timeZone ?? 'UTC', at)
  return { countedFrom: at, dueAt: expectedAt + graceSeconds * SECOND }
}

/** A run must end in time; without a limit it changes nothing about the next beat. */
function endOfRun({ maxRunSeconds, missedAt }: AlertHeartbeat, at: number) {
  if (maxRunSeconds === null || missedAt !== null) return {}
  return { countedFrom: at, dueAt: at + maxRunSeconds * SECOND }
}

/** The alerts of heartbeats, for `docs/reference/alerts.md`. */
export const HEARTBEAT_ALERTS = {
  'heartbeat.missed:*': {
    severities: FIRING_SEVERITIES,
    raisedBy:
      'No beat comes in time, a run takes too long, or a ping says that it has failed; `*` is the name of the heartbeat, which has the severity.',
    endedBy: 'The next beat, or the heartbeat is deleted.',
    whatToDo:
      'Check the program that should send the beats. If it runs, the log has the host of pings with a wrong address: `POST /alerts/heartbeats/{name}/rotate` makes another one.',
    repeatEveryMs: DAY,
  },
} as const satisfies AlertTable

/** docs/specification.md, Events. A beat itself has no event. */
export const HEARTBEAT_EVENTS = {
  created: 'heartbeat.created',
  changed: 'heartbeat.changed',
  missed: 'heartbeat.missed',
  recovered: 'heartbeat.recovered',
  deleted: 'heartbeat.deleted',
} as const

export type HeartbeatEvent = keyof typeof HEARTBEAT_EVENTS
