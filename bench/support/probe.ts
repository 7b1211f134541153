import { fileURLToPath } from 'node:url'
import { freePort } from '../../test/support/loopback.ts'

const PROGRAM = fileURLToPath(new URL('./loop-probe.ts', import.meta.url))

/** How late the event loop of a process came to what was due, in milliseconds. */
export interface LoopDelay {
  readonly p99: number
  readonly longest: number
}

/** Watches the event loop of one server from the inside. */
export interface LoopProbe {
  /** What the server is started with. */
  readonly env: Readonly<Record<string, string>>
  /** The delay since the last call. */
  read(): Promise<LoopDelay>
}

export async function createLoopProbe(): Promise<LoopProbe> {
  const port = await freePort()
  return {
    env: { NODE_OPTIONS: `--import=${PROGRAM}`, BENCH_PROBE_PORT: String(port) },
    async read() {
      const answer = await fetch(`http://127.0.0.1:${port}/`, { headers: { connection: 'close' } })
      return (await answer.json()) as LoopDelay
    },
  }
}
