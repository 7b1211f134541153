import type { Bench } from './support/bench.ts'
import { startConsoleBrowser, type ConsoleBrowser, type View } from './support/console-browser.ts'
import { countFrames, type Step } from './support/console-page.ts'
import { figures, type Measure } from './support/measure.ts'
import { OrderTraffic } from './support/order-traffic.ts'
import { issueToken, startPlatform } from './support/platform-server.ts'
import { interleave, type Contestant, type Round, type RoundOptions } from './support/rounds.ts'
import { seedOrders } from './support/seed.ts'
import { diskDirectory } from './support/servers.ts'
import { spreadOf } from './support/statistics.ts'
import { freePort } from '../test/support/loopback.ts'

interface Sizes {
  readonly orders: number
  readonly eventsPerSecond: number
}

const SIZES: Readonly<Record<'full' | 'small', Sizes>> = {
  full: { orders: 1_000_000, eventsPerSecond: 1_000 },
  small: { orders: 2_000, eventsPerSecond: 100 },
}

const OVERVIEW: View = { path: 'overview', complete: '.course-table' }
const ORDERS: View = { path: 'orders', complete: '.pager' }

const ROWS = '.data-table tbody'
const OLDER: Step = { control: '.pager > a:last-child', sign: ROWS }
const NEWER: Step = { control: '.pager > button', sign: ROWS }
const FILTERED: View = { path: 'orders?status=expired', complete: '.pager' }
const UNFILTER: Step = { control: '.chip-remove', sign: ROWS }
const BACK: Step = { sign: ROWS }

/** The console in Chromium: how soon it shows something, and how smooth it stays. */
export const consoleBench: Bench = {
  name: 'console',
  title: 'P18: the console in a browser',
  summary: 'first view, a page of the list, frames per second while events arrive, bytes of the first page',

  async run(options) {
    await using stack = new AsyncDisposableStack()
    const sizes = options.small ? SIZES.small : SIZES.full
    const { port, token } = await startSeeded(stack, sizes, options)
    const browser = stack.use(await startConsoleBrowser(port, token))
    options.note(`Chromium ${browser.version} without a window; without a GPU it draws in software.`)
    const traffic = new OrderTraffic(port, sizes.eventsPerSecond)
    const contestants = [
      firstView('overview', browser, OVERVIEW),
      firstView('orders', browser, ORDERS),
      steps('pages', browser, ORDERS, [OLDER, NEWER]),
      steps('filter', browser, FILTERED, [UNFILTER, BACK]),
      quietFrames('quiet', browser, ORDERS),
      busyFrames('busy overview', browser, OVERVIEW, traffic),
      busyFrames('busy orders', browser, ORDERS, traffic),
    ]
    return measuresOf(await interleave(contestants, options), sizes)
  },
}

async function startSeeded(stack: AsyncDisposableStack, { orders }: Sizes, options: RoundOptions) {
  const port = await freePort()
  const { path: dataDir } = stack.use(diskDirectory())
  await seedOrders(dataDir, { orders }, options)
  stack.use(await startPlatform({ dataDir, port, modules: 'api,worker' }))
  return { port, token: await issueToken(dataDir) }
}

type Sample = Readonly<Record<string, number>>

function firstView(name: string, browser: ConsoleBrowser, view: View): Contestant<Sample> {
  return {
    name,
    async run() {
      await using opened = await browser.open(view)
      const { milliseconds, fileBytes, compressedBytes } = opened
      return { milliseconds, files: fileBytes / 1_000, compressed: compressedBytes / 1_000 }
    },
  }
}

/** The median of as many steps as the time allows. */
function steps(
  name: string,
  browser: ConsoleBrowser,
  view: View,
  sequence: readonly Step[],
): Contestant<Sample> {
  return {
    name,
    async run(forMs) {
      await using opened = await browser.open(view)
      const times: number[] = []
      const end = performance.now() + forMs
      do for (const step of sequence) times.push(await opened.time(step))
      while (performance.now() < end)
      return { milliseconds: spreadOf(times).median }
    },
  }
}

function quietFrames(name: string, browser: ConsoleBrowser, view: View): Contestant<Sample> {
  return {
    name,
    async run(forMs) {
      await using opened = await browser.open(view)
      return { ...(await opened.page.evaluate(countFrames, forMs)) }
    },
  }
}

// A list that changes all the time is read again every 2 seconds, which belongs to what is measured.
const SLICES_OF_FRAMES = 2

/** Frames while events arrive, and how long after the last event the page has the last order. */
function busyFrames(
  name: string,
  browser: ConsoleBrowser,
  view: View,
  traffic: OrderTraffic,
): Contestant<Sample> {
  return {
    name,
    async run(forMs) {
      await using opened = await browser.open(view)
      const [frames, events] = await Promise.all([
        opened.page.evaluate(countFrames, forMs * SLICES_OF_FRAMES),
        traffic.send(forMs * SLICES_OF_FRAMES),
      ])
      const start = performance.now()
      if (view === ORDERS) await opened.page.getByText(traffic.lastOrder, { exact: true }).waitFor()
      return { ...frames, events, latest: performance.now() - start }
    },
  }
}

// docs/performance.md, P18: console in a browser
const FIRST_VIEW = { unit: 'ms', must: { atMost: 1_000 } }
const PAGE = { unit: 'ms', must: { atMost: 200 } }
const FRAMES = { unit: 'frames/s', must: { atLeast: 50 } }
const WEIGHT = { unit: 'kB', must: { atMost: 100 } }

function measuresOf(rounds: readonly Round<Sample>[], { orders }: Sizes): Measure[] {
  const of = (name: string, figure = 'milliseconds') =>
    figures(rounds, name, (sample) => sample[figure] ?? NaN)
  const many = `${orders.toLocaleString('en')} orders`
  return [
    { what: `first view of the overview, ${many}`, values: of('overview'), ...FIRST_VIEW },
    { what: `first view of the orders, ${many}`, values: of('orders'), ...FIRST_VIEW },
    { what: 'the next or previous page of the orders', values: of('pages'), ...PAGE },
    { what: 'the orders of another status', values: of('filter'), ...PAGE },
    { what: 'overview while events arrive', values: of('busy overview', 'perSecond'), ...FRAMES },
    { what: 'orders while events arrive', values: of('busy orders', 'perSecond'), ...FRAMES },
    { what: 'orders without events', unit: 'frames/s', values: of('quiet', 'perSecond') },
    { what: 'files of the first page, compressed', values: of('overview', 'compressed'), ...WEIGHT },
    { what: 'files of the first page, uncompressed', unit: 'kB', values: of('overview', 'files') },
    { what: 'events meanwhile', unit: 'events/s', values: of('busy orders', 'events') },
    {
      what: 'longest time between two frames, orders',
      unit: 'ms',
      values: of('busy orders', 'longestMs'),
    },
    {
      what: 'from the last event until its order is on screen',
      unit: 'ms',
      values: of('busy orders', 'latest'),
    },
  ]
}
