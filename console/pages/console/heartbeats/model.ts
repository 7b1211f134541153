import type { AnswerOf } from '../../../api/operations.ts'
import type { Tone } from '../../../parts/status-badge.tsx'
import { listOf } from '../sources.ts'

export type Heartbeat = AnswerOf<'listHeartbeats'>['items'][number]

export const HEARTBEAT_TONES: Readonly<Record<Heartbeat['status'], Tone>> = {
  waiting: 'quiet',
  ok: 'good',
  missed: 'danger',
}

// A beat has no event.
const EVERY_MS = 15_000

/** The list of the heartbeats. */
export const heartbeatList = listOf('listHeartbeats', 'heartbeat.', {
  keyOf: ({ name }) => name,
  everyMs: EVERY_MS,
})

export type Ping = AnswerOf<'listHeartbeatPings'>['items'][number]

const PING_TONES: Readonly<Record<Ping['kind'], Tone>> = {
  done: 'good',
  start: 'quiet',
  fail: 'danger',
  exit: 'danger',
  log: 'quiet',
}

export function toneOf({ kind, exit_code }: Ping): Tone {
  return exit_code === 0 ? 'good' : PING_TONES[kind]
}

/** The address as a program calls it. The API gives only a path as long as it does not know its own address. */
export function pingAddress(pingUrl: string, origin: string): string {
  return new URL(pingUrl, origin).href
}

// RFC 6761, section 6.3
const LOOPBACK = /^(localhost|127\..*|\[::1\])$/

/** Whether only the same computer can call the address. */
export function isLoopback(address: string): boolean {
  return LOOPBACK.test(new URL(address).hostname)
}

/** A line for a crontab: the job, then its exit code. */
export function crontabLine({ schedule }: Pick<Heartbeat, 'schedule'>, address: string): string {
  return `${schedule ?? '0 2 * * *'} /path/to/job; curl -fsS -m 10 --retry 5 ${address}/$?`
}
