import { formatIpv4 } from '../../kernel/addresses.ts'
import type { EventSink } from '../../ports/events.ts'
import { END_REASONS } from '../../ports/session-registry.ts'
import type { ServiceDeps, Tx } from '../../store/store.ts'
import { appendAudit, auditCauseOf } from './audit.ts'
import { cleanPhrase, END_CODES, type AuditEntry, type Session } from './model.ts'
import { closeSession, listLiveOfRun, listLiveOfUser } from './store.ts'

/** Why and how sessions end. */
export interface Closing {
  /** The close code of the WebSocket. */
  readonly code: number
  /** For the close frame and the audit trail. */
  readonly reason: string
  /** Added to the reason in the audit trail only. */
  readonly actor?: string
  /** Where the end is decided: a gateway has to acknowledge the ends that are decided elsewhere. */
  readonly decidedBy: 'gateway' | 'elsewhere'
}

export function closingOf(
  code: keyof typeof END_CODES,
  reason: keyof typeof END_REASONS,
  decidedBy: Closing['decidedBy'],
): Closing {
  return { code: END_CODES[code], reason: END_REASONS[reason], decidedBy }
}

export interface SessionCloserDeps extends Pick<ServiceDeps, 'store' | 'clock'> {
  readonly events: EventSink<AuditEntry>
  readonly pool: {
    release(tx: Tx, address: number, sessionId: string, at: number): Promise<void>
  }
}

// Four statements for each session: a batch delays other writes for a few milliseconds.
const BATCH = 100

/** Closes sessions: always the session, its lease, the audit entry and the event together. */
export class SessionCloser {
  readonly #deps: SessionCloserDeps

  constructor(deps: SessionCloserDeps) {
    this.#deps = deps
  }

  /** `false`, and nothing changes, when the session is closed already. */
  async close(tx: Tx, session: Session, { code, reason, actor, decidedBy }: Closing): Promise<boolean> {
    const { clock, pool, events } = this.#deps
    const at = clock.now()
    const end = { id: session.id, code, reason: cleanPhrase(reason) }
    if (!(await closeSession(tx, end, at, decidedBy === 'elsewhere' ? 1 : null))) return false
    await pool.release(tx, session.address, session.id, at)
    await appendAudit(tx, events, {
      ...auditFields(session),
      at,
      event: 'session_closed',
      reason: cleanPhrase(actor === undefined ? reason : `${reason}: ${actor}`),
      cause: auditCauseOf(reason, actor === undefined ? {} : { actor }),
    })
    return true
  }

  /** Closes all live sessions of a user; returns how many. */
  async closeOfUser(tx: Tx, userId: string, closing: Closing): Promise<number> {
    let closed = 0
    for (const session of await listLiveOfUser(tx, userId))
      if (await this.close(tx, session, closing)) closed++
    return closed
  }

  /**
   * Closes all live sessions of a gateway's run, in batches; each batch only if `isDue` still holds in its transaction.
   * Returns how many it closed.
   */
  async closeOfRun(
    runId: string,
    closing: Closing,
    isDue: (tx: Tx) => Promise<boolean> = async () => true,
  ): Promise<number> {
    for (let closed = 0; ;) {
      const batch = await this.#closeBatch(runId, closing, isDue)
      closed += batch
      if (batch < BATCH) return closed
    }
  }

  #closeBatch(runId: string, closing: Closing, isDue: (tx: Tx) => Promise<boolean>): Promise<number> {
    return this.#deps.store.write(async (tx) => {
      if (!(await isDue(tx))) return 0
      const batch = await listLiveOfRun(tx, runId, BATCH)
      for (const session of batch) await this.close(tx, session, closing)
      return batch.length
    })
  }
}

/** The fields of a session in an audit entry. */
export function auditFields(session: Omit<Session, 'rttUs' | 'closedAt' | 'closeCode'>) {
  const { id: sessionId, userId, userName, device, address, gateway, remoteAddress } = session
  return { sessionId, userId, userName, device, virtualIp: formatIpv4(address), gateway, remoteAddress }
}
