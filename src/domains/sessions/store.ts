import { sql } from 'kysely'
import type { Page, PageRequest } from '../../kernel/page.ts'
import type { SessionEnd, SessionNews } from '../../ports/session-registry.ts'
import type { Queries, Tx } from '../../store/store.ts'
import type { Session, SessionState } from './model.ts'
import { db, pages, sessions, readRow, readRows, changeRow, changeRows } from './tables.ts'

const SESSION = sessions.except('seq', 'closeReason', 'untold', 'tokenId')

export type NewSession = Omit<Session, 'rttUs' | 'closedAt' | 'closeCode'> & {
  readonly tokenId: string | null
}

const countOfUser = readRow((on, userId: string) =>
  on
    .selectFrom('vpn_sessions')
    .select((row) => row.fn.countAll<number>().as('sessions'))
    .where('user_id', '=', userId)
    .where('closed_at', 'is', null),
)

const close = changeRow(
  (
    on,
    change: {
      id: string
      closedAt: number
      closeCode: number
      closeReason: string
      untold: number | null
    },
  ) =>
    on
      .updateTable('vpn_sessions')
      .set(sessions.set(change, 'closedAt', 'closeCode', 'closeReason', 'untold'))
      .where('id', '=', change.id)
      .where('closed_at', 'is', null),
)

const setToken = changeRows((on, change: { id: string; tokenId: string | null }) =>
  on
    .updateTable('vpn_sessions')
    .set(sessions.set(change, 'tokenId'))
    .where('id', '=', change.id)
    .where('closed_at', 'is', null),
)

const pendingEnds = readRows((on, runId: string, limit: number) =>
  on
    .selectFrom('vpn_sessions')
    .select(['id', 'close_code as code', 'close_reason as reason'])
    .where('run_id', '=', runId)
    .where('untold', '=', sql.lit(1))
    .orderBy('seq')
    .limit(limit),
)

const countLive = readRow((on) =>
  on
    .selectFrom('vpn_sessions')
    .select((row) => row.fn.countAll<number>().as('sessions'))
    .where('closed_at', 'is', null),
)

/** `false` when a concurrent transaction has opened a session of that device or on that address. */
export const insertSession = changeRow((on, session: NewSession) =>
  on
    .insertInto('vpn_sessions')
    .values(
      sessions.set(
        session,
        'tokenId',
        'id',
        'userId',
        'userName',
        'device',
        'address',
        'gateway',
        'runId',
        'remoteAddress',
        'connectedAt',
        'lastSeenAt',
      ),
    )
    .onConflict((conflict) => conflict.doNothing()),
)

/** The token that a live session goes by. */
export async function setSessionToken(tx: Tx, id: string, tokenId: string | null): Promise<void> {
  await setToken(tx, { id, tokenId })
}

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

export async function countLiveOfUser(queries: Queries, userId: string): Promise<number> {
  return (await countOfUser(queries, userId))?.sessions ?? 0
}

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

/**
 * Compare-and-set: `false`, and nothing changes, when the session is closed already. With `isPending` its gateway has
 * to acknowledge the end.
 */
export async function closeSession(
  tx: Tx,
  { id, code: closeCode, reason: closeReason }: SessionEnd,
  closedAt: number,
  isPending: boolean,
): Promise<boolean> {
  const untold = isPending ? 1 : null
  return await close(tx, { id, closedAt, closeCode, closeReason, untold })
}

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

/** The ends of a run's sessions that were decided elsewhere and that its gateway has not acknowledged. */
export async function listPendingEnds(queries: Queries, runId: string, limit: number): Promise<SessionEnd[]> {
  const rows = await pendingEnds(queries, runId, limit)
  return rows.map(({ id, code, reason }) => ({ id, code: code ?? 0, reason: reason ?? '' }))
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
  queries: Queries,
  { state = 'open', user, gateway }: SessionFilter,
  page: PageRequest,
): Promise<Page<Session>> {
  return pageOfSessions(queries, { state, user, gateway }, page)
}

export async function countSessions(queries: Queries): Promise<number> {
  return (await countLive(queries))?.sessions ?? 0
}

/**
 * Deletes a batch of sessions that were closed before that time; returns how many. The newest session stays: the next
 * one is numbered after it.
 */
export async function deleteClosed(tx: Tx, before: number, limit: number): Promise<number> {
  const { numDeletedRows } = await db(tx)
    .deleteFrom('vpn_sessions')
    .where('seq', 'in', (of) =>
      of
        .selectFrom('vpn_sessions')
        .select('seq')
        .where('closed_at', '<', before)
        .where('seq', '<', (newest) =>
          newest.selectFrom('vpn_sessions').select((row) => row.fn.max<number>('seq').as('seq')),
        )
        .orderBy('closed_at')
        .limit(limit),
    )
    .executeTakeFirst()
  return Number(numDeletedRows)
}
