import { Agent, request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'

/** One call of the API, as an administrator. */
export interface SteadyCall {
  readonly method: 'POST' | 'PUT'
  readonly path: string
  readonly body: object
}

export interface SteadyLoad {
  readonly port: number
  readonly perSecond: number
  readonly forMs: number
  /** Makes the next call. */
  readonly next: () => SteadyCall
}

const TICK_MS = 10
const CONNECTIONS = 64

/** Calls at a constant rate; returns how many calls there were when all are answered. A refusal rejects. */
export async function callSteadily({ port, perSecond, forMs, next }: SteadyLoad): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  const start = performance.now()
  const pending: Promise<void>[] = []
  try {
    for (let elapsed = 0; elapsed < forMs || pending.length === 0; elapsed = performance.now() - start) {
      while (pending.length <= (Math.min(elapsed, forMs) * perSecond) / 1_000) {
        const call = send(next(), port, agent)
        // The wait for all calls rejects with it.
        call.catch(() => undefined)
        pending.push(call)
      }
      await pause(TICK_MS)
    }
    await Promise.all(pending)
    return pending.length
  } finally {
    agent.destroy()
  }
}

function send({ method, path, body }: SteadyCall, port: number, agent: Agent): Promise<void> {
  const headers = { 'x-user-id': 'bench', 'x-user-roles': 'admin', 'content-type': 'application/json' }
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const outgoing = request({ port, agent, host: '127.0.0.1', method, path, headers })
  outgoing.once('error', reject)
  outgoing.once('response', (response) => {
    const { statusCode = 0 } = response
    response.resume()
    response.once('end', () =>
      statusCode < 300 ? resolve() : reject(new Error(`${method} ${path}: ${statusCode}`)),
    )
  })
  outgoing.end(JSON.stringify(body))
  return promise
}
