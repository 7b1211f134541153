import { requireFound } from '../../kernel/errors.ts'
import type { Page, PageRequest } from '../../kernel/page.ts'
import { DAY } from '../../kernel/time.ts'
import type { ServiceDeps, Tx } from '../../store/store.ts'
import { deleteAudit, listAudit, type AuditFilter } from './audit.ts'
import { closingOf, SessionCloser } from './closing.ts'
import { deleteRuns, listGateways, listWatched, lockSilent, markLeft } from './gateways.ts'
import { END_CODES, type AuditEntry, type Session, type Tunnels } from './model.ts'
import type { RegistryDeps } from './registrations.ts'
import { StoreSessionRegistry, type RegistryGateway } from './registry.ts'
import { SilenceWatch, type WatchedRun } from './silence.ts'
import {
  countLive,
  deleteClosed,
  findSession,
  listLiveOfToken,
  listSessions,
  type SessionFilter,
} from './store.ts'

/** What sessions need of the rest of the platform. */
export type SessionDeps = RegistryDeps

const MAX_TUNNELS = 2_000
const BY_OPERATOR = closingOf('byOperator', 'by_operator', 'elsewhere')

/** The sessions of all gateways. */
export class Sessions {
  readonly #deps: SessionDeps
  readonly #closer: SessionCloser
  readonly #deadGateways: DeadGateways

  constructor(deps: SessionDeps) {
    this.#deps = deps
    this.#closer = new SessionCloser(deps)
    this.#deadGateways = new DeadGateways({ ...deps, closer: this.#closer })
  }

  /** The registry of a new run of a gateway. */
  registryOf(gateway: RegistryGateway): StoreSessionRegistry {
    return new StoreSessionRegistry(this.#deps, this.#closer, gateway)
  }

  /** Live sessions, unless the filter asks for closed ones; newest first. */
  list(filter: SessionFilter, page: PageRequest): Promise<Page<Session>> {
    return listSessions(this.#deps.store.read, filter, page)
  }

  /**
   * Closes a session with 4403; its gateway closes the connection within a second. A session that is closed already
   * stays as it is. Rejects with `session_not_found`.
   */
  async disconnect(tx: Tx, id: string, actor: string): Promise<void> {
    const session = requireFound(await findSession(tx, id), 'session', id)
    if (!(await this.#closer.close(tx, session, { ...BY_OPERATOR, actor }))) return
    tx.afterCommit(() =>
      this.#deps.logger.info({ session_id: id, actor }, 'an operator disconnected a session'),
    )
  }

  /** Closes all live sessions of a user with 4401, in the transaction that revokes the user's tokens. */
  async endOf(tx: Tx, userId: string, reason: string): Promise<void> {
    const closing = { code: END_CODES.tokenEnded, reason, decidedBy: 'elsewhere' } as const
    await this.#closer.closeOfUser(tx, userId, closing)
  }

  /** Closes all live sessions of an API token with 4401, in the transaction that revokes it. */
  async endOfToken(tx: Tx, tokenId: string, reason: string): Promise<void> {
    const closing = { code: END_CODES.tokenEnded, reason, decidedBy: 'elsewhere' } as const
    for (const session of await listLiveOfToken(tx, tokenId)) await this.#closer.close(tx, session, closing)
  }

  /** Closes all live sessions of a user with 4403; returns how many. */
  async disconnectUser(userId: string, actor: string): Promise<number> {
    const { store, logger } = this.#deps
    const sessions = await store.write((tx) =>
      this.#closer.closeOfUser(tx, userId, { ...BY_OPERATOR, actor }),
    )
    logger.info({ user_id: userId, sessions, actor }, 'an operator disconnected a user')
    return sessions
  }

  /** Newest first. */
  audit(filter: AuditFilter, page: PageRequest): Promise<Page<AuditEntry>> {
    return listAudit(this.#deps.store.read, filter, page)
  }

  /** The gateways of the last day, and the newest 2,000 live sessions. */
  async tunnels(): Promise<Tunnels> {
    const { store, clock } = this.#deps
    const at = clock.now()
    const { items } = await listSessions(store.read, {}, { limit: MAX_TUNNELS })
    const gateways = await listGateways(store.read, at - DAY)
    return { at, gateways, sessions: items, total: await this.countLive() }
  }

  /** How many sessions are live. */
  async countLive(): Promise<number> {
    return (await countLive(this.#deps.store.read)) ?? 0
  }

  /** Closes the sessions of dead gateways; returns how many. */
  reclaim(): Promise<number> {
    return this.#deadGateways.reclaim()
  }

  /**
   * Deletes at most `limit` closed sessions and as many audit entries from before that time. Returns whether there may
   * be more.
   */
  prune(before: number, limit: number): Promise<boolean> {
    return this.#deps.store.write(async (tx) => {
      await deleteRuns(tx, before)
      const sessions = await deleteClosed(tx, before, limit)
      const entries = await deleteAudit(tx, before, limit)
      return sessions === limit || entries === limit
    })
  }
}

interface DeadGatewaysDeps extends Pick<ServiceDeps, 'store' | 'clock' | 'logger'> {
  readonly closer: SessionCloser
}

const PRESUMED_DEAD = closingOf('goingAway', 'gateway_silent', 'elsewhere')

/** Watches the gateways of all processes, and closes the sessions of dead gateways. */
class DeadGateways {
  readonly #deps: DeadGatewaysDeps
  readonly #watch: SilenceWatch

  constructor(deps: DeadGatewaysDeps) {
    this.#deps = deps
    this.#watch = new SilenceWatch(deps.clock)
  }

  /** Closes the sessions of gateways that were silent for three of their intervals; returns how many. */
  async reclaim(): Promise<number> {
    let total = 0
    for (const run of this.#watch.findSilent(await listWatched(this.#deps.store.read)))
      total += await this.#reclaimOf(run)
    return total
  }

  async #reclaimOf(run: WatchedRun): Promise<number> {
    const { store, clock, logger, closer } = this.#deps
    const closed = await closer.closeOfRun(run.runId, PRESUMED_DEAD, (tx) => lockSilent(tx, run))
    await store.write(async (tx) => {
      if (await lockSilent(tx, run)) await markLeft(tx, run.runId, clock.now())
    })
    if (closed > 0)
      logger.warn({ gateway: run.name, sessions: closed }, 'closed the sessions of a dead gateway')
    return closed
  }
}
