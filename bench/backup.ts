import { join } from 'node:path'
import { freePort } from '../test/support/loopback.ts'
import {
  isInstalled,
  nightContestant,
  packageContestant,
  peerContestant,
  type BackupSample,
  type PeerName,
} from './support/backup-contestants.ts'
import { makeBackupInput, type BackupInput } from './support/backup-input.ts'
import type { Bench } from './support/bench.ts'
import { p99Of, rateOf } from './support/load-contestants.ts'
import { startLoadGenerator } from './support/load-generator.ts'
import { figures, ratio, type Measure } from './support/measure.ts'
import { orderDuring, type OrdersDuring } from './support/orders-during.ts'
import { startPlatform } from './support/platform-server.ts'
import { interleave, type Contestant, type Round, type RoundOptions } from './support/rounds.ts'
import { diskDirectory } from './support/servers.ts'

/** In megabytes. The huge one is measured once, for it takes minutes. */
interface Sizes {
  readonly huge: number
  readonly large: number
  readonly small: number
}

const FULL: Sizes = { huge: 10_240, large: 1_024, small: 256 }
const SHORT: Sizes = { huge: 16, large: 8, small: 2 }

/** The package of a database with logs, beside tar and zstd, restic and borg; memory at three sizes. */
export const backup: Bench = {
  name: 'backup',
  title: 'P9: the package of the nightly backup',
  summary: 'snapshot, tar, zstd, sha256 and sha1 in one pass, beside tar | zstd -T0 -3, restic and borg',

  async run(options) {
    using disk = diskDirectory()
    const sizes = options.small ? SHORT : FULL
    const inputs = await makeInputs(disk.path, sizes, options)
    const peers = installedPeers(options)
    const { large, small, huge } = inputs
    const rounds = await interleave(
      [
        ...peers.map((name) => peerContestant(name, large)),
        packageContestant('package', large, large.sha256),
        packageContestant('unhashed', large, ''),
        nightContestant('night', large),
        nightContestant('small night', small),
      ],
      options,
    )
    const orders = await orderBeside(large, options)
    const once = await runOnce(huge, peers, options)
    return [
      ...measuresOf(rounds, sizes, peers),
      ...orderMeasures(orders),
      ...hugeMeasures(once, sizes, peers),
    ]
  },
}

async function makeInputs(
  directory: string,
  sizes: Sizes,
  { onSlice }: RoundOptions,
): Promise<Record<keyof Sizes, BackupInput>> {
  const make = async (name: keyof Sizes) => {
    onSlice(`writing ${sizes[name]} MB of a database and logs`)
    return makeBackupInput(join(directory, name), sizes[name])
  }
  return { huge: await make('huge'), large: await make('large'), small: await make('small') }
}

function installedPeers({ note }: RoundOptions): PeerName[] {
  const names: readonly PeerName[] = ['command', 'restic', 'borg']
  const installed = names.filter((name) => isInstalled(name))
  for (const name of names.filter((each) => !installed.includes(each)))
    note(`${name} is not installed, and was not measured.`)
  return installed
}

/** What the clients of the platform notice of a package that is written on the same machine. */
async function orderBeside(input: BackupInput, options: RoundOptions): Promise<Round<OrdersDuring>[]> {
  await using stack = new AsyncDisposableStack()
  const { path: dataDir } = stack.use(diskDirectory())
  const port = await freePort()
  stack.use(await startPlatform({ dataDir, port }))
  const world = { port, generator: stack.use(startLoadGenerator()) }
  const { run } = packageContestant('package', input, input.sha256)
  const secondsOfPackage = async () => (await run(0)).seconds
  const contestants: Contestant<OrdersDuring>[] = [
    { name: 'orders', run: (forMs) => orderDuring(world, forMs, () => Promise.resolve(0)) },
    { name: 'orders meanwhile', run: (forMs) => orderDuring(world, forMs, secondsOfPackage) },
  ]
  return await interleave(contestants, options)
}

