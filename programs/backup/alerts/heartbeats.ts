import { DAY, HOUR, SECOND } from '../../../src/kernel/time.ts'

const settings = (everyMs: number, graceMs: number) => ({
  every_seconds: everyMs / SECOND,
  grace_seconds: graceMs / SECOND,
})

/** The heartbeats that the routine beats: the platform raises an alert for a night that nobody has run. */
export const HEARTBEATS = {
  backup: settings(DAY, 2 * HOUR),
  'backup-restore-drill': settings(31 * DAY, DAY),
} as const

export type HeartbeatName = keyof typeof HEARTBEATS
