import { setTimeout as pause } from 'node:timers/promises'
import { request } from 'node:http'

/** Polls `/health`, each time on a new connection. */
export interface Watch {
  readonly answers: readonly HealthAnswer[]
  stop(): Promise<void>
}

export interface HealthAnswer {
  /** 0 when there was no response. */
  readonly status: number
  /** Why there was none; otherwise empty. */
  readonly fault: string
  readonly bus: string
  readonly milliseconds: number
}

const EVERY_MS = 50
const PATIENCE_MS = 30_000

export function watchHealth(url: string): Watch {
  const answers: HealthAnswer[] = []
  const stopping = new AbortController()
  const run = async () => {
    while (!stopping.signal.aborted) {
      answers.push(await askHealth(url))
      await pause(EVERY_MS, undefined, { signal: stopping.signal }).catch(() => undefined)
    }
  }
  const running = run()
  return {
    answers,
    async stop() {
      stopping.abort()
      await running
    },
  }
}

export function askHealth(url: string): Promise<HealthAnswer> {
  const start = performance.now()
  return new Promise((resolve) => {
    const answer = (status: number, { bus = '', fault = '' } = {}) =>
      resolve({ status, fault, bus, milliseconds: performance.now() - start })
    const fail = ({ message }: Error) => answer(0, { fault: message })
    const outgoing = request(`${url}/health`, { agent: false, timeout: PATIENCE_MS }, (response) => {
      let body = ''
      response.setEncoding('utf8').on('data', (text: string) => (body += text))
      response.on('end', () => answer(response.statusCode ?? 0, { bus: busIn(body) }))
      response.on('error', fail)
    })
    outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer within ${PATIENCE_MS} ms`)))
    outgoing.on('error', fail)
    outgoing.end()
  })
}

function busIn(body: string): string {
  return (JSON.parse(body) as { checks: { bus: string } }).checks.bus
}

/** The given percentile of the values. */
export function percentile(values: readonly number[], hundredths: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * hundredths) / 100))] ?? 0
}

export function slowest(answers: readonly { readonly milliseconds: number }[]): number {
  return Math.round(Math.max(0, ...answers.map(({ milliseconds }) => milliseconds)))
}
