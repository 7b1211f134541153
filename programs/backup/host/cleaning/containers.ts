import { MINUTE } from '../../../../src/kernel/time.ts'
import type { RunStep } from './step.ts'

// A daemon that hangs would let each command wait for it.
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
export const cleanContainers: RunStep = async ({ shell, signal }) => {
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
