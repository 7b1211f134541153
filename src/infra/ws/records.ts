import type { Logger } from '../../kernel/logger.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import type { SessionEnd } from '../../ports/session-registry.ts'

/** What is told of a session in the log. */
export interface SessionFields {
  readonly session_id: string
  readonly user_id: string
  readonly device: string | null
  readonly virtual_ip: string
  readonly remote_address: string
  readonly request_id: string
}

/** Writes down what happens at the gateway: the log line and the measurement of each event together. */
export interface Records {
  opened(session: SessionFields): void
  closed(session: SessionFields, end: SessionEnd, heldMs: number): void
  refused(refusal: { code: string; reason: string; remote_address: string; request_id: string }): void
  /** A frame of that type came in or went out. */
  frame(direction: 'in' | 'out', type: string): void
}

export interface RecordsDeps {
  readonly logger: Logger
  readonly metrics: Metrics
  /** How many sessions are open now. */
  readonly openSessions: () => number
}

// What a client closes with is its own choice, and no label.
const KNOWN_CODES = new Set([
  1000, 1001, 1002, 1005, 1006, 1007, 1008, 1009, 4400, 4401, 4403, 4408, 4409, 4429,
])

export function createRecords({ logger, metrics, openSessions }: RecordsDeps): Records {
  const open = metrics.gauge({ name: 'vpn_sessions', help: 'Sessions that are open at this gateway.' })
  metrics.onScrape(() => open.set(openSessions()))
  const requests = metrics.counter({
    name: 'vpn_connections_total',
    help: 'Requests for a session, by outcome: opened, or the code of the refusal.',
    labels: ['outcome'],
  })
  const closes = metrics.counter({
    name: 'vpn_closes_total',
    help: 'Sessions that ended, by close code of the WebSocket.',
    labels: ['code'],
  })
  const frames = metrics.counter({
    name: 'vpn_frames_total',
    help: 'Frames of sessions, by direction and type; bad is one that could not be read.',
    labels: ['direction', 'type'],
  })
  return {
    opened(session) {
      requests.increment({ outcome: 'opened' })
      logger.info({ ...session }, 'session opened')
    },
    closed(session, { code, reason }, heldMs) {
      closes.increment({ code: KNOWN_CODES.has(code) ? String(code) : 'other' })
      logger.info({ ...session, code, reason, held_ms: Math.round(heldMs) }, 'session closed')
    },
    refused(refusal) {
      requests.increment({ outcome: refusal.code })
      logger.info(refusal, 'session refused')
    },
    frame: (direction, type) => frames.increment({ direction, type }),
  }
}
