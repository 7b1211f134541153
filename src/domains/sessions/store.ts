import { sql } from 'kysely'
import type { Page, PageRequest } from '../../kernel/page.ts'
import type { SessionEnd, SessionNews } from '../../ports/session-registry.ts'
import type { Reads, Tx } from '../../store/store.ts'
import type { Session, SessionState } from './model.ts'
import { sessions, changeRow, changeRows, pages, readRow, readRows } from './tables.ts'

const SESSION = sessions.except('seq', 'closeReason', 'untold', 'tokenId')

export type NewSession = Omit<Session, 'rttUs' | 'closedAt' | 'closeCode'> & {
  readonly tokenId: string | null
}

export const countLiveOfUser = readRow(
  (on, userId: string) =>
    on
      .selectFrom('vpn_sessions')
      .select((row) => row.fn.countAll<number>().as('sessions'))
      .where('user_id', '=', userId)
      .where('closed_at', 'is', null),
  ({ sessions: count }) => count,
)

export const countLive = readRow(
  (on) =>
    on
      .selectFrom('vpn_sessions')
      .select((row) => row.fn.countAll<number>().as('sessions'))
      .where('closed_at', 'is', null),
  ({ sessions: count }) => count,
)

/** Compare-and-set: `false`, and nothing changes, when the session is closed already. See the column `untold`. */
export const closeSession = changeRow((on, end: SessionEnd, closedAt: number, untold: number | null) =>
  on
    .updateTable('vpn_sessions')
    .set({ closed_at: closedAt, close_code: end.code, close_reason: end.reason, untold })
    .where('id', '=', end.id)
    .where('closed_at', 'is', null),
)

/** Records the token by which a live session is allowed. */
export const setSessionToken = changeRows((on, id: string, tokenId: string | null) =>
  on
    .updateTable('vpn_sessions')
    .set({ token_id: tokenId })
    .where('id', '=', id)
    .where('closed_at', 'is', null),
)

/** The ends of a run's sessions that were decided elsewhere and that its gateway has not acknowledged. */
export const listPendingEnds = readRows(
  (on, runId: string, limit: number) =>
    on
      .selectFrom('vpn_sessions')
      .select(['id', 'close_code as code', 'close_reason as reason'])
      .where('run_id', '=', runId)
      .where('untold', '=', sql.lit(1))
      .orderBy('seq')
      .limit(limit),
  ({ id, code, reason }): SessionEnd => ({ id, code: code ?? 0, reason: reason ?? '' }),
)

/** `false` when a concurrent transaction has opened a session of that device or on that address. */
export const insertSession = changeRow((on, session: NewSession) =>
  on
    .insertInto('vpn_sessions')
    .values(sessions.setExcept(session, 'rttUs', 'closedAt', 'closeCode', 'closeReason', 'untold'))
    .onConflict((conflict) => conflict.doNothing()),
)

/** A session, live or closed. */
export const findSession = readRow((on, id: string) =>
  on.selectFrom('vpn_sessions').select(SESSION).where('id', '=', id),
)

// In this and the following queries `is null` and the 1 are literal: a partial index is used only for a query that repeats
// its condition.
export const findLiveOfDevice = readRow((on, userId: string, device: string) =>
  on
    .selectFrom('vpn_sessions')
    .select(SESSION)
    .where('user_id', '=', userId)
    .where('device', '=', device)
    .where('closed_at', 'is', null),
)

export const listLiveOfUser = readRows((on, userId: string) =>
  on
    .selectFrom('vpn_sessions')
    .select(SESSION)
    .where('user_id', '=', userId)
    .where('closed_at', 'is', null)
    .orderBy('seq'),
)

export const listLiveOfToken = readRows((on, tokenId: string) =>
  on
    .selectFrom('vpn_sessions')
    .select(SESSION)
    .where('token_id', '=', tokenId)
    .where('closed_at', 'is', null)
    .orderBy('seq'),
)

/** The live sessions of a run, longest connected first. */
export const listLiveOfRun = readRows((on, runId: string, limit: number) =>
  on
    .selectFrom('vpn_sessions')
    .select(SESSION)
    .where('run_id', '=', runId)
    .where('closed_at', 'is', null)
    .orderBy('seq')
    .limit(limit),
)

/** Records signs of life in one statement; sessions that are closed stay as they are. */
export async function recordNews(tx: Tx, runId: string, news: readonly SessionNews[]): Promise<void> {
  if (news.length === 0) return
  const rows = news.map(({ id, lastSeenAt, rttMs }) => {
    const rttUs = rttMs === null ? null : Math.round(rttMs * 1_000)
    // The types are those of the first row: without them PostgreSQL takes a parameter for text.
    return sql`(${id}, cast(${Math.round(lastSeenAt)} as bigint), cast(${rttUs} as bigint))`
  })
  await sql`
    with news (id, at, rtt) as (values ${sql.join(rows)})
    update vpn_sessions set last_seen_at = news.at, rtt_us = news.rtt from news
    where vpn_sessions.id = news.id and run_id = ${runId} and closed_at is null`.execute(tx.db)
}

export const acknowledgeEnd = changeRows((on, runId: string, id: string) =>
  on.updateTable('vpn_sessions').set({ untold: null }).where('id', '=', id).where('run_id', '=', runId),
)

export interface SessionFilter {
  readonly state?: SessionState
  /** A user's id. */
  readonly user?: string
  /** A gateway's name. */
  readonly gateway?: string
}

const pageOfSessions = pages(
  { table: 'vpn_sessions', createdAt: 'connected_at', literals: ['state'] },
  (on) => on.selectFrom('vpn_sessions').select([...SESSION, 'seq']),
  {
    state: (query, state: SessionState) =>
      query.where('closed_at', state === 'closed' ? 'is not' : 'is', null),
    user: (query, user: string) => query.where('user_id', '=', user),
    gateway: (query, gateway: string) => query.where('gateway', '=', gateway),
  },
)

/** Live sessions, or closed ones; newest first. A time range is one of `connectedAt`. */
export function listSessions(
  reads: Reads,
  { state = 'open', user, gateway }: SessionFilter,
  page: PageRequest,
): Promise<Page<Session>> {
  return pageOfSessions(reads, { state, user, gateway }, page)
}

/**
 * Deletes a batch of sessions that were closed before that time; returns how many. The newest session stays: the next
 * one is numbered after it.
 */
export const deleteClosed = changeRows((on, before: number, limit: number) =>
  on.deleteFrom('vpn_sessions').where('seq', 'in', (subquery) =>
    subquery
      .selectFrom('vpn_sessions')
      .select('seq')
      .where('closed_at', '<', before)
      .where('seq', '<', (newest) =>
        newest.selectFrom('vpn_sessions').select((row) => row.fn.max<number>('seq').as('seq')),
      )
      .orderBy('closed_at')
      .limit(limit),
  ),
)
