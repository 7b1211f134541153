import { fileURLToPath } from 'node:url'
import { residentMegabytes } from './resident.ts'
import { freePort } from '../../test/support/loopback.ts'

const PROGRAM = fileURLToPath(new URL('./memory-probe.ts', import.meta.url))

/** Reads the memory of one server after a garbage collection. */
export interface MemoryProbe {
  /** What the server is started with. */
  readonly env: Readonly<Record<string, string>>
  /** What is resident after a collection. */
  residentKibibytes(pid: number): Promise<number>
}

export async function createMemoryProbe(): Promise<MemoryProbe> {
  const port = await freePort()
  return {
    env: { NODE_OPTIONS: `--import=${PROGRAM}`, BENCH_PROBE_PORT: String(port) },
    async residentKibibytes(pid) {
      const answer = await fetch(`http://127.0.0.1:${port}/`, { headers: { connection: 'close' } })
      await answer.text()
      return residentMegabytes(pid) * 1_024
    },
  }
}
