import type { Bench } from './support/bench.ts'
import { startDurableOrders } from './support/durable-servers.ts'
import { requireSuccess, p99Of, rateOf } from './support/load-contestants.ts'
import { startLoadGenerator, type LoadGenerator } from './support/load-generator.ts'
import type { Slice } from './support/load.ts'
import { figures, ratio, type Measure } from './support/measure.ts'
import { postOrders } from './support/order-load.ts'
import { startPlatform } from './support/platform-server.ts'
import { createLoopProbe, type LoopDelay, type LoopProbe } from './support/probe.ts'
import { interleave, type Contestant, type Round } from './support/rounds.ts'
import { freePort } from '../test/support/loopback.ts'
import { diskDirectory } from './support/servers.ts'

const SLOW_MS = 10
const LESS_SLOW_MS = 2

/** Orders on a disk whose every fsync takes long: what the event loop notices of it, and what it costs. */
export const slowDisk: Bench = {
  name: 'slow-disk',
  title: 'P3: durable POST /orders, each fsync 10 ms longer',
  summary: 'durable POST /orders with 10 ms added to every fsync: rate, and delay of the event loop',

  async run(options) {
    await using stack = new AsyncDisposableStack()
    const generator = stack.use(startLoadGenerator())
    const contestants = [
      await onTheLoop(stack, generator),
      await ours(stack, generator, 'platform', SLOW_MS),
      await ours(stack, generator, 'less slow', LESS_SLOW_MS),
    ]
    return measuresOf(await interleave(contestants, options))
  },
}

interface Sample {
  readonly slice: Slice
  readonly delay: LoopDelay
}

async function onTheLoop(stack: AsyncDisposableStack, generator: LoadGenerator): Promise<Contestant<Sample>> {
  const { path: dataDir } = stack.use(diskDirectory())
  const port = await freePort()
  const probe = await createLoopProbe()
  stack.use(await startDurableOrders({ dataDir, port, env: probe.env, under: delayedCalls(SLOW_MS) }))
  return contestant('on the loop', port, generator, probe)
}

async function ours(
  stack: AsyncDisposableStack,
  generator: LoadGenerator,
  name: string,
  delayMs: number,
): Promise<Contestant<Sample>> {
  const { path: dataDir } = stack.use(diskDirectory())
  const port = await freePort()
  const probe = await createLoopProbe()
  stack.use(await startPlatform({ dataDir, port, env: probe.env, under: delayedCalls(delayMs) }))
  return contestant(name, port, generator, probe)
}

/** A command that starts another one, whose every fsync then takes that much longer, and nothing else. */
function delayedCalls(delayMs: number): string[] {
  const calls = 'fsync,fdatasync'
  const inject = `inject=${calls}:delay_enter=${delayMs * 1_000}`
  // -D: the program stays our child. --seccomp-bpf: other calls never stop for the tracer.
  return [
    'strace',
    '-D',
    '-f',
    '-qq',
    '--seccomp-bpf',
    '-o',
    '/dev/null',
    '-e',
    `trace=${calls}`,
    '-e',
    inject,
  ]
}

function contestant(
  name: string,
  port: number,
  generator: LoadGenerator,
  probe: LoopProbe,
): Contestant<Sample> {
  return {
    name,
    async run(forMs) {
      await probe.read()
      const slice = requireSuccess(name, await generator.apply(postOrders(port), forMs))
      return { slice, delay: await probe.read() }
    },
  }
}

// docs/performance.md, P3: a slow disk
const DELAY = { must: { atMost: 15 } }
const RATE = { must: { atLeast: 0.8 } }

function measuresOf(rounds: readonly Round<Sample>[]): Measure[] {
  const rate = ({ slice }: Sample) => rateOf(slice)
  const answerTime = ({ slice }: Sample) => p99Of(slice)
  const delay = (sample: Sample) => sample.delay.p99
  const of = (name: string, figure: (sample: Sample) => number) => figures(rounds, name, figure)
  return [
    { what: 'event loop delay, p99', unit: 'ms', values: of('platform', delay), ...DELAY },
    { what: 'rate ÷ fsync on the loop', values: ratio(rounds, 'platform', 'on the loop', rate), ...RATE },
    { what: 'platform', unit: 'requests/s', values: of('platform', rate) },
    { what: 'fsync on the loop', unit: 'requests/s', values: of('on the loop', rate) },
    {
      what: `platform, each fsync ${LESS_SLOW_MS} ms longer`,
      unit: 'requests/s',
      values: of('less slow', rate),
    },
    { what: 'platform, time of an answer, p99', unit: 'ms', values: of('platform', answerTime) },
    { what: 'fsync on the loop, event loop delay, p99', unit: 'ms', values: of('on the loop', delay) },
    {
      what: `platform, each fsync ${LESS_SLOW_MS} ms longer, event loop delay, p99`,
      unit: 'ms',
      values: of('less slow', delay),
    },
  ]
}
