/** docs/specification.md, Events; a single beat is none. */
export const HEARTBEAT_EVENTS = {
  created: 'heartbeat.created',
  changed: 'heartbeat.changed',
  missed: 'heartbeat.missed',
  recovered: 'heartbeat.recovered',
  deleted: 'heartbeat.deleted',
} as const

export type HeartbeatEvent = keyof typeof HEARTBEAT_EVENTS
