import { globSync, readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Config } from '../../config/config.ts'
import { backupFiles } from '../backup-files.ts'
import { JOURNAL, type LogFile } from './log-files.ts'
import { shellWord } from '../../kernel/text.ts'

/** What takes space and is not needed for the platform to run, and the command that removes it. */
interface Removable {
  readonly bytes: number
  readonly command: string
}

type Places = Pick<Config, 'database' | 'dataDir'>

const PACKAGES = '/var/cache/apt/archives'
const MIB = 1_024 ** 2
/** Smaller files are not worth a line. */
const LEAST_BYTES = 16 * MIB
const MOST_FILES = 10_000
const SHOWN = 4

/** The commands that remove something from the disk of a directory or file; with nothing to remove, the one that shows what is large. */
export function roomCommands(
  config: Places,
  place: string,
  logs: readonly LogFile[] = [],
): readonly string[] {
  const found = removable(config, place, logs).filter(({ bytes }) => bytes >= LEAST_BYTES)
  if (found.length === 0) return [`du -xh ${shellWord(mountPointOf(place))} | sort -h | tail`]
  return found.slice(0, SHOWN).map(({ bytes, command }) => `${command} (${Math.round(bytes / MIB)} MiB)`)
}

/** Shows the directories with the most files on the file system of the place. */
export function inodesCommand(place: string): string {
  return `du -x --inodes ${shellWord(mountPointOf(place))} | sort -n | tail`
}

/** The largest first. Of the data backups the newest stays. */
function removable({ database, dataDir }: Places, place: string, logs: readonly LogFile[]): Removable[] {
  const file = (program: string) => (path: string) => {
    return { path, bytes: sizeOf(path), command: `${program} ${shellWord(path)}` }
  }
  const former = database.kind === 'sqlite' ? globSync(`${database.path}.before-*`) : []
  const [, ...older] = backupFiles({ database, dataDir })
  // A process goes on writing to a file that was removed.
  const written = logs.filter(({ isDeleted }) => !isDeleted).map(({ path }) => path)
  const device = deviceOf(place)
  return [
    ...[...former, ...older.map(({ path }) => path)].map(file('rm')),
    ...written.map(file('truncate -s 0')),
    { path: JOURNAL, bytes: sizeBelow(JOURNAL), command: 'journalctl --vacuum-size=200M' },
    { path: PACKAGES, bytes: sizeBelow(PACKAGES), command: 'apt-get clean' },
  ]
    .filter(({ path }) => deviceOf(path) === device)
    .toSorted((a, b) => b.bytes - a.bytes)
}

function sizeBelow(directory: string): number {
  try {
    const names = readdirSync(directory, { recursive: true, encoding: 'utf8' }).slice(0, MOST_FILES)
    return names.reduce((sum, name) => sum + sizeOf(join(directory, name)), 0)
  } catch {
    // Another user cannot look into it.
    return 0
  }
}

function sizeOf(path: string): number {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats?.isFile() === true ? stats.blocks * 512 : 0
}

function deviceOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.dev
}

/** The highest directory above the path that is on its file system. */
function mountPointOf(path: string): string {
  const above = dirname(path)
  return above === path || deviceOf(above) !== deviceOf(path) ? path : mountPointOf(above)
}
