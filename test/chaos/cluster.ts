import assert from 'node:assert/strict'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import type { Readable } from 'node:stream'
import { FULL_SIZE, type ClusterSize } from '../support/hosts/cluster.ts'
import { missingForSandbox, REQUIRED_FOR_ALL, spawnInSandbox } from '../support/hosts/sandbox.ts'
import { missingFaketime } from '../support/jumping-clock.ts'
import { FAULTS } from './cluster/faults.ts'
import type { Damage, Report, WorldOptions } from './cluster/world.ts'
import { figuresText, type Figures, type Scenario, type Trial } from './support/scenario.ts'

const WORLD = join(import.meta.dirname, 'cluster/world.ts')
const SMALL_SIZE: ClusterSize = { apis: 2, gateways: 1, workers: 1, withProxy: true }
// Longer than a lease, than the time after which a client of the VPN leaves a silent gateway, and than the choice of another
// primary takes.
const HOLD_MS = 20_000
// Some faults leave no primary as long as they last; then one must be chosen, and the apis must find it.
const LIMIT_MS = HOLD_MS + 20_000

export const cluster: Scenario = {
  name: 'cluster',
  row: 'R-32',
  promise: 'the platform on many hosts loses nothing that it has acknowledged when one of them fails, or two',
  unit: 'faults',
  rounds: { short: 1, brief: Math.ceil(FAULTS.length / 2), full: FAULTS.length },
  unsupported: () => missingForSandbox(REQUIRED_FOR_ALL) ?? missingFaketime(),
  parts: [{ title: 'each fault on a host of each kind', run: loseHosts }],
}

async function loseHosts(trial: Trial): Promise<Figures> {
  const isFull = trial.rounds > 1
  const { damages, counts, failure } = await runWorld(trial, {
    size: isFull ? FULL_SIZE : SMALL_SIZE,
    faults: trial.rounds,
    holdMs: isFull ? HOLD_MS : undefined,
  })
  const usage = usageFigures(damages)
  // What an hour has shown is worth reading even if its last check fails.
  assert.equal(failure, undefined, `${figuresText(usage)}\n${failure}`)
  assert.equal(damages.length, trial.rounds)
  for (const { host, fault, normalAfter } of damages)
    trial.requireTime(`normal service after: ${host}, ${fault}`, normalAfter, LIMIT_MS)
  const restarts = damages.reduce((sum, each) => sum + each.restarts, 0)
  return {
    ...counts,
    lost: 0,
    'restarts of NATS by the operator': restarts,
    'next order after the loss of a primary': distributionOf(
      damages.filter(({ hasNewPrimary }) => hasNewPrimary).map(({ slowest }) => slowest['orders'] ?? 0),
    ),
    ...usage,
    ...Object.fromEntries(damages.slice(-FAULTS.length).map(figureOf)),
  }
}

/** How many, and their distribution in seconds. */
function distributionOf(values: readonly number[]): string {
  const seconds = values.map((ms) => ms / 1_000)
  const ranges = [0, 5, 10, 15, 20, 40].map((from, index, all) => {
    const to = all[index + 1] ?? Number.POSITIVE_INFINITY
    const count = seconds.filter((each) => each >= from && each < to).length
    return `${from}${Number.isFinite(to) ? `–${to}` : '+'} s: ${count}`
  })
  return `${values.length}; median ${medianOf(seconds).toFixed(1)} s; ${ranges.join(', ')}`
}

/** A longer run repeats the faults: these figures then tell whether anything grows. */
function usageFigures(damages: readonly Damage[]): Figures {
  const usages = damages.map(({ usage }) => usage)
  return {
    faults: damages.length,
    'MB of the largest process': course(usages.map(({ megabytes }) => megabytes)),
    'open files': course(usages.map(({ openFiles }) => openFiles)),
    'connections of PostgreSQL': course(usages.map(({ connections }) => connections)),
  }
}

/** The median of each quarter of the run. */
function course(values: readonly number[]): string {
  const quarter = Math.ceil(values.length / 4)
  const quarters = [0, 1, 2, 3].map((index) => values.slice(index * quarter, (index + 1) * quarter))
  return quarters.flatMap((part) => (part.length > 0 ? [Math.round(medianOf(part))] : [])).join(' → ')
}

function medianOf(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0
}

function figureOf({ host, fault, slowest, normalAfter, deliveredAfter }: Damage): [string, string] {
  const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`
  const kinds = Object.entries(slowest).map(([kind, ms]) => `${kind} ${seconds(ms)}`)
  const text = `${kinds.join(', ')}; normal after ${seconds(normalAfter)}, delivered after ${seconds(deliveredAfter)}`
  return [`\n${host}, ${fault}`, text]
}

async function runWorld({ signal, show }: Trial, options: WorldOptions) {
  const world = spawnInSandbox([WORLD, JSON.stringify(options)], ['ignore', 'pipe', 'pipe'])
  const stop = () => world.kill('SIGKILL')
  signal.addEventListener('abort', stop, { once: true })
  const [stdout, stderr] = [world.stdout, world.stderr] as [Readable, Readable]
  const damages: Damage[] = []
  let counts: Readonly<Record<string, number>> | undefined
  const read = async () => {
    for await (const line of createInterface({ input: stdout })) {
      const report = JSON.parse(line) as Report
      if ('step' in report) show(report.step)
      else if ('damage' in report) damages.push(report.damage)
      else counts = report.counts
    }
  }
  const [errors, [code]] = await Promise.all([text(stderr), once(world, 'close'), read()])
  return { damages, counts, failure: code === 0 ? undefined : errors }
}
