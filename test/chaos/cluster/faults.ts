import { eventually } from '../../support/eventually.ts'
import { fakedClock } from '../../support/jumping-clock.ts'
import type { Cluster } from '../../support/hosts/cluster.ts'
import {
  freezePrograms,
  killProgram,
  killPrograms,
  resumePrograms,
  type Host,
} from '../../support/hosts/network.ts'

/** A kind of fault on a host of a kind. */
export interface Fault {
  readonly host: string
  readonly fault: string
  /** Causes it; resolves with the function that ends it. */
  begin(cluster: Cluster): Promise<End>
}

type End = () => Promise<void> | void
type Begin = (cluster: Cluster, host: Host) => Promise<End>
type Choose = (cluster: Cluster) => Host | Promise<Host>

export const STREAM = 'PLATFORM'
const CLOCK_OFFSET_MINUTES = 5

/** The same for a host of each kind. */
const ON_A_HOST: Readonly<Record<string, Begin>> = {
  frozen: async (_, host) => {
    await freezePrograms(host)
    return () => resumePrograms(host)
  },
  'cut off': async ({ network }, host) => {
    network.cutOff(host)
    return () => network.heal()
  },
  'on a slow line': async ({ network }, host) => {
    network.slowDown(host)
    return () => network.heal()
  },
}

const ON_A_MODULE: Readonly<Record<string, Begin>> = {
  killed: killModule,
  ...ON_A_HOST,
  'cannot send to PostgreSQL': async ({ network, databases }, host) => {
    network.cutOneWay(host, databases)
    return () => network.heal()
  },
}

const CLOCKS: Readonly<Record<string, Begin>> = {
  [`with a clock ${CLOCK_OFFSET_MINUTES} min ahead`]: startWithClock(CLOCK_OFFSET_MINUTES),
  [`with a clock ${CLOCK_OFFSET_MINUTES} min behind`]: startWithClock(-CLOCK_OFFSET_MINUTES),
}

const ON_THE_PRIMARY: Readonly<Record<string, Begin>> = {
  killed: killServer,
  'killed, but not its Patroni': async (_, host) => {
    killProgram(host, 'postgres')
    return () => undefined
  },
  ...pick(ON_A_HOST, 'frozen', 'cut off'),
  'cut off from etcd': async ({ network, deciders }, host) => {
    network.cutBothWays(host, deciders)
    return () => network.heal()
  },
  'with a full disk': async ({ postgres }, host) => postgres.fillDisk(host),
  [`with a clock ${CLOCK_OFFSET_MINUTES} min ahead`]: async ({ postgres }, host) => {
    await killPrograms(host)
    postgres.startServer(host, fakedClock(CLOCK_OFFSET_MINUTES))
    return async () => {
      await killPrograms(host)
      postgres.startServer(host)
    }
  },
  'cut off from the apis': async ({ network, apis }, host) => {
    network.cutBothWays(host, apis)
    return () => network.heal()
  },
  ...pick(ON_A_HOST, 'on a slow line'),
}

const ON_THE_BUS: Readonly<Record<string, Begin>> = {
  killed: killBusServer,
  ...ON_A_HOST,
  'cannot send to the other servers': async ({ network, busHosts }, host) => {
    network.cutOneWay(
      host,
      busHosts.filter((each) => each !== host),
    )
    return () => network.heal()
  },
}

const anApi: Choose = ({ apis }) => apis.at(-1) as Host
const aWorker: Choose = ({ workers }) => workers[0] as Host
const primary: Choose = ({ postgres }) => postgres.primary()
const standby: Choose = ({ postgres }) => postgres.standby()
const decider: Choose = ({ postgres }) => postgres.decider()
const busLeader: Choose = ({ bus }) => bus.leaderOf(STREAM)

/** After these another server of PostgreSQL may have to take over. */
const DATABASE_FAULTS: readonly Fault[] = [
  ...onHost('primary of PostgreSQL', primary, ON_THE_PRIMARY),
  ...onHost('synchronous standby of PostgreSQL', standby, { killed: killServer }),
  ...onHost('leader of etcd', decider, { killed: killDecider }),
  both('primary and synchronous standby', [primary, killServer], [standby, killServer]),
  both('primary of PostgreSQL and leader of etcd', [primary, killServer], [decider, killDecider]),
  both('primary of PostgreSQL and api', [primary, killServer], [anApi, killModule]),
]

