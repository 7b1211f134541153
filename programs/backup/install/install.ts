import type { Clock } from '../../../src/kernel/clock.ts'
import { AppError, errorMessage } from '../../../src/kernel/errors.ts'
import { createDirectories } from './directories.ts'
import type { InstalledEntry } from './entry.ts'
import { nextDrill, nextRun } from './next-run.ts'
import { requirePrerequisites } from './prerequisites.ts'
import { backupsDirectory, logDirectory, type InstalledProgram, type InstallSettings } from './settings.ts'
import type { TargetRoot } from './target-root.ts'
import { UnitFiles } from './unit-files.ts'
import { ENVIRONMENT_FILE, UNIT_NAMES, unitsFor, type Unit } from './units.ts'

export interface InstallDeps {
  readonly settings: InstallSettings
  readonly program: InstalledProgram
  readonly clock: Clock
  /** Runs `systemctl …`; rejects with an error that has what the command printed. */
  readonly runCommand: (command: readonly string[]) => Promise<unknown>
  /** The settings of `[backup]` that come from variables of this shell, which no unit has. */
  readonly shellVariables: readonly string[]
  /** Makes the heartbeats `backup` and `backup-restore-drill`; never rejects because the platform is away. */
  readonly registerHeartbeats: () => Promise<unknown>
}

/** The outcome of `install` and `uninstall`. */
export interface InstallReport {
  readonly entries: readonly InstalledEntry[]
  /** When the timers elapse next; undefined after `uninstall`. */
  readonly next?: { readonly run: number; readonly drill: number; readonly timeZone: string }
  /** Sentences for the person who ran it. */
  readonly notes: readonly string[]
}

/** `platform backup install --print`: all units, in the form of `systemctl cat`. */
export function printedUnits({ settings, program }: Pick<InstallDeps, 'settings' | 'program'>): string {
  return unitsFor(settings, program)
    .map(({ name, text }) => `# /etc/systemd/system/${name}\n${text}`)
    .join('\n')
}

/**
 * `platform backup install`: writes the units and the directories, and starts the timers. Throws `invalid` before it
 * writes anything when the token file or the secrets are of no use.
 */
export async function installRoutine(root: TargetRoot, deps: InstallDeps): Promise<InstallReport> {
  const { settings, program, clock } = deps
  requirePrerequisites(settings, root)
  const units = unitsFor(settings, programInside(root, program))
  const files = new UnitFiles(root)
  const entries = [
    ...createDirectories(settings, root),
    ...units.map((unit) => files.write(unit)),
    ...(await enable(units.filter(isEnabled(files)), files, root, deps)),
  ]
  await deps.registerHeartbeats()
  const { timeZone, window } = settings
  const now = clock.now()
  const next = { run: nextRun(now, timeZone, window), drill: nextDrill(now, timeZone, window), timeZone }
  return { entries, next, notes: adviceOn(entries, deps) }
}

/** `platform backup uninstall`: stops the timers, and removes the units that nobody has changed. */
export async function uninstallRoutine(root: TargetRoot, deps: InstallDeps): Promise<InstallReport> {
  const { settings, program } = deps
  const files = new UnitFiles(root)
  const units = unitsFor(settings, program)
  const disabled = await disable(units.filter(isEnabled(files)), files, root, deps)
  const removed = UNIT_NAMES.flatMap((name) => files.remove(name) ?? [])
  const dropIns = UNIT_NAMES.flatMap((name) => files.dropIns(name))
  if (root.isHost && removed.length > 0) await systemctl(deps, ['daemon-reload'])
  return { entries: [...disabled, ...removed, ...dropIns], notes: keptBy(settings) }
}

function isEnabled(files: UnitFiles): (unit: Unit) => boolean {
  return ({ name, wantedBy }) => wantedBy !== undefined && files.isOwn(name)
}

function programInside(root: TargetRoot, program: InstalledProgram): InstalledProgram {
  const { command, configFile, workingDirectory } = program
  return {
    command: command.map((word) => root.pathInside(word)),
    configFile: configFile === undefined ? undefined : root.pathInside(configFile),
    workingDirectory: root.pathInside(workingDirectory),
  }
}

async function enable(
  units: readonly Unit[],
  files: UnitFiles,
  root: TargetRoot,
  deps: InstallDeps,
): Promise<InstalledEntry[]> {
  if (!root.isHost) return units.map((unit) => files.link(unit))
  const { timers, others } = grouped(units)
  await systemctl(deps, ['daemon-reload'])
  await systemctl(deps, ['enable', '--now'], timers)
  // Not now: the self-check belongs to a boot.
  await systemctl(deps, ['enable'], others)
  return units.map(({ name }) => ({ path: name, result: 'enabled' }))
}

async function disable(
  units: readonly Unit[],
  files: UnitFiles,
  root: TargetRoot,
  deps: InstallDeps,
): Promise<InstalledEntry[]> {
  if (!root.isHost) return units.flatMap((unit) => files.unlink(unit) ?? [])
  // Only timers are stopped: a run that is in progress ends by itself.
  const { timers, others } = grouped(units)
  await systemctl(deps, ['disable', '--now'], timers)
  await systemctl(deps, ['disable'], others)
  return units.map(({ name }) => ({ path: name, result: 'disabled' }))
}

function grouped(units: readonly Unit[]): { timers: string[]; others: string[] } {
  const names = units.map(({ name }) => name)
  const isTimer = (name: string) => name.endsWith('.timer')
  return { timers: names.filter(isTimer), others: names.filter((name) => !isTimer(name)) }
}

/** `names`: the units that the command is about; it is left out if there are none. */
async function systemctl(
  { runCommand }: InstallDeps,
  command: readonly string[],
  names?: readonly string[],
): Promise<void> {
  if (names?.length === 0) return
  const words = ['systemctl', ...command, ...(names ?? [])]
  try {
    await runCommand(words)
  } catch (error) {
    const message = `${words.join(' ')}: ${errorMessage(error)}; without a running systemd, use --root`
    throw new AppError('unavailable', 'systemctl_failed', message, { cause: error })
  }
}

const LEFT_ADVICE =
  'a unit was left as it is: move its changes to a drop-in (systemctl edit UNIT), remove the file, and install again'

const isLeftUnit = ({ path, result }: InstalledEntry) =>
  result === 'left' && UNIT_NAMES.some((name) => path.endsWith(`/${name}`))

function adviceOn(entries: readonly InstalledEntry[], { shellVariables }: InstallDeps): string[] {
  return [
    ...(entries.some(isLeftUnit) ? [LEFT_ADVICE] : []),
    ...(shellVariables.length > 0
      ? [
          `only in this shell: ${shellVariables.join(', ')}; the units read ${ENVIRONMENT_FILE} and the configuration file`,
        ]
      : []),
  ]
}

function keptBy(settings: InstallSettings): string[] {
  return [
    `kept: ${backupsDirectory(settings)}, ${logDirectory(settings)}, the token file, the secrets, and everything on the drive`,
    'kept: the heartbeats "backup" and "backup-restore-drill" of the platform, which raise an alert when no run beats them; delete them with DELETE /alerts/heartbeats/<name>',
  ]
}
