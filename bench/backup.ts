import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Bench } from './support/bench.ts'
import { figures, ratio, type Measure } from './support/measure.ts'
import { interleave, type Contestant, type Round } from './support/rounds.ts'
import { diskDirectory } from './support/servers.ts'

const PROGRAM = fileURLToPath(new URL('./support/package-program.ts', import.meta.url))
const MEGABYTE = 1_024 ** 2
const run = promisify(execFile)

interface Sample {
  readonly seconds: number
  /** Bytes of the result. */
  readonly size: number
  readonly peakMegabytes: number
}

interface Input {
  readonly directory: string
  readonly database: string
  readonly logs: string
  /** Of the database, as the step that makes the snapshot knows it. */
  readonly sha256: string
}

/** The package of a database with logs, beside tar and zstd; memory at two sizes. */
export const backup: Bench = {
  name: 'backup',
  title: 'P9: the package of the nightly backup',
  summary: 'one pass of tar, zstd, sha256 and sha1, beside tar | zstd -T0 -3',

  async run(options) {
    using disk = diskDirectory()
    const sizes = options.small ? { large: 8, small: 2 } : { large: 1_024, small: 256 }
    options.onSlice('writing the database and the logs')
    const large = await makeInput(join(disk.path, 'large'), sizes.large)
    const small = await makeInput(join(disk.path, 'small'), sizes.small)
    const rounds = await interleave(
      [
        commandContestant('command', large),
        packageContestant('package', large, large.sha256),
        packageContestant('unhashed', large, ''),
        packageContestant('smaller', small, small.sha256),
      ],
      options,
    )
    return measuresOf(rounds, sizes)
  },
}

/** Nine tenths are the database. Half of each record is random, so that it compresses about as data does. */
async function makeInput(directory: string, megabytes: number): Promise<Input> {
  const logs = join(directory, 'logs')
  mkdirSync(logs, { recursive: true })
  const database = join(directory, 'platform.db')
  const sha256 = await writeRecords(database, Math.ceil(megabytes * 0.9))
  for (let log = 1; log <= 4; log++) await writeRecords(join(logs, `${log}.log`), Math.ceil(megabytes / 40))
  return { directory, database, logs, sha256 }
}

// Numerical Recipes, chapter 7: enough for content that does not repeat
const MULTIPLIER = 1_664_525
const INCREMENT = 1_013_904_223

async function writeRecords(path: string, megabytes: number): Promise<string> {
  const hash = createHash('sha256')
  await using file = await open(path, 'wx')
  let seed = 1
  for (let written = 0; written < megabytes; written++) {
    const lines: string[] = []
    for (let length = 0; length < MEGABYTE; length += lines.at(-1)?.length ?? 1) {
      seed = (Math.imul(seed, MULTIPLIER) + INCREMENT) >>> 0
      const text = `${seed.toString(36)}${Math.imul(seed, 31).toString(36)}`
      lines.push(
        `{"order_id":"${text}","platform":"shop","status":"paid","amount_cents":${seed % 100_000}}\n`,
      )
    }
    const block = Buffer.from(lines.join('')).subarray(0, MEGABYTE)
    hash.update(block)
    await file.writeFile(block)
  }
  return hash.digest('hex')
}

function commandContestant(name: string, { directory }: Input): Contestant<Sample> {
  return {
    name,
    async run() {
      const result = join(directory, 'command.tar.zst')
      const startedAt = performance.now()
      const pipe = 'tar -cf - -C "$1" platform.db logs | zstd -T0 -3 -q -o "$2" && sync "$2"'
      await run('sh', ['-c', pipe, 'sh', directory, result])
      const seconds = (performance.now() - startedAt) / 1_000
      const { size } = statSync(result)
      rmSync(result)
      return { seconds, size, peakMegabytes: Number.NaN }
    },
  }
}

function packageContestant(
  name: string,
  { directory, database, logs }: Input,
  sha256: string,
): Contestant<Sample> {
  return {
    name,
    async run() {
      const staging = join(directory, 'staging')
      mkdirSync(staging)
      const { stdout } = await run(process.execPath, [PROGRAM, database, logs, staging, sha256])
      const [left] = readdirSync(staging)
      rmSync(staging, { recursive: true })
      if (left !== 'backup.tar.zst') throw new Error('the package was not written')
      return JSON.parse(stdout) as Sample
    },
  }
}

// docs/performance.md, P9: the package of the nightly backup
const TO_COMMAND = { must: { atMost: 1.15 }, better: { atMost: 1 } }
const PEAK = { must: { atMost: 200 } }

function measuresOf(rounds: readonly Round<Sample>[], sizes: { large: number; small: number }): Measure[] {
  const seconds = ({ seconds: each }: Sample) => each
  const peak = ({ peakMegabytes }: Sample) => peakMegabytes
  const rate = (what: string, name: string) => ({
    what,
    unit: 'MB/s',
    values: figures(rounds, name, (sample) => sizes.large / sample.seconds),
  })
  return [
    { what: 'time, package ÷ command', values: ratio(rounds, 'package', 'command', seconds), ...TO_COMMAND },
    {
      what: 'time with the hash of the database ÷ command',
      values: ratio(rounds, 'unhashed', 'command', seconds),
    },
    { what: 'size, package ÷ command', values: ratio(rounds, 'package', 'command', ({ size }) => size) },
    { what: `peak memory, ${sizes.large} MB`, unit: 'MB', values: figures(rounds, 'package', peak), ...PEAK },
    { what: `peak memory, ${sizes.small} MB`, unit: 'MB', values: figures(rounds, 'smaller', peak), ...PEAK },
    rate('tar | zstd -T0 -3', 'command'),
    rate('package', 'package'),
  ]
}
