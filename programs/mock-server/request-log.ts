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
  /** Why the request was refused. */
  readonly refusal?: RequestRefusal | undefined
}

interface RequestRefusal {
  /** The name of the failed check. */
  readonly check?: string
  readonly error?: string | undefined
  readonly code?: number | undefined
}

export type RequestLog = (record: RequestRecord) => void

/** Writes one JSON line for each request. */
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
