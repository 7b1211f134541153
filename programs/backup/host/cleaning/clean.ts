import { readFileSync } from 'node:fs'
import { errorMessage } from '../../../../src/kernel/errors.ts'
import { MINUTE } from '../../../../src/kernel/time.ts'
import { systemErrorCode } from '../../../files/system-error.ts'
import { BackupError } from '../../errors.ts'
import { diskUsage } from './disk-usage.ts'
import { cleanMedia } from './media.ts'
import { LINUX_PLACES, type CleaningDeps, type RunStep } from './step.ts'
import { cleanTmp } from './tmp.ts'

// A daemon that hangs would make each command wait for it.
const ANSWER_TIMEOUT_MS = MINUTE

interface Engine {
  readonly program: string
  readonly commands: readonly (readonly string[])[]
}

const ENGINES: readonly Engine[] = [
  {
    program: 'docker',
    commands: [
      ['docker', 'image', 'prune', '--force'],
      ['docker', 'builder', 'prune', '--force'],
    ],
  },
  // The build cache of podman consists of dangling images.
  { program: 'podman', commands: [['podman', 'image', 'prune', '--force']] },
]

/** Removes dangling images and the build cache of each container engine that answers. */
const cleanContainers: RunStep = async ({ shell, signal }) => {
  const absent: string[] = []
  const cleaned: string[] = []
  let freedBytes = 0
  for (const { program, commands } of ENGINES) {
    // An engine without its daemon has nothing to clean up now.
    const version = await shell.ask([program, 'version'], { timeoutMs: ANSWER_TIMEOUT_MS, signal })
    if (version.status !== 'succeeded') {
      absent.push(version.reason)
      continue
    }
    for (const command of commands) {
      const outcome = await shell.run(command, { signal })
      if (outcome.status !== 'succeeded') throw new Error(outcome.reason)
      freedBytes += reclaimedBytes(outcome.output)
    }
    cleaned.push(program)
  }
  if (cleaned.length === 0) return { skipped: absent.join('; ') }
  return { freedBytes, detail: cleaned.join(', ') }
}

const UNITS: Readonly<Record<string, number>> = {
  B: 1,
  kB: 1e3,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  KiB: 1_024,
  MiB: 1_024 ** 2,
  GiB: 1_024 ** 3,
  TiB: 1_024 ** 4,
}

/** Reads the line `Total reclaimed space: 1.5GB`, or `Total:	1.5GB` of the build cache; 0 without one. */
export function reclaimedBytes(output: string): number {
  const [, amount = '0', unit = 'B'] =
    /^Total(?: reclaimed space)?:\s*([\d.]+)\s*([kKMGT]?i?B)\s*$/m.exec(output) ?? []
  return Math.round(Number(amount) * (UNITS[unit] ?? 0))
}

// Inside a container the file is read-only or missing, also for root.
const NOT_POSSIBLE_HERE: readonly unknown[] = ['ENOENT', 'EROFS', 'EACCES', 'EPERM']
// proc_sys_vm(5): pages, directory entries and inodes
const EVERYTHING = '3\n'
const CACHES = ['Buffers', 'Cached', 'SReclaimable']

/** Writes what waits for the disk, then drops the page cache. */
const dropPageCache: RunStep = async ({ shell, files, signal, places = LINUX_PLACES }) => {
  // Only clean pages can be dropped.
  const synced = await shell.run(['sync'], { signal })
  if (synced.status === 'missing') return { skipped: synced.reason }
  if (synced.status === 'failed') throw new Error(synced.reason)
  const before = cachedBytes(places.memoryInfo)
  try {
    files.write(places.dropCaches, EVERYTHING)
  } catch (error) {
    const code = systemErrorCode(error)
    if (!NOT_POSSIBLE_HERE.includes(code)) throw error
    return { skipped: `${places.dropCaches} cannot be written here (${code})` }
  }
  return { freedBytes: Math.max(0, before - cachedBytes(places.memoryInfo)) }
}

/** Reads proc_meminfo(5), whose numbers are KiB. */
function cachedBytes(memoryInfo: string): number {
  const text = readFileSync(memoryInfo, 'utf8')
  const kibibytes = CACHES.map((name) => new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1] ?? 0)
  return kibibytes.reduce((sum: number, each) => sum + Number(each), 0) * 1_024
}

