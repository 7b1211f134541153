import { sql } from 'kysely'
import type { Page, PageRequest } from '../../kernel/page.ts'
import type { SessionEnd, SessionNews } from '../../ports/session-registry.ts'
import { first, type Queries, type Tx } from '../../store/store.ts'
import type { Session, SessionState } from './model.ts'
import { db, pages, sessions, statement } from './tables.ts'

const SESSION = sessions.except('seq', 'closeReason', 'untold', 'tokenId')

export type NewSession = Omit<Session, 'rttUs' | 'closedAt' | 'closeCode'> & {
  readonly tokenId: string | null
}

const insert = statement<NewSession>((on, value) =>
  on
    .insertInto('vpn_sessions')
    .values(
      sessions.set(
        value,
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

const find = statement<{ id: string }, Session>((on, value) =>
  on.selectFrom('vpn_sessions').select(SESSION).where('id', '=', value('id')),
)

// In this and the following queries `is null` and the 1 are literal: a partial index is used only for a query that repeats
// its condition.
const liveOfDevice = statement<{ userId: string; device: string }, Session>((on, value) =>
  on
    .selectFrom('vpn_sessions')
    .select(SESSION)
    .where('user_id', '=', value('userId'))
    .where('device', '=', value('device'))
    .where('closed_at', 'is', null),
)

const liveOfUser = statement<{ userId: string }, Session>((on, value) =>
  on
    .selectFrom('vpn_sessions')
    .select(SESSION)
    .where('user_id', '=', value('userId'))
    .where('closed_at', 'is', null)
    .orderBy('seq'),
)

const liveOfToken = statement<{ tokenId: string }, Session>((on, value) =>
  on
    .selectFrom('vpn_sessions')
    .select(SESSION)
    .where('token_id', '=', value('tokenId'))
    .where('closed_at', 'is', null)
    .orderBy('seq'),
)

const countOfUser = statement<{ userId: string }, { sessions: number }>((on, value) =>
  on
    .selectFrom('vpn_sessions')
    .select((row) => row.fn.countAll<number>().as('sessions'))
    .where('user_id', '=', value('userId'))
    .where('closed_at', 'is', null),
)

const liveOfRun = statement<{ runId: string; limit: number }, Session>((on, value) =>
  on
    .selectFrom('vpn_sessions')
    .select(SESSION)
    .where('run_id', '=', value('runId'))
    .where('closed_at', 'is', null)
    .orderBy('seq')
    .limit(value('limit')),
)

const close = statement<{
  id: string
  closedAt: number
  closeCode: number
  closeReason: string
  untold: number | null
}>((on, value) =>
  on
    .updateTable('vpn_sessions')
    .set(sessions.set(value, 'closedAt', 'closeCode', 'closeReason', 'untold'))
    .where('id', '=', value('id'))
    .where('closed_at', 'is', null),
)

const setToken = statement<{ id: string; tokenId: string | null }>((on, value) =>
  on
    .updateTable('vpn_sessions')
    .set(sessions.set(value, 'tokenId'))
    .where('id', '=', value('id'))
    .where('closed_at', 'is', null),
)

const pendingEnds = statement<
  { runId: string; limit: number },
  { id: string; code: number | null; reason: string | null }
>((on, value) =>
  on
    .selectFrom('vpn_sessions')
    .select(['id', 'close_code as code', 'close_reason as reason'])
    .where('run_id', '=', value('runId'))
    .where('untold', '=', sql.lit(1))
    .orderBy('seq')
    .limit(value('limit')),
)

const acknowledge = statement<{ id: string; runId: string }>((on, value) =>
  on
    .updateTable('vpn_sessions')
    .set({ untold: null })
    .where('id', '=', value('id'))
    .where('run_id', '=', value('runId')),
)

const countLive = statement<object, { sessions: number }>((on) =>
  on
    .selectFrom('vpn_sessions')
    .select((row) => row.fn.countAll<number>().as('sessions'))
    .where('closed_at', 'is', null),
)

/** `false` when a concurrent transaction has opened a session of that device or on that address. */
export async function insertSession(tx: Tx, session: NewSession): Promise<boolean> {
  return (await tx.change(insert, session)) === 1
}

/** The token that a live session goes by. */
export async function setSessionToken(tx: Tx, id: string, tokenId: string | null): Promise<void> {
  await tx.change(setToken, { id, tokenId })
}

/** A session, live or closed. */
export function findSession(queries: Queries, id: string): Promise<Session | undefined> {
  return first(queries, find, { id })
}

export function findLiveOfDevice(
  queries: Queries,
  userId: string,
  device: string,
): Promise<Session | undefined> {
  return first(queries, liveOfDevice, { userId, device })
}

export function listLiveOfUser(queries: Queries, userId: string): Promise<Session[]> {
  return queries.run(liveOfUser, { userId })
}

export function listLiveOfToken(queries: Queries, tokenId: string): Promise<Session[]> {
  return queries.run(liveOfToken, { tokenId })
}

export async function countLiveOfUser(queries: Queries, userId: string): Promise<number> {
  return (await first(queries, countOfUser, { userId }))?.sessions ?? 0
}

/** The live sessions of a run, longest connected first. */
export function listLiveOfRun(queries: Queries, runId: string, limit: number): Promise<Session[]> {
  return queries.run(liveOfRun, { runId, limit })
}

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
  return (await tx.change(close, { id, closedAt, closeCode, closeReason, untold })) === 1
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
  const rows = await queries.run(pendingEnds, { runId, limit })
  return rows.map(({ id, code, reason }) => ({ id, code: code ?? 0, reason: reason ?? '' }))
}

export async function acknowledgeEnd(tx: Tx, runId: string, id: string): Promise<void> {
  await tx.change(acknowledge, { id, runId })
}

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
  return (await first(queries, countLive, {}))?.sessions ?? 0
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
