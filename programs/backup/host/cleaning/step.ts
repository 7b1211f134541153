import type { FileChanges } from '../file-changes.ts'
import type { Shell } from '../shell.ts'
import type { WaitingClock } from '../../../../src/kernel/clock.ts'

/** The parts of the host that the steps use. */
export interface CleaningDeps {
  readonly shell: Shell
  readonly files: FileChanges
  readonly clock: WaitingClock
  /** The directory that the step `tmp` cleans. */
  readonly tmpDir: string
  /** The files that the step `media` removes. */
  readonly mediaGlobs: readonly string[]
  /** Directories that no step enters, such as that of the database, and files that no step removes. */
  readonly protectedPaths: readonly string[]
  readonly signal?: AbortSignal | undefined
  /** Where the system keeps its files; left out: where Linux keeps them. */
  readonly places?: SystemPlaces
}

export interface SystemPlaces {
  /** The caches of each package manager, by its program. */
  readonly packageCaches: Readonly<Record<'apt-get' | 'dnf', readonly string[]>>
  readonly journals: readonly string[]
  readonly memoryInfo: string
  readonly dropCaches: string
}

export const LINUX_PLACES: SystemPlaces = {
  packageCaches: { 'apt-get': ['/var/cache/apt'], dnf: ['/var/cache/dnf', '/var/cache/libdnf5'] },
  journals: ['/var/log/journal', '/run/log/journal'],
  memoryInfo: '/proc/meminfo',
  dropCaches: '/proc/sys/vm/drop_caches',
}

/** What a step has done. It throws when it has failed. */
export interface StepOutcome {
  readonly freedBytes: number
  /** What else there is to say: `3 files`. */
  readonly detail?: string | undefined
}

/** The step cannot be done on this host, which is no failure. */
export interface SkippedStep {
  readonly skipped: string
}

export type RunStep = (deps: CleaningDeps) => Promise<StepOutcome | SkippedStep>
