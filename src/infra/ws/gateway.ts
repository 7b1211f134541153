import { WebSocketServer } from 'ws'
import type { Metrics } from '../../kernel/metrics.ts'
import type { UpgradeOptions, UpgradeRequest } from '../http/upgrades.ts'
import { createAdmission, stopping, type AdmissionDeps, type Admitted } from './admission.ts'
import { CLOSE } from './close-codes.ts'
import { SESSION_PATH, SUBPROTOCOL } from './handshake.ts'
import { createRecords } from './records.ts'
import type { SessionRegistry } from '../../ports/session-registry.ts'
import { CLOSE_PATIENCE_MS, createSessionBook, type SessionBookDeps } from './session-book.ts'

export interface GatewayOptions
  extends
    Omit<AdmissionDeps, 'registry' | 'records' | 'isStopping'>,
    Omit<SessionBookDeps, 'registry' | 'records'> {
  readonly registry: SessionRegistry
  readonly metrics: Metrics
}

/** Holds sessions with clients over WebSocket (contract, section 5). */
export interface Gateway {
  /** What the HTTP server has to hand over. */
  readonly upgrades: UpgradeOptions
  /** Joins the other gateways. Comes before the first connection. */
  start(): Promise<void>
  /** Takes no more sessions, ends the open ones with 1001, and leaves the other gateways; may be called twice. */
  close(): Promise<void>
}

// contract, section 5
const FRAME_LIMIT_BYTES = 64 * 1_024

const WEB_SOCKET = {
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  // A pong goes out as any other frame does, so that who does not read them is noticed.
  autoPong: false,
  maxPayload: FRAME_LIMIT_BYTES,
  closeTimeout: CLOSE_PATIENCE_MS,
  handleProtocols: (offered: ReadonlySet<string>) => (offered.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
}

export function createGateway(options: GatewayOptions): Gateway {
  const { registry, logger, metrics, readOnly } = options
  const webSockets = new WebSocketServer(WEB_SOCKET)
  const opening = new Set<Promise<void>>()
  const records = createRecords({ logger, metrics, openSessions: () => book.size })
  const book = createSessionBook({ ...options, records })
  const admission = createAdmission({ ...options, records, isStopping: () => stopped !== undefined })
  let stopped: Promise<void> | undefined

  const open = async (upgrade: UpgradeRequest): Promise<void> => {
    const admitted = await admission.admit(upgrade)
    if (!admitted) return
    if (!stopped) return connect(upgrade, admitted)
    book.abandon({ id: admitted.registered.id, code: CLOSE.goingAway, reason: 'the gateway is stopping' })
    admission.refuse(upgrade, stopping())
  }

  const connect = ({ request, requestId, socket, head }: UpgradeRequest, admitted: Admitted) => {
    let isConnected = false
    request.headers['x-request-id'] = requestId
    webSockets.handleUpgrade(request, socket, head, (connection) => {
      isConnected = true
      book.add(connection, admitted)
    })
    // Nothing is called back when the client has gone meanwhile.
    if (!isConnected) {
      book.abandon({ id: admitted.registered.id, code: CLOSE.lost, reason: 'the connection was lost' })
    }
  }

  const stop = async () => {
    // A session that was registered meanwhile is ended by leaving.
    await Promise.all([...opening, book.close()])
    await registry.leave().catch((error: unknown) => {
      logger.warn({ error }, 'left without saying so; addresses come back after three intervals')
    })
  }

  return {
    upgrades: {
      path: SESSION_PATH,
      take(upgrade) {
        const opened = open(upgrade)
        opening.add(opened)
        void opened.finally(() => opening.delete(opened))
      },
    },
    async start() {
      webSockets.on('headers', (lines, { headers }) => {
        lines.push(`X-Request-Id: ${String(headers['x-request-id'])}`)
      })
      if (readOnly) return
      await registry.join()
      book.start()
    },
    close() {
      stopped ??= readOnly ? Promise.resolve() : stop()
      return stopped
    },
  }
}
