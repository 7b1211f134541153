import { diskUsage } from './disk-usage.ts'
import { LINUX_PLACES, type RunStep } from './step.ts'

/** The package managers, and how each empties its own cache. */
const MANAGERS = [
  { program: 'apt-get', command: ['apt-get', 'clean'] },
  { program: 'dnf', command: ['dnf', 'clean', 'all'] },
] as const

/** Empties the cache of the package manager. */
export const cleanPackages: RunStep = async ({ shell, signal, places = LINUX_PLACES }) => {
  for (const { program, command } of MANAGERS) {
    const caches = places.packageCaches[program]
    const before = await diskUsage(caches, signal)
    const outcome = await shell.run(command, { signal })
    if (outcome.status === 'missing') continue
    if (outcome.status === 'failed') throw new Error(outcome.reason)
    return { freedBytes: Math.max(0, before - (await diskUsage(caches, signal))), detail: program }
  }
  return { skipped: 'neither apt-get nor dnf is installed' }
}
