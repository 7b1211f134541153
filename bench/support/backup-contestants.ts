import { execFile, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { BackupInput } from './backup-input.ts'
import type { Contestant } from './rounds.ts'

const PROGRAM = fileURLToPath(new URL('./package-program.ts', import.meta.url))
// As `platform-backup` starts: with compiled code, and packages from their bundle.
const FAST_START = new URL('../../scripts/fast-tests.mjs', import.meta.url).href
// As its systemd unit runs it.
const PRIORITY = ['-n', '10']
const run = promisify(execFile)

export interface BackupSample {
  readonly seconds: number
  /** Those until the snapshot was made, hashed and read. */
  readonly snapshotSeconds: number
  /** Bytes of the result. */
  readonly size: number
  readonly peakMegabytes: number
}

/** A script that writes a directory or a file, `$2`, from the files in `$1`, and flushes it. */
interface Peer {
  readonly program: string
  readonly script: string
}

const PEERS = {
  command: {
    program: 'zstd',
    script:
      'mkdir "$2" && tar -cf - -C "$1" platform.db logs | zstd -T0 -3 -q -o "$2/command.tar.zst" && sync "$2/command.tar.zst"',
  },
  restic: {
    program: 'restic',
    script:
      'restic -q init -r "$2" && cd "$1" && restic -q backup -r "$2" --no-cache platform.db logs && sync -f "$2"',
  },
  borg: {
    program: 'borg',
    script:
      'borg init -e repokey "$2" && cd "$1" && borg create --compression zstd,3 "$2::backup" platform.db logs && sync -f "$2"',
  },
} as const satisfies Record<string, Peer>

export type PeerName = keyof typeof PEERS

export function isInstalled(name: PeerName): boolean {
  return spawnSync(PEERS[name].program, ['--version']).error === undefined
}

// restic and borg encrypt what they store.
const PASSWORDS = { RESTIC_PASSWORD: 'bench', BORG_PASSPHRASE: 'bench' }

/** So that no contestant waits for what the one before has left to write. */
const untilDiskIsIdle = () => run('sync')

/** A full backup by another program, each time into a new place. */
export function peerContestant(name: PeerName, { directory }: BackupInput): Contestant<BackupSample> {
  return {
    name,
    async run() {
      const result = join(directory, `result-${name}`)
      const home = join(directory, `home-${name}`)
      await untilDiskIsIdle()
      const startedAt = performance.now()
      await run('sh', ['-c', PEERS[name].script, 'sh', directory, result], {
        env: { PATH: process.env['PATH'], HOME: home, BORG_BASE_DIR: home, ...PASSWORDS },
      })
      const seconds = (performance.now() - startedAt) / 1_000
      const size = bytesIn(result)
      for (const path of [result, home]) rmSync(path, { recursive: true, force: true })
      return { seconds, snapshotSeconds: Number.NaN, size, peakMegabytes: Number.NaN }
    },
  }
}

function bytesIn(directory: string): number {
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' }).map((name) =>
    join(directory, name),
  )
  return files
    .map((path) => statSync(path))
    .reduce((sum, stats) => sum + (stats.isFile() ? stats.size : 0), 0)
}

/** The package of the file as it is; its hash is known, or computed in the pass. */
export function packageContestant(
  name: string,
  input: BackupInput,
  sha256: string,
): Contestant<BackupSample> {
  return {
    name,
    async run() {
      const { directory, database, logs } = input
      const staging = join(directory, 'staging')
      mkdirSync(staging)
      await untilDiskIsIdle()
      const { stdout } = await run('nice', [
        ...PRIORITY,
        process.execPath,
        `--import=${FAST_START}`,
        PROGRAM,
        database,
        logs,
        staging,
        sha256,
      ])
      const [left] = readdirSync(staging)
      rmSync(staging, { recursive: true })
      if (left !== 'backup.tar.zst') throw new Error('the package was not written')
      return JSON.parse(stdout) as BackupSample
    },
  }
}

/** The whole pass of a night up to the upload: a consistent snapshot, its hash, the hashes of its tables, the package. */
export function nightContestant(name: string, input: BackupInput): Contestant<BackupSample> {
  return packageContestant(name, input, 'snapshot')
}
