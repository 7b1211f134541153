import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { Slice } from './load.ts'
import { quantile } from './statistics.ts'

/** Which provider is asked for whole flows. */
export interface FlowTarget {
  readonly port: number
  readonly connections: number
  readonly scope: string
}

/** How long it goes on: for a time, or for so many flows. */
export interface FlowLimit {
  readonly forMs?: number
  readonly flows?: number
}

const CLIENT = 'client_id=cli_mock_docvalue_0001'
const SECRET = 'client_secret=mock_secret_docvalue_0001'
const REDIRECT = `redirect_uri=${encodeURIComponent('http://127.0.0.1:9989/auth/oauth/callback')}`
// RFC 7636, appendix B
const VERIFIER = 'code_verifier=dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'
const CHALLENGE = 'code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256'

interface Load {
  readonly host: string
  readonly scope: string
  readonly times: number[]
  isOver(): boolean
}

/**
 * Keeps the connections busy with flows, each of three requests one after the other: authorize, token with PKCE,
 * userinfo. A rate is flows a second, a time that of a whole flow.
 */
export async function applyFlows(
  target: FlowTarget,
  { forMs = Infinity, flows = Infinity }: FlowLimit,
): Promise<Slice> {
  const sockets = await Promise.all(Array.from({ length: target.connections }, () => openSocket(target.port)))
  const begin = performance.now()
  const times: number[] = []
  const isOver = () => times.length >= flows || performance.now() - begin >= forMs
  const load = { host: `Host: 127.0.0.1:${target.port}\r\n`, scope: target.scope, times, isOver }
  const idleBefore = performance.eventLoopUtilization()
  await Promise.all(sockets.map((socket) => keepFlowing(socket, load)))
  const { utilization } = performance.eventLoopUtilization(idleBefore)
  const sorted = Float64Array.from(times).sort()
  return {
    rate: times.length / ((performance.now() - begin) / 1_000),
    p50: quantile(sorted, 0.5),
    p99: quantile(sorted, 0.99),
    statuses: { 200: times.length },
    generatorBusy: utilization,
  }
}

async function openSocket(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  await once(socket, 'connect')
  return socket
}

interface Step {
  readonly status: string
  /** What the next request needs of this answer. */
  readonly wanted: RegExp
  next(host: string, found: string): string
}

/** What each answer of a flow must be, and the request that follows it. */
const STEPS: readonly Step[] = [
  {
    status: '302',
    wanted: /[?&]code=([^&\r\n]+)/,
    next(host, code) {
      const body = `grant_type=authorization_code&code=${code}&${CLIENT}&${SECRET}&${REDIRECT}&${VERIFIER}`
      const type = 'Content-Type: application/x-www-form-urlencoded\r\n'
      return `POST /token HTTP/1.1\r\n${host}${type}Content-Length: ${body.length}\r\n\r\n${body}`
    },
  },
  {
    status: '200',
    wanted: /"access_token": ?"([^"]+)"/,
    next: (host, token) => `GET /userinfo HTTP/1.1\r\n${host}Authorization: Bearer ${token}\r\n\r\n`,
  },
  { status: '200', wanted: /"sub": ?"([^"]+)"/, next: () => '' },
]

/** Resolves after the first flow past the end. Rejects for an answer that no flow has. */
function keepFlowing(socket: Socket, { host, scope, times, isOver }: Load): Promise<void> {
  const query = `response_type=code&${CLIENT}&${REDIRECT}&scope=${scope}&state=s&${CHALLENGE}`
  const first = `GET /authorize?${query} HTTP/1.1\r\n${host}\r\n`
  return new Promise((resolve, reject) => {
    let step = 0
    let received = ''
    let startedAt = 0
    const begin = () => {
      step = 0
      startedAt = performance.now()
      socket.write(first)
    }
    const finish = () => {
      times.push(performance.now() - startedAt)
      if (!isOver()) return begin()
      socket.destroy()
      resolve()
    }
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString('latin1')
      if (!isComplete(received)) return
      const { status, wanted, next } = STEPS[step] as Step
      const found = wanted.exec(received)?.[1]
      if (received.slice(9, 12) !== status || found === undefined) {
        socket.destroy()
        return reject(new Error(`step ${step} of a flow got this answer:\n${received}`))
      }
      received = ''
      step += 1
      if (step === STEPS.length) finish()
      else socket.write(next(host, found))
    })
    socket.once('error', reject)
    socket.once('close', () => reject(new Error('the provider closed a connection under load')))
    begin()
  })
}

const LENGTH = /\r\ncontent-length: *(\d+)/i

function isComplete(received: string): boolean {
  const end = received.indexOf('\r\n\r\n')
  if (end < 0) return false
  const length = LENGTH.exec(received)?.[1]
  return length === undefined ? received.endsWith('0\r\n\r\n') : received.length >= end + 4 + Number(length)
}
