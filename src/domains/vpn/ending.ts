import type { Clock } from '../../kernel/clock.ts'
import type { Store, Tx } from '../../store/store.ts'
import type { EventSink } from '../../ports/events.ts'
import { record } from './audit.ts'
import { releaseLease } from './leases.ts'
import { CLOSE, presentable, type AuditEntry } from './model.ts'
import { closeSession, liveOfRun, liveOfUser, type LiveSession } from './store.ts'

/** How a session is ended. */
export interface HowToEnd {
  /** The close code of the WebSocket. */
  readonly code: number
  /** For the close frame and the audit trail. */
  readonly reason: string
  /** Who did it, for the audit trail alone: the client is not told. */
  readonly actor?: string
  /** Whether its gateway knows already; if not, the gateway is told when it asks next. */
  readonly isTold: boolean
}

/** The one way in which sessions end: the row, the lease, the audit line and its event belong together. */
export interface Ending {
  /** Answers `false`, and changes nothing, when the session is over already. */
  end(tx: Tx, session: LiveSession, how: HowToEnd): Promise<boolean>
  /** Ends all live sessions of a user, whose tokens the caller's transaction ends. */
  endOf(tx: Tx, userId: string, reason: string): Promise<void>
  /**
   * Ends all live sessions of a gateway's run, in transactions of their own, each only as long as `stillDue` says so.
   * Answers how many it ended.
   */
  endRun(runId: string, how: HowToEnd, stillDue?: (tx: Tx) => Promise<boolean>): Promise<number>
}

export interface EndingDeps {
  readonly clock: Clock
  readonly events: EventSink<AuditEntry>
}

// Four statements for each session: a batch keeps the other writes waiting for some milliseconds.
const BATCH = 100

function createEnding({ clock, events }: EndingDeps): Pick<Ending, 'end' | 'endOf'> {
  const end: Ending['end'] = async (tx, session, { code, reason: given, actor, isTold }) => {
    const at = clock.now()
    const reason = presentable(given)
    if (!(await closeSession(tx, { id: session.id, code, reason }, at, isTold))) return false
    await releaseLease(tx, session.address, session.id, at)
    await record(tx, events, {
      at,
      event: 'session_closed',
      sessionId: session.id,
      userId: session.user_id,
      gateway: session.gateway,
      remoteAddress: session.remote_address,
      reason: actor === undefined ? reason : presentable(`${reason}: ${actor}`),
    })
    return true
  }
  return {
    end,
    async endOf(tx, userId, reason) {
      const how = { code: CLOSE.tokenEnded, reason, isTold: false }
      for (const session of await liveOfUser(tx, userId)) await end(tx, session, how)
    },
  }
}

/** The same, with what needs transactions of its own. */
export function createEndingOf(store: Store, deps: EndingDeps): Ending {
  const { end, endOf } = createEnding(deps)

  const endBatch = (runId: string, how: HowToEnd, stillDue: (tx: Tx) => Promise<boolean>) =>
    store.write(async (tx) => {
      if (!(await stillDue(tx))) return 0
      const batch = await liveOfRun(tx, runId, BATCH)
      for (const session of batch) await end(tx, session, how)
      return batch.length
    })

  return {
    end,
    endOf,
    async endRun(runId, how, stillDue = async () => true) {
      for (let ended = 0; ;) {
        const batch = await endBatch(runId, how, stillDue)
        ended += batch
        if (batch < BATCH) return ended
      }
    },
  }
}
