// A cluster with clients, on which faults come one after the other; started by ../cluster.ts in a sandbox of its own. Each
// line that it prints is a Report in JSON.
import { copyFileSync, globSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Cluster, type ClusterSize } from '../../support/hosts/cluster.ts'
import { inSandbox } from '../../support/hosts/sandbox.ts'
import { FAULTS, STREAM, type Fault } from './faults.ts'
import { requireDeliveries, requireInvariants, requireOnePrimary, untilDelivered } from './invariants.ts'
import { KINDS, Load } from './load.ts'
import { replayLost, shortenDuplicateWindow } from './replay.ts'
import { measureUsage, type Usage } from './usage.ts'

export interface WorldOptions {
  readonly size: ClusterSize
  /** How many faults of {@link FAULTS}; after the last one of the list, the first one comes again. */
  readonly faults: number
  /** Undefined: each fault lasts until all clients are served again. */
  readonly holdMs: number | undefined
}

/** What a fault has cost. Times in milliseconds. */
export interface Damage {
  readonly host: string
  readonly fault: string
  /** The slowest operation of each kind, with its repetitions. */
  readonly slowest: Readonly<Record<string, number>>
  /** From the fault until no operation was slow any more. */
  readonly normalAfter: number
  /** Whether another server of PostgreSQL has taken over. */
  readonly hasNewPrimary: boolean
  /** From the end of the fault until every event was delivered. */
  readonly deliveredAfter: number
  /** Restarts by the operator of a NATS server that acknowledged nothing. */
  readonly restarts: number
  /** Afterwards. */
  readonly usage: Usage
}

export type Report =
  | { readonly step: string }
  | { readonly damage: Damage }
  | { readonly counts: Readonly<Record<string, number>> }

// All clients have one address, and the sessions of a lost gateway must end soon.
const SETTINGS = { VPN_HEARTBEAT: '2s', VPN_CONNECTION_RATE: '10000', VPN_CONNECTION_BURST: '10000' }

async function run({ size, faults, holdMs }: WorldOptions): Promise<void> {
  const cluster = new Cluster(size, SETTINGS)
  await cluster.start((part) => report({ step: `starting ${part}` }))
  const load = await Load.start(cluster)
  await load.untilServed()
  await shortenDuplicateWindow(cluster)
  for (let number = 0; number < faults; number++) {
    const fault = FAULTS[number % FAULTS.length] as Fault
    const title = `${fault.host}, ${fault.fault}`
    report({ step: title })
    try {
      report({ damage: await tryFault(cluster, load, fault, holdMs) })
    } catch (error) {
      throw new Error(`fault ${number + 1}, ${title}`, { cause: error })
    }
  }
  await load.stop()
  const last = await untilDelivered(cluster)
  const replay = await replayLost(cluster, last)
  await untilDelivered(cluster)
  const { twice, late } = await requireDeliveries(cluster, load, last, replay)
  const promotions = await requireOnePrimary(cluster)
  const { lost, replayed } = replay
  report({
    counts: {
      ...load.counts,
      promotions,
      'messages that NATS lost': lost.size,
      'sent again': replayed.size,
      'stored twice': twice,
      'stored behind a later one of their batch': late,
    },
  })
  cluster.network.close()
}

async function tryFault(
  cluster: Cluster,
  load: Load,
  fault: Fault,
  holdMs: WorldOptions['holdMs'],
): Promise<Damage> {
  const { postgres } = cluster
  const timeline = await postgres.untilFollowed()
  const begunAt = performance.now()
  const end = await fault.begin(cluster)
  await (holdMs === undefined ? load.untilServed() : pause(holdMs))
  await end()
  const endedAt = performance.now()
  await load.untilServed()
  const restarts = await untilDeliveredByOperator(cluster)
  const deliveredAfter = performance.now() - endedAt
  const after = await postgres.untilFollowed()
  await requireInvariants(cluster, load)
  const { host, fault: name } = fault
  return {
    host,
    fault: name,
    slowest: Object.fromEntries(KINDS.map((kind) => [kind, load.slowestMs(kind, begunAt)])),
    normalAfter: load.normalAfterMs(begunAt),
    hasNewPrimary: after > timeline,
    deliveredAfter,
    restarts,
    usage: await measureUsage(cluster),
  }
}

/**
 * NATS may keep a leader that acknowledges nothing, whoever is elected (docs/decisions/0040-several-servers.md). An
 * operator then restarts its server. Returns how often.
 */
async function untilDeliveredByOperator(cluster: Cluster): Promise<number> {
  try {
    await untilDelivered(cluster)
    return 0
  } catch {
    await cluster.bus.restartLeader(STREAM)
    await untilDelivered(cluster)
    return 1
  }
}

/** The logs of the hosts end with the sandbox. */
function keepLogs(): string {
  const directory = mkdtempSync(join(tmpdir(), 'platform-cluster-'))
  for (const name of globSync('*.log', { cwd: inSandbox() }))
    copyFileSync(inSandbox(name), join(directory, name))
  return directory
}

function report(line: Report): void {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

try {
  await run(JSON.parse(process.argv[2] ?? '') as WorldOptions)
} catch (error) {
  throw new Error(`the cluster has failed; its logs are in ${keepLogs()}`, { cause: error })
}
