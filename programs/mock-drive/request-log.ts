import type { Clock } from '../../src/kernel/clock.ts'
import { toRfc3339 } from '../../src/kernel/time.ts'

/** The logged part of a request: never its path, query, headers or body, which may contain secrets and tokens. */
export interface RequestRecord {
  readonly method: string
  readonly endpoint: string
  /** Null when the connection was reset instead. */
  readonly status: number | null
  /** Monotonic milliseconds. */
  readonly startedAt: number
  readonly scenario?: string | undefined
  readonly error?: string | undefined
}

export type RequestLog = (record: RequestRecord) => void

export function createRequestLog(clock: Clock, write: (line: string) => void): RequestLog {
  return ({ method, endpoint, status, startedAt, scenario, error }) => {
    const duration = Math.round((clock.monotonic() - startedAt) * 100) / 100
    const line = {
      ts: toRfc3339(clock.now()),
      method,
      endpoint,
      status,
      duration_ms: duration,
      scenario,
      error,
    }
    write(`${JSON.stringify(line)}\n`)
  }
}
