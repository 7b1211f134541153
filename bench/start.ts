import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { buildPlatform } from '../scripts/build-platform.ts'
import { hostArchitecture } from '../scripts/release/architecture.ts'
import { buildExecutable } from '../scripts/release/executable.ts'
import type { Bench } from './support/bench.ts'
import { figures, ratio, type Measure } from './support/measure.ts'
import { SOURCE, startPlatform } from './support/platform-server.ts'
import { residentMegabytes } from './support/resident.ts'
import { interleave, type Contestant, type Round } from './support/rounds.ts'
import { seedOrders } from './support/seed.ts'
import { freePort } from '../test/support/loopback.ts'
import { diskDirectory, startServer, type RunningServer } from './support/servers.ts'

const BARE = fileURLToPath(new URL('./servers/constant.mjs', import.meta.url))
const MANY = { full: 1_000_000, small: 1_000 }

interface Sample {
  /** From the start of the process to the last byte of its first answer. */
  readonly milliseconds: number
  /** Resident memory at the end of the slice. */
  readonly megabytes: number
}

/** Time to the first answer and idle memory, compared with a bare server. */
export const start: Bench = {
  name: 'start',
  title: 'P6: start to the first answer, idle memory',
  summary: 'start to the first answer and idle memory, against a bare node:http server',

  async run(options) {
    await using stack = new AsyncDisposableStack()
    const many = options.small ? MANY.small : MANY.full
    const { path: fewDir } = stack.use(diskDirectory())
    const { path: manyDir } = stack.use(diskDirectory())
    await seedOrders(fewDir, { orders: 0 }, options)
    await seedOrders(manyDir, { orders: many }, options)
    const { path: bundle } = stack.use(diskDirectory())
    options.onSlice('building the release')
    await buildPlatform(bundle)
    const { path: built } = stack.use(diskDirectory())
    const executable = join(built, 'platform')
    await buildExecutable({ output: executable, architecture: hostArchitecture() })
    dropFromPageCache(executable)
    const contestants = [
      contestant('bare', (port) =>
        startServer({ command: [process.execPath, BARE, String(port)], port, cwd: fewDir }),
      ),
      platform('source', fewDir, SOURCE),
      platform('many', manyDir, SOURCE),
      platform('bundle', fewDir, [process.execPath, join(bundle, 'platform.cjs')]),
      platform('executable', fewDir, [executable]),
    ]
    return measuresOf(await interleave(contestants, options), many)
  },
}

/**
 * The kernel maps a file that was just written in pages of 2 MB, and counts all of them as memory of the process. From now
 * on it reads the file again, as after a restart of the host.
 */
function dropFromPageCache(file: string): void {
  execFileSync('sync', [file])
  execFileSync('dd', [`if=${file}`, 'iflag=nocache', 'count=0', 'status=none'])
}

/** All modules, started as a user does, on an existing database. */
function platform(name: string, dataDir: string, program: readonly string[]): Contestant<Sample> {
  return contestant(name, (port) => startPlatform({ dataDir, port, modules: 'all', program }))
}

function contestant(name: string, begin: (port: number) => Promise<RunningServer>): Contestant<Sample> {
  return {
    name,
    async run(forMs) {
      const port = await freePort()
      const startedAt = performance.now()
      await using server = await begin(port)
      const answer = await fetch(`http://127.0.0.1:${port}/health`, { headers: { connection: 'close' } })
      await answer.text()
      const milliseconds = performance.now() - startedAt
      if (!answer.ok) throw new Error(`${name} answered ${answer.status}`)
      await pause(forMs)
      return { milliseconds, megabytes: residentMegabytes(server.pid) }
    },
  }
}

// docs/performance.md, P6: start and idle memory
const FROM_SOURCE = { must: { atMost: 5 } }
const RELEASED = { must: { atMost: 3.2 }, better: { atMost: 2 } }
const MEMORY = { must: { atMost: 1.5 }, better: { atMost: 1.3 } }

function measuresOf(rounds: readonly Round<Sample>[], many: number): Measure[] {
  const time = ({ milliseconds }: Sample) => milliseconds
  const memory = ({ megabytes }: Sample) => megabytes
  const toBare = (name: string, figure: (sample: Sample) => number) => ratio(rounds, name, 'bare', figure)
  const names = ['bare', 'source', 'bundle', 'executable']
  return [
    { what: 'first answer, bundled ÷ bare', values: toBare('bundle', time) },
    { what: 'idle memory, bundled ÷ bare', values: toBare('bundle', memory) },
    { what: 'first answer, executable ÷ bare', values: toBare('executable', time), ...RELEASED },
    { what: 'idle memory, executable ÷ bare', values: toBare('executable', memory), ...MEMORY },
    { what: 'first answer, from source ÷ bare', values: toBare('source', time), ...FROM_SOURCE },
    { what: 'idle memory, from source ÷ bare', values: toBare('source', memory) },
    {
      what: `first answer, beside ${many.toLocaleString('en')} orders ÷ beside none`,
      values: ratio(rounds, 'many', 'source', time),
    },
    ...names.map((name) => ({
      what: `${name}, first answer`,
      unit: 'ms',
      values: figures(rounds, name, time),
    })),
    ...names.map((name) => ({
      what: `${name}, idle memory`,
      unit: 'MB',
      values: figures(rounds, name, memory),
    })),
  ]
}