/** Each contestant once, without warming up: the processor is not what a backup of this size waits for. */
async function runOnce(
  input: BackupInput,
  peers: readonly PeerName[],
  { signal, onSlice }: RoundOptions,
): Promise<Round<BackupSample>> {
  const contestants = [...peers.map((name) => peerContestant(name, input)), nightContestant('night', input)]
  const samples = new Map<string, BackupSample>()
  for (const { name, run } of contestants) {
    signal.throwIfAborted()
    onSlice(`the huge backup: ${name}`)
    samples.set(name, await run(0))
  }
  return samples
}

// docs/performance.md, P9: the package of the nightly backup
const TO_COMMAND = { must: { atMost: 1.15 }, better: { atMost: 1 } }
const TO_PEER = { must: { atMost: 0.625 } }
const PEAK = { must: { atMost: 200 } }
const P99 = { must: { atMost: 3 } }

const secondsOf = ({ seconds }: BackupSample) => seconds
const sizeOf = ({ size }: BackupSample) => size
const peakOf = ({ peakMegabytes }: BackupSample) => peakMegabytes

function measuresOf(
  rounds: readonly Round<BackupSample>[],
  sizes: Sizes,
  peers: readonly PeerName[],
): Measure[] {
  const rate = (name: string) => ({
    what: name === 'command' ? 'tar | zstd -T0 -3' : name,
    unit: 'MB/s',
    values: figures(rounds, name, ({ seconds }) => sizes.large / seconds),
  })
  const beside = peers.flatMap((name) => [
    ...(name === 'command'
      ? []
      : [{ what: `time, package ÷ ${name}`, values: ratio(rounds, 'package', name, secondsOf), ...TO_PEER }]),
    { what: `time of a night ÷ ${name}`, values: ratio(rounds, 'night', name, secondsOf) },
    { what: `size, package ÷ ${name}`, values: ratio(rounds, 'package', name, sizeOf) },
  ])
  const command = peers.includes('command')
    ? [
        {
          what: 'time, package ÷ command',
          values: ratio(rounds, 'package', 'command', secondsOf),
          ...TO_COMMAND,
        },
        {
          what: 'time with the hash of the database ÷ command',
          values: ratio(rounds, 'unhashed', 'command', secondsOf),
        },
      ]
    : []
  return [
    ...command,
    ...beside,
    peak(rounds, 'night', sizes.large),
    peak(rounds, 'small night', sizes.small),
    {
      what: 'snapshot, its hash and the hashes of its tables',
      unit: 'MB/s',
      values: figures(rounds, 'night', ({ snapshotSeconds }) => sizes.large / snapshotSeconds),
    },
    ...[...peers, 'package', 'night'].map(rate),
  ]
}

function orderMeasures(rounds: readonly Round<OrdersDuring>[]): Measure[] {
  return [
    {
      what: 'p99 of orders during a package ÷ without one',
      values: ratio(rounds, 'orders meanwhile', 'orders', p99Of),
      ...P99,
    },
    {
      what: 'rate of orders during a package ÷ without one',
      values: ratio(rounds, 'orders meanwhile', 'orders', rateOf),
    },
    { what: 'orders alone, p99', unit: 'ms', values: figures(rounds, 'orders', p99Of) },
  ]
}

function hugeMeasures(round: Round<BackupSample>, { huge }: Sizes, peers: readonly PeerName[]): Measure[] {
  return [
    ...peers.map((name) => ({
      what: `time of a night ÷ ${name}, ${huge} MB, once`,
      values: ratio([round], 'night', name, secondsOf),
    })),
    peak([round], 'night', huge),
  ]
}

function peak(rounds: readonly Round<BackupSample>[], name: string, megabytes: number): Measure {
  return {
    what: `peak memory of a night, ${megabytes} MB`,
    unit: 'MB',
    values: figures(rounds, name, peakOf),
    ...PEAK,
  }
}
