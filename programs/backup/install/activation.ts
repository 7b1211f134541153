import { AppError } from '../../../src/kernel/errors.ts'
import type { InstalledEntry } from './entry.ts'
import type { UnitFiles } from './unit-files.ts'
import type { Unit } from './units.ts'

/** Makes systemd start units, and stop doing so. */
export interface Activation {
  enable(units: readonly Unit[]): Promise<InstalledEntry[]>
  disable(units: readonly Unit[]): Promise<InstalledEntry[]>
  /** Makes files known that were removed. */
  reload(): Promise<void>
}

/** Runs programs of this host; never rejects. */
export interface CommandRunner {
  run(command: readonly string[]): Promise<CommandResult>
}

type CommandResult =
  | { readonly status: 'succeeded' }
  | { readonly status: 'failed' | 'missing'; readonly reason: string }

/** The units of an image: links that its systemd finds when it starts. */
export function linkActivation(files: UnitFiles): Activation {
  return {
    enable: async (units) => units.map((unit) => files.link(unit)),
    disable: async (units) => units.flatMap((unit) => files.unlink(unit) ?? []),
    reload: async () => undefined,
  }
}

/** The units of this host, by `systemctl`. */
export function systemdActivation(shell: CommandRunner): Activation {
  return {
    async enable(units) {
      const { timers, services } = groupByKind(units)
      await systemctl(shell, ['daemon-reload'])
      if (timers.length > 0) await systemctl(shell, ['enable', '--now', ...timers])
      // Not now: the self-check belongs to a boot.
      if (services.length > 0) await systemctl(shell, ['enable', ...services])
      return units.map(({ name }) => ({ path: name, result: 'enabled' }))
    },
    async disable(units) {
      const { timers, services } = groupByKind(units)
      // Only timers are stopped: a run that is in progress ends by itself.
      if (timers.length > 0) await systemctl(shell, ['disable', '--now', ...timers])
      if (services.length > 0) await systemctl(shell, ['disable', ...services])
      return units.map(({ name }) => ({ path: name, result: 'disabled' }))
    },
    reload: () => systemctl(shell, ['daemon-reload']),
  }
}

function groupByKind(units: readonly Unit[]): { timers: string[]; services: string[] } {
  const names = units.map(({ name }) => name)
  const isTimer = (name: string) => name.endsWith('.timer')
  return { timers: names.filter(isTimer), services: names.filter((name) => !isTimer(name)) }
}

async function systemctl(shell: CommandRunner, args: readonly string[]): Promise<void> {
  const result = await shell.run(['systemctl', ...args])
  if (result.status === 'succeeded') return
  const message = `systemctl ${args.join(' ')}: ${result.reason}; without a running systemd, use --root`
  throw new AppError('unavailable', 'systemctl_failed', message)
}
