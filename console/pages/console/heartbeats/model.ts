import type { AnswerOf } from '../../../api/operations.ts'
import type { ListSource } from '../../../parts/list/use-list.ts'
import type { Tone } from '../../../parts/status-badge.tsx'
import { call, live } from '../platform.ts'

export type Heartbeat = AnswerOf<'listHeartbeats'>['items'][number]

export const HEARTBEAT_TONES: Readonly<Record<Heartbeat['status'], Tone>> = {
  waiting: 'quiet',
  ok: 'good',
  missed: 'danger',
}

export const SEVERITIES = ['CRITICAL', 'HIGH', 'ERROR', 'WARNING', 'INFO'] as const

const PAGE_LENGTH = 50
// A beat has no event.
const EVERY_MS = 15_000

/** The list of the heartbeats. */
export const heartbeatList: ListSource<Heartbeat> = {
  filters: [],
  live,
  prefix: 'heartbeat.',
  read: (query, signal) => call('listHeartbeats', { query: { ...query, limit: PAGE_LENGTH } }, signal),
  keyOf: ({ name }) => name,
  fromEvent: () => 'changed',
  everyMs: EVERY_MS,
}

/** What a job runs to send a beat. The token stays a placeholder: the one of the reader is for this page only. */
export function beatCommand({ name }: Pick<Heartbeat, 'name'>, origin: string): string {
  return `curl -fsS -X POST -H 'Authorization: Bearer TOKEN' ${origin}/alerts/heartbeats/${name}/beat`
}
