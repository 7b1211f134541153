import { sql, type Selectable } from 'kysely'
import { mapPage, pageOf, type Page, type PageRequest } from '../../kernel/page.ts'
import type { SessionEnd, SessionNews } from '../../ports/session-registry.ts'
import { first, type Queries, type Tx } from '../../store/store.ts'
import { formatAddress } from './addresses.ts'
import type { Session, SessionState } from './model.ts'
import { dbOf, statement, type VpnSessionsTable } from './tables.ts'

type Row = Selectable<VpnSessionsTable>

/** What the end of a session needs to know of it. */
export type LiveSession = Pick<
  Row,
  'id' | 'user_id' | 'device' | 'address' | 'gateway' | 'remote_address' | 'run_id'
>

const LIVE_COLUMNS = ['id', 'user_id', 'device', 'address', 'gateway', 'remote_address', 'run_id'] as const

export type NewSession = LiveSession & Pick<Row, 'user_name' | 'connected_at'>

const insert = statement<NewSession>((db, value) =>
  db
    .insertInto('vpn_sessions')
    .values({
      id: value('id'),
      user_id: value('user_id'),
      user_name: value('user_name'),
      device: value('device'),
      address: value('address'),
      gateway: value('gateway'),
      run_id: value('run_id'),
      remote_address: value('remote_address'),
      connected_at: value('connected_at'),
      last_seen_at: value('connected_at'),
      rtt_us: null,
      closed_at: null,
      close_code: null,
      close_reason: null,
      untold: null,
    })
    .onConflict((conflict) => conflict.doNothing()),
)

const find = statement<{ id: string }, Row>((db, value) =>
  db.selectFrom('vpn_sessions').selectAll().where('id', '=', value('id')),
)

// In this and the following queries `is null` and the 1 are written out: a partial index covers only a query that
// repeats its condition.
const ofDevice = statement<{ user_id: string; device: string }, LiveSession>((db, value) =>
  db
    .selectFrom('vpn_sessions')
    .select(LIVE_COLUMNS)
    .where('user_id', '=', value('user_id'))
    .where('device', '=', value('device'))
    .where('closed_at', 'is', null),
)

const ofUser = statement<{ user_id: string }, LiveSession>((db, value) =>
  db
    .selectFrom('vpn_sessions')
    .select(LIVE_COLUMNS)
    .where('user_id', '=', value('user_id'))
    .where('closed_at', 'is', null)
    .orderBy('seq'),
)

const ofRun = statement<{ run_id: string; limit: number }, LiveSession>((db, value) =>
  db
    .selectFrom('vpn_sessions')
    .select(LIVE_COLUMNS)
    .where('run_id', '=', value('run_id'))
    .where('closed_at', 'is', null)
    .orderBy('seq')
    .limit(value('limit')),
)

const ofId = statement<{ id: string }, LiveSession>((db, value) =>
  db
    .selectFrom('vpn_sessions')
    .select(LIVE_COLUMNS)
    .where('id', '=', value('id'))
    .where('closed_at', 'is', null),
)

const close = statement<{ id: string; at: number; code: number; reason: string; untold: number | null }>(
  (db, value) =>
    db
      .updateTable('vpn_sessions')
      .set({
        closed_at: value('at'),
        close_code: value('code'),
        close_reason: value('reason'),
        untold: value('untold'),
      })
      .where('id', '=', value('id'))
      .where('closed_at', 'is', null),
)

type EndedRow = Pick<Row, 'id' | 'close_code' | 'close_reason'>

const untold = statement<{ run_id: string; limit: number }, EndedRow>((db, value) =>
  db
    .selectFrom('vpn_sessions')
    .select(['id', 'close_code', 'close_reason'])
    .where('run_id', '=', value('run_id'))
    .where('untold', '=', sql.lit(1))
    .orderBy('seq')
    .limit(value('limit')),
)

const tell = statement<{ id: string; run_id: string }>((db, value) =>
  db
    .updateTable('vpn_sessions')
    .set({ untold: null })
    .where('id', '=', value('id'))
    .where('run_id', '=', value('run_id')),
)

const countOpen = statement<object, { sessions: number }>((db) =>
  db
    .selectFrom('vpn_sessions')
    .select((row) => row.fn.countAll<number>().as('sessions'))
    .where('closed_at', 'is', null),
)

/** Answers `false` when a twin of this transaction has opened a session of that device or on that address. */
export async function insertSession(tx: Tx, session: NewSession): Promise<boolean> {
  return (await tx.change(insert, session)) === 1
}