/** The package managers, and how each empties its own cache. */
const MANAGERS = [
  // apt-get waits 60 seconds for the lock of dpkg (apt.conf(5)), but not for the lock of its cache.
  { program: 'apt-get', command: ['apt-get', '-o', 'DPkg::Lock::Timeout=60', 'clean'] },
  { program: 'dnf', command: ['dnf', 'clean', 'all'] },
] as const

// Another program, such as unattended upgrades, may have the lock.
const PAUSE_MS = MINUTE

/** Empties the cache of the package manager. A failure is repeated once. */
const cleanPackages: RunStep = async ({ shell, clock, signal, places = LINUX_PLACES }) => {
  for (const { program, command } of MANAGERS) {
    const caches = places.packageCaches[program]
    const before = await diskUsage(caches, signal)
    const first = await shell.run(command, { signal })
    if (first.status === 'failed' && !signal?.aborted) await clock.wait(PAUSE_MS, signal)
    const outcome = first.status === 'failed' ? await shell.run(command, { signal }) : first
    if (outcome.status === 'missing') continue
    if (outcome.status === 'failed') throw new Error(outcome.reason)
    return { freedBytes: Math.max(0, before - (await diskUsage(caches, signal))), detail: program }
  }
  return { skipped: 'neither apt-get nor dnf is installed' }
}

// The journal that is being written to stays: the reboot archives it, and the next night trims it.
const TRIM = ['journalctl', '--vacuum-time=7d']

/** Trims the system journal to 7 days. */
const cleanJournal: RunStep = async ({ shell, signal, places = LINUX_PLACES }) => {
  const before = await diskUsage(places.journals, signal)
  const outcome = await shell.run(TRIM, { signal })
  if (outcome.status === 'missing') return { skipped: outcome.reason }
  if (outcome.status === 'failed') throw new Error(outcome.reason)
  return { freedBytes: Math.max(0, before - (await diskUsage(places.journals, signal))) }
}

const STEPS = {
  packages: cleanPackages,
  journal: cleanJournal,
  tmp: cleanTmp,
  media: cleanMedia,
  containers: cleanContainers,
  'page-cache': dropPageCache,
} as const satisfies Readonly<Record<string, RunStep>>

/** A step of the setting `clean`. */
export type CleaningStep = keyof typeof STEPS

/** What a step has done. */
export interface CleaningResult {
  readonly step: CleaningStep
  readonly status: 'done' | 'skipped' | 'failed'
  readonly freedBytes: number
  /** Why it was skipped or has failed, or what else there is to say. */
  readonly detail: string
}

/**
 * Runs the steps in their order; a step that fails does not stop the others. Rejects only when the signal is aborted.
 * `onResult` is called after each step.
 */
export async function clean(
  names: readonly CleaningStep[],
  deps: CleaningDeps,
  onResult: (result: CleaningResult) => void = () => undefined,
): Promise<CleaningResult[]> {
  const results: CleaningResult[] = []
  for (const step of names) {
    const result = { step, ...(await runStep(step, deps)) }
    deps.signal?.throwIfAborted()
    onResult(result)
    results.push(result)
  }
  return results
}

async function runStep(step: CleaningStep, deps: CleaningDeps): Promise<Omit<CleaningResult, 'step'>> {
  try {
    const outcome = await STEPS[step](deps)
    if ('skipped' in outcome) return { status: 'skipped', freedBytes: 0, detail: outcome.skipped }
    return { status: 'done', freedBytes: outcome.freedBytes, detail: outcome.detail ?? '' }
  } catch (error) {
    return { status: 'failed', freedBytes: 0, detail: errorMessage(error) }
  }
}

/** One line for the log and for the alert. */
export function describeCleaning({ step, status, freedBytes, detail }: CleaningResult): string {
  if (status !== 'done') return `${step}: ${status} (${detail})`
  return `${step}: freed ${freedBytes} bytes${detail === '' ? '' : ` (${detail})`}`
}

/** The failure of the cleaning; undefined when no step has failed. */
export function cleaningFailure(results: readonly CleaningResult[]): BackupError | undefined {
  const failures = results.filter(({ status }) => status === 'failed')
  if (failures.length === 0) return undefined
  return new BackupError('clean_failed', `Cleaning has failed. ${failures.map(describeCleaning).join('; ')}`)
}
