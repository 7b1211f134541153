import { join } from 'node:path'
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
import { figures, ratio, type Measure } from './support/measure.ts'
import { interleave, type Round, type RoundOptions } from './support/rounds.ts'
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
    const once = await runOnce(huge, peers, options)
    return [...measuresOf(rounds, sizes, peers), ...hugeMeasures(once, sizes, peers)]
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
    {
      what: `time of a night ÷ ${name}`,
      values: ratio(rounds, 'night', name, secondsOf),
      ...(name === 'command' ? {} : TO_PEER),
    },
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