export async function findSession(queries: Queries, id: string): Promise<Session | undefined> {
  const row = await first(queries, find, { id })
  return row && fromRow(row)
}

/** The live session of a user's device. */
export function liveOfDevice(
  queries: Queries,
  userId: string,
  device: string,
): Promise<LiveSession | undefined> {
  return first(queries, ofDevice, { user_id: userId, device })
}

export function liveOfUser(queries: Queries, userId: string): Promise<LiveSession[]> {
  return queries.run(ofUser, { user_id: userId })
}

/** The longest connected sessions of a gateway's run. */
export function liveOfRun(queries: Queries, runId: string, limit: number): Promise<LiveSession[]> {
  return queries.run(ofRun, { run_id: runId, limit })
}

export function liveOfId(queries: Queries, id: string): Promise<LiveSession | undefined> {
  return first(queries, ofId, { id })
}

/** Compare-and-set: answers `false`, and changes nothing, when the session is over already. */
export async function closeSession(tx: Tx, end: SessionEnd, at: number, isTold: boolean): Promise<boolean> {
  const { id, code, reason } = end
  return (await tx.change(close, { id, at, code, reason, untold: isTold ? null : 1 })) === 1
}

/** Notes signs of life in one statement, for there are many; those of sessions that are over are left out. */
export async function hearSessions(queries: Tx, runId: string, news: readonly SessionNews[]): Promise<void> {
  if (news.length === 0) return
  const rows = news.map(({ id, lastSeenAt, rttMs }) => {
    const rttUs = rttMs === null ? null : Math.round(rttMs * 1_000)
    // The types are those of the first row: without them PostgreSQL takes a parameter for text.
    return sql`(${id}, cast(${Math.round(lastSeenAt)} as bigint), cast(${rttUs} as bigint))`
  })
  await sql`
    with heard (id, at, rtt) as (values ${sql.join(rows)})
    update vpn_sessions set last_seen_at = heard.at, rtt_us = heard.rtt from heard
    where vpn_sessions.id = heard.id and run_id = ${runId} and closed_at is null`.execute(queries.db)
}

/** The sessions of a run that somebody else has ended, and that its gateway has not acknowledged. */
export async function listUntold(queries: Queries, runId: string, limit: number): Promise<SessionEnd[]> {
  const rows = await queries.run(untold, { run_id: runId, limit })
  return rows.map(({ id, close_code, close_reason }) => ({
    id,
    code: close_code ?? 0,
    reason: close_reason ?? '',
  }))
}

export async function markTold(tx: Tx, runId: string, id: string): Promise<void> {
  await tx.change(tell, { id, run_id: runId })
}

export interface SessionFilter {
  readonly state?: SessionState
  /** A user's id. */
  readonly user?: string
  /** A gateway's name. */
  readonly gateway?: string
}

/** The live ones, or those that are over; the newest first. */
export async function listSessions(
  queries: Queries,
  { state, user, gateway }: SessionFilter,
  page: PageRequest,
): Promise<Page<Session>> {
  const rows = await dbOf(queries)
    .selectFrom('vpn_sessions')
    .selectAll()
    .where('closed_at', state === 'closed' ? 'is not' : 'is', null)
    .$if(user !== undefined, (query) => query.where('user_id', '=', user as string))
    .$if(gateway !== undefined, (query) => query.where('gateway', '=', gateway as string))
    .where('seq', '<', page.before)
    .orderBy('seq', 'desc')
    .limit(page.limit + 1)
    .execute()
  return mapPage(pageOf(rows, page.limit), fromRow)
}

export async function countSessions(queries: Queries): Promise<number> {
  return (await first(queries, countOpen, {}))?.sessions ?? 0
}

/**
 * Removes one batch of sessions that ended before that time, never the newest one, by which the next is numbered;
 * answers how many.
 */
export async function deleteClosed(queries: Tx, before: number, limit: number): Promise<number> {
  const { numDeletedRows } = await dbOf(queries)
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

function fromRow(row: Row): Session {
  return {
    id: row.id,
    user: { id: row.user_id, name: row.user_name },
    device: row.device,
    virtualIp: formatAddress(row.address),
    gateway: row.gateway,
    remoteAddress: row.remote_address,
    connectedAt: row.connected_at,
    lastSeenAt: row.last_seen_at,
    rttMs: row.rtt_us === null ? null : row.rtt_us / 1_000,
    closedAt: row.closed_at,
    closeCode: row.close_code,
  }
}
