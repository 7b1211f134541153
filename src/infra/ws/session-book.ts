import { setTimeout as sleep } from 'node:timers/promises'
import type { WebSocket } from 'ws'
import { SECOND } from '../../kernel/time.ts'
import type { Admitted } from './admission.ts'
import { createBeatWheel } from './beat-wheel.ts'
import { CLOSE } from './close-codes.ts'
import { createLedger, type LedgerDeps } from './ledger.ts'
import type { SessionEnd, SessionNews } from '../../ports/session-registry.ts'
import { Session, type SessionDeps } from './session.ts'

export type SessionBookDeps = Omit<SessionDeps, 'onEnd' | 'onGone'> & Pick<LedgerDeps, 'registry' | 'logger'>

/** The open sessions of a gateway, and what happens to them as time goes by. */
export interface SessionBook {
  readonly size: number
  add(connection: WebSocket, admitted: Admitted): void
  /** Returns the address of a session that was registered and never got its connection. */
  abandon(end: SessionEnd): void
  /** Starts the heartbeats, and to keep the register in step. */
  start(): void
  /** Ends all sessions with 1001, and resolves when their connections are gone and their addresses returned. */
  close(): Promise<void>
}

// A session that somebody else has ended is to be cut within a second.
const TURN_MS = SECOND / 2
/** How long a client may take to answer a close frame. */
export const CLOSE_PATIENCE_MS = 1.5 * SECOND
// contract, section 5: spread over 5 s, for clients come back at once
const FAREWELL_MS = 5 * SECOND
const FAREWELL_MS_PER_SESSION = 5

export function createSessionBook(deps: SessionBookDeps): SessionBook {
  const { registry, logger, clock, heartbeatMs, records } = deps
  const sessions = new Map<string, Session>()
  const connections = new Set<Session>()
  const timers: NodeJS.Timeout[] = []
  const wheel = createBeatWheel<Session>(clock, heartbeatMs, (session, at) => session.beat(at))
  const ledger = createLedger({
    registry,
    clock,
    logger,
    heartbeatMs,
    takeNews: () => [...newsOf(sessions.values())],
    onEnded: ({ id, code, reason }) => sessions.get(id)?.end(code, reason),
    onLost: () => {
      for (const session of sessions.values()) {
        session.end(CLOSE.goingAway, 'the gateway has lost touch with its database')
      }
    },
  })
  let allGone: PromiseWithResolvers<void> | undefined

  const sessionDeps: SessionDeps = {
    ...deps,
    onEnd(session, end) {
      sessions.delete(session.id)
      wheel.remove(session, session.slot)
      ledger.end(end)
      records.closed(session.fields, end, session.heldMs)
    },
    onGone(session) {
      connections.delete(session)
      if (connections.size === 0) allGone?.resolve()
    },
  }

  const turn = () => {
    const now = clock.monotonic()
    for (const session of sessions.values()) session.watchToken(now)
    ledger.turn()
  }

  const sayFarewell = async () => {
    const spreadMs = Math.min(FAREWELL_MS, sessions.size * FAREWELL_MS_PER_SESSION)
    await Promise.all(
      [...sessions.values()].map(async (session) => {
        await sleep(Math.random() * spreadMs)
        session.end(CLOSE.goingAway, 'the gateway is stopping')
      }),
    )
  }

  const cutTheRest = async () => {
    if (connections.size === 0) return
    allGone = Promise.withResolvers()
    const limit = setTimeout(() => connections.forEach((session) => session.cut()), CLOSE_PATIENCE_MS)
    await allGone.promise
    clearTimeout(limit)
  }

  return {
    get size() {
      return sessions.size
    },
    add(connection, { registered, holder, fields }) {
      const session = new Session(sessionDeps, { connection, registered, holder, fields })
      sessions.set(session.id, session)
      connections.add(session)
      session.slot = wheel.add(session)
      records.opened(fields)
      session.greet()
    },
    abandon: (end) => ledger.end(end),
    start() {
      timers.push(
        setInterval(() => wheel.turn(), wheel.slotMs),
        setInterval(turn, TURN_MS),
      )
    },
    async close() {
      await sayFarewell()
      await cutTheRest()
      timers.forEach(clearInterval)
      await ledger.settle()
    },
  }
}

function* newsOf(sessions: Iterable<Session>): Generator<SessionNews> {
  for (const session of sessions) {
    const news = session.takeNews()
    if (news) yield news
  }
}