/** Every fault; a short run has the first ones. */
export const FAULTS: readonly Fault[] = [
  ...DATABASE_FAULTS,
  ...onHost('api', anApi, pick(ON_A_MODULE, 'killed')),
  ...onHost('process that delivers', findDeliverer, ON_A_MODULE),
  ...onHost('api', anApi, { ...omit(ON_A_MODULE, 'killed'), ...CLOCKS }),
  ...onHost('gateway', findBusiestGateway, { ...ON_A_MODULE, ...CLOCKS }),
  ...onHost('worker', aWorker, { ...ON_A_MODULE, ...CLOCKS }),
  ...onHost('leader of the stream', busLeader, ON_THE_BUS),
  both('api and leader of the stream', [anApi, killModule], [busLeader, killBusServer]),
  both('gateway and worker', [findBusiestGateway, killModule], [aWorker, killModule]),
]

function onHost(host: string, choose: Choose, faults: Readonly<Record<string, Begin>>): Fault[] {
  return Object.entries(faults).map(([fault, begin]) => ({
    host,
    fault,
    begin: async (cluster) => begin(cluster, await choose(cluster)),
  }))
}

function both(host: string, ...parts: readonly (readonly [Choose, Begin])[]): Fault {
  return {
    host,
    fault: 'both killed',
    async begin(cluster) {
      const chosen = await Promise.all(
        parts.map(async ([choose, begin]) => ({ host: await choose(cluster), begin })),
      )
      const ends = await Promise.all(chosen.map(async (each) => each.begin(cluster, each.host)))
      return async () => void (await Promise.all(ends.map(async (end) => end())))
    },
  }
}

/** The gateway with the most sessions: after a fault, clients stay with the other one for a while. */
async function findBusiestGateway({ postgres, gateways }: Cluster): Promise<Host> {
  return eventually('a gateway has sessions', async () => {
    const [row] = await postgres.rows(`
      select gateway from vpn_sessions where closed_at is null group by gateway order by count(*) desc limit 1`)
    return gateways.find((host) => host.name === row?.['gateway'])
  })
}

/** The host whose process holds the lease for the delivery of events: any process may. */
async function findDeliverer({ postgres, apis, gateways, workers }: Cluster): Promise<Host> {
  return eventually('a process delivers', async () => {
    const [row] = await postgres.rows(`select holder from leases where name = 'delivery'`)
    const [name] = String(row?.['holder']).split(',')
    return [...apis, ...gateways, ...workers].find((host) => host.name === name)
  })
}

function startAgain(cluster: Cluster, host: Host): Promise<void> {
  const module = cluster.moduleOf(host)
  cluster.startModule(host, module)
  return cluster.untilReady(host, module)
}

async function killModule(cluster: Cluster, host: Host): Promise<End> {
  await killPrograms(host)
  return () => startAgain(cluster, host)
}

async function killBusServer({ bus }: Cluster, host: Host): Promise<End> {
  await killPrograms(host)
  return () => bus.startServer(host)
}

async function killServer({ postgres }: Cluster, host: Host): Promise<End> {
  await killPrograms(host)
  return () => postgres.startServer(host)
}

async function killDecider({ postgres }: Cluster, host: Host): Promise<End> {
  await killPrograms(host)
  return () => postgres.startDecider(host)
}

function startWithClock(minutes: number): Begin {
  return async (cluster, host) => {
    await killPrograms(host)
    const module = cluster.moduleOf(host)
    cluster.startModule(host, module, fakedClock(minutes))
    await cluster.untilReady(host, module)
    return async () => {
      await killPrograms(host)
      await startAgain(cluster, host)
    }
  }
}

function pick<T>(faults: Readonly<Record<string, T>>, ...names: readonly string[]): Record<string, T> {
  return Object.fromEntries(Object.entries(faults).filter(([name]) => names.includes(name)))
}

function omit<T>(faults: Readonly<Record<string, T>>, ...names: readonly string[]): Record<string, T> {
  return Object.fromEntries(Object.entries(faults).filter(([name]) => !names.includes(name)))
}
