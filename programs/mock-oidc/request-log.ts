import { toRfc3339 } from '../../src/kernel/time.ts'
import type { Clock } from '../../src/kernel/clock.ts'
import type { Refusal } from './answers.ts'

/** The logged part of a request: never its path, query, headers or body, which may contain secrets and tokens. */
export interface RequestRecord {
  readonly method: string
  readonly endpoint: string
  /** Null when the connection was reset instead. */
  readonly status: number | null
  /** Monotonic milliseconds. */
  readonly startedAt: number
  readonly scenario?: string | undefined
  readonly refusal?: Refusal | undefined
}

export type RequestLog = (record: RequestRecord) => void

export function createRequestLog(clock: Clock, write: (line: string) => void): RequestLog {
  return ({ method, endpoint, status, startedAt, scenario, refusal }) => {
    const line = {
      ts: toRfc3339(clock.now()),
      method,
      endpoint,
      status,
      duration_ms: Math.round((clock.monotonic() - startedAt) * 100) / 100,
      scenario,
      check: refusal?.check,
      error: refusal?.error,
      code: refusal?.code,
    }
    write(`${JSON.stringify(line)}\n`)
  }
}
