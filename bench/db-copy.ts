import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Bench } from './support/bench.ts'
import { sqliteIn } from './support/database.ts'
import { figures, ratio, type Measure } from './support/measure.ts'
import { SOURCE } from './support/platform-server.ts'
import { inDatabase, makeDatabase, startDurablePostgres } from './support/postgres-server.ts'
import { runToEnd, type ProgramRun } from './support/program-run.ts'
import { interleave, type Contestant, type Round } from './support/rounds.ts'
import { seedOrders } from './support/seed.ts'
import { diskDirectory } from './support/servers.ts'

/** Orders, each with the event of its creation. */
const ORDERS = { full: 500_000, small: 500 }
const TABLES = ['orders', 'messages']
const ROUNDS = 3

/** The copy of a database from SQLite to PostgreSQL, against `COPY` of the same rows. */
export const dbCopy: Bench = {
  name: 'db-copy',
  title: 'P21: from SQLite to PostgreSQL',
  summary: 'platform db copy of orders with their events, against COPY of the same rows by psql',

  async run(options) {
    await using stack = new AsyncDisposableStack()
    const { path: dataDir } = stack.use(diskDirectory())
    const orders = options.small ? ORDERS.small : ORDERS.full
    await seedOrders(dataDir, { orders, events: true }, options)
    const world = { dataDir, server: await startDurablePostgres(stack) }
    options.onSlice('copying for the first time')
    await writeFiles(world)
    // A copy takes longer than any slice.
    const rounds = await interleave(contestantsOf(world), {
      ...options,
      rounds: Math.min(options.rounds, ROUNDS),
      small: true,
    })
    return measuresOf(rounds, orders * TABLES.length)
  },
}

interface World {
  readonly dataDir: string
  /** The address of the PostgreSQL server. */
  readonly server: string
}

let databases = 0

function contestantsOf(world: World): Contestant<ProgramRun>[] {
  return [
    { name: 'copy', run: async () => copyTo(world, await emptyDatabase(world)) },
    { name: 'verify', run: () => platform(world, ['--verify']) },
    {
      name: 'COPY',
      run: async () => {
        const url = await makeDatabase(world.server, `bare${databases++}`)
        return psql(
          url,
          TABLES.map((table) => `\\copy ${table} from '${fileOf(world, table)}'`),
        )
      },
    },
  ]
}

/** The files that `COPY` reads, of the database that the first copy has made; `--verify` compares with it. */
async function writeFiles(world: World): Promise<void> {
  const url = await emptyDatabase(world)
  await copyTo(world, url)
  await psql(
    url,
    TABLES.map((table) => `\\copy ${table} to '${fileOf(world, table)}'`),
  )
}

async function emptyDatabase({ server }: World): Promise<string> {
  const url = new URL(server)
  url.pathname = `copied${databases++}`
  await inDatabase(server, [`create database ${url.pathname.slice(1)} template template0`])
  return url.href
}

function copyTo(world: World, url: string): Promise<ProgramRun> {
  writeFileSync(join(world.dataDir, 'url'), url, { mode: 0o600 })
  return platform(world, [])
}

function platform({ dataDir }: World, options: readonly string[]): Promise<ProgramRun> {
  const command = [...SOURCE, 'db', 'copy', '--to-file', join(dataDir, 'url'), ...options]
  return runToEnd(command, dataDir, { DATA_DIR: dataDir, DATABASE: sqliteIn(dataDir).path })
}

function fileOf({ dataDir }: World, table: string): string {
  return join(dataDir, `${table}.copy`)
}

function psql(url: string, commands: readonly string[]): Promise<ProgramRun> {
  const args = [
    '--quiet',
    '--no-psqlrc',
    '--set=ON_ERROR_STOP=1',
    ...commands.map((each) => `--command=${each}`),
  ]
  return runToEnd(['psql', ...args, url])
}

// docs/performance.md, P21: from SQLite to PostgreSQL
const COPY = { must: { atLeast: 0.5 } }

function measuresOf(rounds: readonly Round<ProgramRun>[], rows: number): Measure[] {
  const rate = ({ seconds }: ProgramRun) => rows / seconds
  return [
    { what: 'rows a second ÷ COPY', values: ratio(rounds, 'copy', 'COPY', rate), ...COPY },
    { what: 'platform db copy, with its comparison', unit: 'rows/s', values: figures(rounds, 'copy', rate) },
    { what: 'platform db copy --verify', unit: 'rows/s', values: figures(rounds, 'verify', rate) },
    { what: 'COPY', unit: 'rows/s', values: figures(rounds, 'COPY', rate) },
    { what: 'peak memory', unit: 'MB', values: figures(rounds, 'copy', ({ peakMegabytes: peak }) => peak) },
  ]
}
