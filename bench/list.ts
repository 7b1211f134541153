import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Bench } from './support/bench.ts'
import { requireSuccess, loadContestants, rateOf } from './support/load-contestants.ts'
import { startLoadGenerator, type LoadGenerator } from './support/load-generator.ts'
import type { LoadTarget, Slice } from './support/load.ts'
import { figures, ratio, type Measure } from './support/measure.ts'
import { CONNECTIONS, LOCAL_TOOL } from './support/order-load.ts'
import { startOrderWriter } from './support/order-writer.ts'
import { startPlatform } from './support/platform-server.ts'
import { interleave, type Contestant, type Round, type RoundOptions } from './support/rounds.ts'
import { seedOrders } from './support/seed.ts'
import { freePort } from '../test/support/loopback.ts'
import { diskDirectory, startServer } from './support/servers.ts'

const CONSTANT = fileURLToPath(new URL('./servers/constant.mjs', import.meta.url))
const SIZES = {
  full: { few: 10_000, many: 5_000_000 },
  small: { few: 1_000, many: 2_000 },
}

/** A page of orders, against a bare server that answers the same bytes; with few orders and with many. */
export const list: Bench = {
  name: 'list',
  title: 'P2: a page of 100 orders',
  summary: 'GET /orders?status=…&limit=100, with and without writes beside, against a constant page',

  async run(options) {
    await using stack = new AsyncDisposableStack()
    const sizes = options.small ? SIZES.small : SIZES.full
    const few = await startSeeded(stack, sizes.few, options)
    const fewWritten = await startSeeded(stack, sizes.few, options)
    const many = await startSeeded(stack, sizes.many, options)
    const generator = stack.use(startLoadGenerator())
    const contestants: Contestant<PageSlice>[] = [
      ...loadContestants(generator, {
        constant: await startConstant(stack, few.port),
        few: page(few.port),
        many: page(many.port),
        deep: page(many.port, cursorAt(sizes.many / 2)),
      }),
      whileWritten(stack, generator, 'few, written', fewWritten),
      whileWritten(stack, generator, 'many, written', many),
    ]
    return measuresOf(await interleave(contestants, options), sizes)
  },
}

interface Seeded {
  readonly port: number
  readonly dataDir: string
}

async function startSeeded(
  stack: AsyncDisposableStack,
  orders: number,
  options: RoundOptions,
): Promise<Seeded> {
  const port = await freePort()
  const { path: dataDir } = stack.use(diskDirectory())
  await seedOrders(dataDir, { orders }, options)
  stack.use(await startPlatform({ dataDir, port }))
  return { port, dataDir }
}

interface PageSlice extends Slice {
  /** For a slice with a writer beside. */
  readonly commitsPerPage?: number
}

/** Pages of a server while another connection commits orders that belong on the page. */
function whileWritten(
  stack: AsyncDisposableStack,
  generator: LoadGenerator,
  name: string,
  { port, dataDir }: Seeded,
): Contestant<PageSlice> {
  const writer = stack.use(startOrderWriter(dataDir))
  return {
    name,
    async run(forMs) {
      await writer.start()
      const slice = requireSuccess(name, await generator.apply(page(port), forMs))
      const commits = await writer.stop()
      return { ...slice, commitsPerPage: commits / (slice.statuses[200] ?? 0) }
    },
  }
}

const FIRST_PAGE = '/orders?status=completed&limit=100'

function page(port: number, path = FIRST_PAGE): LoadTarget {
  return { port, connections: CONNECTIONS, method: 'GET', path, headers: LOCAL_TOOL }
}

/** The page that begins at that order, as its predecessor's `next_cursor` names it. */
function cursorAt(position: number): string {
  return `${FIRST_PAGE}&cursor=${Buffer.from(JSON.stringify(['orders', 'newest', position])).toString('base64url')}`
}

/** A bare server with the bytes of a real page. */
async function startConstant(stack: AsyncDisposableStack, ours: number): Promise<LoadTarget> {
  const { path: cwd } = stack.use(diskDirectory())
  const file = join(cwd, 'page.json')
  const answer = await fetch(`http://127.0.0.1:${ours}${FIRST_PAGE}`, {
    headers: { ...LOCAL_TOOL, connection: 'close' },
  })
  if (!answer.ok) throw new Error(`a page was answered with ${answer.status}`)
  writeFileSync(file, await answer.bytes())
  const port = await freePort()
  stack.use(await startServer({ command: [process.execPath, CONSTANT, String(port), file], port, cwd }))
  return page(port)
}

/** What the server spends on a page, all connections together. */
function timeOf(slice: Slice): number {
  return 1 / rateOf(slice)
}

// docs/performance.md, P2: a page of orders
const RATE = { must: { atLeast: 0.075 }, better: { atLeast: 0.15 } }
const GROWTH = { must: { atMost: 1.3 } }
const COMMITS = { must: { atLeast: 1 } }

function measuresOf(
  rounds: readonly Round<PageSlice>[],
  { few, many }: { few: number; many: number },
): Measure[] {
  const [fewer, more] = [few.toLocaleString('en'), many.toLocaleString('en')]
  const commitsPerPage = (name: string) =>
    figures(rounds, name, ({ commitsPerPage: commits = NaN }) => commits)
  return [
    {
      what: 'rate while orders are written ÷ constant page',
      values: ratio(rounds, 'few, written', 'constant', rateOf),
      ...RATE,
    },
    { what: 'commits for each page meanwhile', values: commitsPerPage('few, written'), ...COMMITS },
    {
      what: `time at ${more} orders ÷ at ${fewer}`,
      values: ratio(rounds, 'many', 'few', timeOf),
      ...GROWTH,
    },
    {
      what: `time at ${more} orders ÷ at ${fewer}, while orders are written`,
      values: ratio(rounds, 'many, written', 'few, written', timeOf),
      ...GROWTH,
    },
    { what: 'rate without writes ÷ constant page', values: ratio(rounds, 'few', 'constant', rateOf) },
    {
      what: `time of a page in the middle of ${more} ÷ of the first`,
      values: ratio(rounds, 'deep', 'many', timeOf),
    },
    ...[
      { name: 'few, written', what: `platform, ${fewer} orders, while orders are written` },
      { name: 'few', what: `platform, ${fewer} orders` },
      { name: 'many', what: `platform, ${more} orders` },
      { name: 'constant', what: 'constant page' },
    ].map(({ name, what }) => ({ what, unit: 'pages/s', values: figures(rounds, name, rateOf) })),
    {
      what: 'load generator at the constant page',
      unit: 'share of a core',
      values: figures(rounds, 'constant', ({ generatorBusy }) => generatorBusy),
    },
  ]
}
