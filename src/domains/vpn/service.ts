import type { Clock } from '../../kernel/clock.ts'
import { notFound } from '../../kernel/errors.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Page, PageRequest } from '../../kernel/page.ts'
import { DAY } from '../../kernel/time.ts'
import type { Store, Tx } from '../../store/store.ts'
import { parsePool } from './addresses.ts'
import type { PlatformAlerts } from '../../ports/alerts.ts'
import type { EventSink } from '../../ports/events.ts'
import { deleteAudit, listAudit, type AuditFilter } from './audit.ts'
import { createEndingOf } from './ending.ts'
import { deleteRuns, listGateways } from './gateways.ts'
import { readUsage } from './leases.ts'
import { CLOSE, type AuditEntry, type PoolUsage, type Session, type Tunnels } from './model.ts'
import {
  countSessions,
  deleteClosed,
  findSession,
  listSessions,
  liveOfId,
  type SessionFilter,
} from './store.ts'
import { createUpkeep, type Upkeep } from './upkeep.ts'

/** What looking after the sessions of all gateways needs of the rest of the platform. */
export interface VpnDeps {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  /** The pool as a CIDR: `100.64.0.0/16`. */
  readonly pool: string
  /** How long a released address is kept from others, in milliseconds. */
  readonly coolDownMs: number
  readonly events: EventSink<AuditEntry>
  readonly alerts: PlatformAlerts
}

/** The sessions of all gateways, as operators see them. */
export interface Vpn extends Upkeep {
  /** Live ones, unless those that are over are asked for; newest first. */
  list(filter: SessionFilter, page: PageRequest): Promise<Page<Session>>
  /**
   * Ends a session with 4403; its gateway cuts the connection within a second. One that is over stays as it is.
   * Rejects with `session_not_found`.
   */
  disconnect(tx: Tx, id: string, actor: string): Promise<void>
  /** Ends all live sessions of a user with 4401, in the transaction that ends the user's tokens. */
  endOf(tx: Tx, userId: string, reason: string): Promise<void>
  pool(): Promise<PoolUsage>
  /** Newest first. */
  audit(filter: AuditFilter, page: PageRequest): Promise<Page<AuditEntry>>
  /** What there is to draw: the gateways of the last day, and at most 2,000 live sessions, the newest ones. */
  tunnels(): Promise<Tunnels>
  /**
   * Removes a batch of at most `limit` closed sessions, and one of audit lines, from before that time. Answers whether
   * there may be more.
   */
  prune(before: number, limit: number): Promise<boolean>
}

const TUNNELS_SHOWN = 2_000
const NEWEST = Number.MAX_SAFE_INTEGER

export function createVpnService(deps: VpnDeps): Vpn {
  const { store, clock, logger } = deps
  const pool = parsePool(deps.pool)
  const ending = createEndingOf(store, deps)
  const usage = () => readUsage(store.read, pool, { now: clock.now(), ms: deps.coolDownMs })

  const disconnectIn = async (tx: Tx, id: string, actor: string) => {
    const live = await liveOfId(tx, id)
    if (!live) return
    const how = { code: CLOSE.byOperator, reason: 'disconnected by an operator', actor, isTold: false }
    if (await ending.end(tx, live, how))
      tx.afterCommit(() => logger.info({ session_id: id, actor }, 'an operator ended a session'))
  }

  return {
    ...createUpkeep({ ...deps, pool, ending }),

    list: (filter, page) => listSessions(store.read, filter, page),

    async disconnect(tx, id, actor) {
      if (!(await findSession(tx, id))) throw notFound('session', id)
      await disconnectIn(tx, id, actor)
    },

    endOf: ending.endOf,

    pool: usage,

    audit: (filter, page) => listAudit(store.read, filter, page),

    async tunnels() {
      const { items } = await listSessions(store.read, {}, { limit: TUNNELS_SHOWN, before: NEWEST })
      return {
        at: clock.now(),
        gateways: await listGateways(store.read, clock.now() - DAY),
        sessions: items,
        total: await countSessions(store.read),
        pool: await usage(),
      }
    },

    prune: (before, limit) =>
      store.write(async (tx) => {
        await deleteRuns(tx, before)
        const [sessions, lines] = [
          await deleteClosed(tx, before, limit),
          await deleteAudit(tx, before, limit),
        ]
        return sessions === limit || lines === limit
      }),
  }
}
