// The limit of any gateway whose sessions are durable on this machine: `ws` and `node:sqlite` alone. For each connection
// it verifies the token, takes the next address, and writes the rows that the platform writes for a session, to a
// database that the platform's own migrations have made. The connections that arrive within a few milliseconds share
// a commit and its fsync, and are accepted after it.
import { randomUUIDv7 } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { WebSocketServer } from 'ws'
import { GroupCommit, newTraceparent, openDurable } from '../support/group-commit.ts'
import { bearerOf, verifyToken } from '../support/tokens.ts'

interface Session {
  readonly userId: string
  readonly remoteAddress: string
  readonly accept: (greeting: string) => void
  greeting: string
}

const [, , port, file = ''] = process.argv
const POOL = '100.64.0.0/12'
const FIRST_ADDRESS = (100 * 256 + 64) * 65_536 + 2
// Leases are added so many at once, as the platform adds them.
const LEASES_ADDED = 64
const RUN_ID = randomUUIDv7()
const EVENT_HEADERS = JSON.stringify({ 'content-type': 'application/cloudevents+json; charset=utf-8' })
// Node.js accepts one connection in a turn of the event loop: without a pause each would have a commit of its own.
const GATHER_MS = 3

const database = openDurable(file)
const insertLease = database.prepare('insert into vpn_leases (address, pool, released_at) values (?, ?, 0)')
const takeLease = database.prepare('update vpn_leases set session_id = ? where address = ?')
const insertSession = database.prepare(`
  insert into vpn_sessions (
    id, user_id, user_name, address, gateway, run_id, remote_address, token_id, connected_at, last_seen_at)
  values (?, ?, ?, ?, 'bare', ?, ?, ?, ?, ?)`)
const insertAudit = database.prepare(`
  insert into vpn_audit (id, at, event, session_id, user_id, user_name, virtual_ip, gateway, remote_address)
  values (?, ?, 'session_registered', ?, ?, ?, ?, 'bare', ?)`)
const insertMessage = database.prepare(`
  insert into messages (id, subject, payload, headers, status, attempts, created_at)
  values (?, 'vpn.audit.session_registered', ?, ?, 'pending', 0, ?)`)

let nextAddress = FIRST_ADDRESS

const sessions = new GroupCommit<Session>({
  database,
  gatherMs: GATHER_MS,
  insert(session, at) {
    const { userId, remoteAddress } = session
    const [id, auditId, messageId, address] = [randomUUIDv7(), randomUUIDv7(), randomUUIDv7(), takeAddress()]
    takeLease.run(id, address)
    insertSession.run(id, userId, userId, address, RUN_ID, remoteAddress, randomUUIDv7(), at, at)
    const virtualIp = toDotted(address)
    insertAudit.run(auditId, at, id, userId, userId, virtualIp, remoteAddress)
    const entry = { id: auditId, at, sessionId: id, userId, virtualIp, remoteAddress }
    insertMessage.run(messageId, eventJson(messageId, entry), EVENT_HEADERS, at)
    session.greeting = greetingJson(id, address, userId)
  },
  answer: ({ accept, greeting }) => accept(greeting),
})

function takeAddress(): number {
  if ((nextAddress - FIRST_ADDRESS) % LEASES_ADDED === 0) {
    for (let ahead = 0; ahead < LEASES_ADDED; ahead++) insertLease.run(nextAddress + ahead, POOL)
  }
  return nextAddress++
}

interface Entry {
  readonly id: string
  readonly at: number
  readonly sessionId: string
  readonly userId: string
  readonly virtualIp: string
  readonly remoteAddress: string
}

function toDotted(address: number): string {
  return [24, 16, 8, 0].map((shift) => (address >>> shift) & 255).join('.')
}

/** A CloudEvent in structured mode. */
function eventJson(eventId: string, { id, at, sessionId, userId, virtualIp, remoteAddress }: Entry): string {
  const time = new Date(at).toISOString()
  return JSON.stringify({
    specversion: '1.0',
    id: eventId,
    source: '/platform/sessions',
    type: 'vpn.audit.session_registered',
    subject: sessionId,
    time,
    datacontenttype: 'application/json',
    traceparent: newTraceparent(),
    data: {
      id,
      at: time,
      event: 'session_registered',
      session_id: sessionId,
      user_id: userId,
      user_name: userId,
      device: null,
      virtual_ip: virtualIp,
      gateway: 'bare',
      remote_address: remoteAddress,
      reason: null,
      cause: null,
    },
  })
}

function greetingJson(sessionId: string, address: number, userId: string): string {
  return JSON.stringify({
    type: 'session',
    session_id: sessionId,
    virtual_ip: toDotted(address),
    prefix_length: 12,
    heartbeat_seconds: 30,
    gateway: 'bare',
    user: { id: userId, name: userId, roles: ['service'] },
  })
}

const greetings = new WeakMap<IncomingMessage, string>()

const server = new WebSocketServer({
  port: Number(port),
  host: '127.0.0.1',
  verifyClient({ req: request }, decide) {
    const userId = verifyToken(bearerOf(request.headers.authorization))
    if (userId === undefined) return decide(false, 401)
    const remoteAddress = request.socket.remoteAddress ?? ''
    const accept = (greeting: string) => {
      greetings.set(request, greeting)
      decide(true)
    }
    sessions.add({ userId, remoteAddress, accept, greeting: '' })
  },
})

server.on('connection', (socket, request) => {
  socket.on('error', () => socket.terminate())
  socket.send(greetings.get(request) ?? '')
})
