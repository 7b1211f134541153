import { MINUTE } from '../../../../src/kernel/time.ts'
import { diskUsage } from './disk-usage.ts'
import { LINUX_PLACES, type RunStep } from './step.ts'

/** The package managers, and how each empties its own cache. */
const MANAGERS = [
  // It waits 60 seconds for the lock of dpkg (apt.conf(5)), but not for that of its cache.
  { program: 'apt-get', command: ['apt-get', '-o', 'DPkg::Lock::Timeout=60', 'clean'] },
  { program: 'dnf', command: ['dnf', 'clean', 'all'] },
] as const

// Another program, such as that of unattended upgrades, may have the lock.
const PAUSE_MS = MINUTE

/** Empties the cache of the package manager. A failure is repeated once. */
export const cleanPackages: RunStep = async ({ shell, clock, signal, places = LINUX_PLACES }) => {
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
