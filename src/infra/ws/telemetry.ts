import type { Logger } from '../../kernel/logger.ts'
import type { Counter, Metrics } from '../../kernel/metrics.ts'
import type { SessionEnd } from '../../ports/session-registry.ts'

/** What every log line about a session contains. */
export interface SessionFields {
  readonly session_id: string
  readonly user_id: string
  readonly device: string | null
  readonly virtual_ip: string
  readonly remote_address: string
  readonly request_id: string
}

export interface RefusedConnection {
  readonly code: string
  readonly reason: string
  readonly remote_address: string
  readonly request_id: string
}

export interface GatewayTelemetryDeps {
  readonly logger: Logger
  readonly metrics: Metrics
  readonly countSessions: () => number
  /** Held for clients that have not read them yet. */
  readonly countOutgoingBytes: () => number
}

// The client chooses the code that it closes with; an unbounded value must not become a label.
const KNOWN_CODES = new Set([
  1000, 1001, 1002, 1005, 1006, 1007, 1008, 1009, 4400, 4401, 4403, 4408, 4409, 4429,
])

/** The log line and the metrics of each event of a session, written together. */
export class SessionTelemetry {
  readonly #logger: Logger
  readonly #connections: Counter
  readonly #closes: Counter
  readonly #frames: Counter

  constructor({ logger, metrics, countSessions, countOutgoingBytes }: GatewayTelemetryDeps) {
    this.#logger = logger
    const open = metrics.gauge({ name: 'vpn_sessions', help: 'Sessions that are open at this gateway.' })
    const outgoing = metrics.gauge({
      name: 'vpn_outgoing_bytes',
      help: 'Bytes held for clients that have not read them yet, over all sessions.',
    })
    metrics.onScrape(() => {
      open.set(countSessions())
      outgoing.set(countOutgoingBytes())
    })
    this.#connections = metrics.counter({
      name: 'vpn_connections_total',
      help: 'Requests for a session, by outcome: opened, or the code of the refusal.',
      labels: ['outcome'],
    })
    this.#closes = metrics.counter({
      name: 'vpn_closes_total',
      help: 'Sessions that ended, by close code of the WebSocket.',
      labels: ['code'],
    })
    this.#frames = metrics.counter({
      name: 'vpn_frames_total',
      help: 'Frames of sessions, by direction and type; bad is one that could not be read.',
      labels: ['direction', 'type'],
    })
  }

  recordOpening(session: SessionFields): void {
    this.#connections.increment({ outcome: 'opened' })
    this.#logger.info({ ...session }, 'session opened')
  }

  recordEnd(session: SessionFields, { code, reason }: SessionEnd, durationMs: number): void {
    this.#closes.increment({ code: KNOWN_CODES.has(code) ? String(code) : 'other' })
    this.#logger.info({ ...session, code, reason, held_ms: Math.round(durationMs) }, 'session closed')
  }

  recordRefusal(connection: RefusedConnection): void {
    this.#connections.increment({ outcome: connection.code })
    this.#logger.info({ ...connection }, 'session refused')
  }

  /** A frame of that type came in or went out. */
  countFrame(direction: 'in' | 'out', type: string): void {
    this.#frames.increment({ direction, type })
  }
}
