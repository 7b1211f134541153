import type { Clock } from '../../../src/kernel/clock.ts'
import { linkActivation, systemdActivation, type CommandRunner } from './activation.ts'
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
  /** For `systemctl`. */
  readonly shell: CommandRunner
  /** The variables of this shell that settings come from; no unit has them. */
  readonly shellVariables: readonly string[]
  /** The other servers that the last run has found in its folder of the drive. */
  readonly otherServers: readonly string[]
  /** Makes the heartbeats `backup` and `backup-restore-drill`; never rejects because the platform is away. */
  readonly registerHeartbeats: () => Promise<unknown>
  /** Why the platform does not take the alerts of the routine; undefined when it does, and for an image. */
  readonly platformProblem: () => Promise<string | undefined>
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
  const { settings, program, clock, shell } = deps
  requirePrerequisites(settings, root)
  const units = unitsFor(settings, programInside(root, program))
  const files = new UnitFiles(root)
  const activation = root.isHost ? systemdActivation(shell) : linkActivation(files)
  const written = [...createDirectories(settings, root), ...units.map((unit) => files.write(unit))]
  const entries = [...written, ...(await activation.enable(units.filter(isEnabled(files))))]
  await deps.registerHeartbeats()
  const problem = await deps.platformProblem()
  const { timeZone, window } = settings
  const now = clock.now()
  const next = { run: nextRun(now, timeZone, window), drill: nextDrill(now, timeZone, window), timeZone }
  return { entries, next, notes: [...adviceOn(entries, deps), ...(problem === undefined ? [] : [problem])] }
}

/** `platform backup uninstall`: stops the timers, and removes the units that nobody has changed. */
export async function uninstallRoutine(root: TargetRoot, deps: InstallDeps): Promise<InstallReport> {
  const { settings, program, shell } = deps
  const files = new UnitFiles(root)
  const activation = root.isHost ? systemdActivation(shell) : linkActivation(files)
  const disabled = await activation.disable(unitsFor(settings, program).filter(isEnabled(files)))
  const removed = UNIT_NAMES.flatMap((name) => files.remove(name) ?? [])
  const dropIns = UNIT_NAMES.flatMap((name) => files.dropIns(name))
  if (removed.length > 0) await activation.reload()
  return { entries: [...disabled, ...removed, ...dropIns], notes: keptBy(settings) }
}

/** A unit that a person wrote is enabled or not by that person. */
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

const LEFT_ADVICE =
  'a unit was left as it is: move its changes to a drop-in (systemctl edit UNIT), remove the file, and install again'

const DRIVE_ADVICE = 'backup.drive.api_url is not set: each run fails until it is'

function adviceOn(
  entries: readonly InstalledEntry[],
  { settings, shellVariables, otherServers }: InstallDeps,
): string[] {
  const shared = `other servers have backups in the same folder of the drive: ${otherServers.join(', ')}; give each server a "root_dir" of its own in its token file`
  const variables = `only in this shell: ${shellVariables.join(', ')}; the units read ${ENVIRONMENT_FILE} and the configuration file`
  return [
    ...(entries.some(isLeftUnit) ? [LEFT_ADVICE] : []),
    ...(settings.hasDrive ? [] : [DRIVE_ADVICE]),
    ...(shellVariables.length > 0 ? [variables] : []),
    ...(otherServers.length > 0 ? [shared] : []),
  ]
}

function isLeftUnit({ path, result }: InstalledEntry): boolean {
  return result === 'left' && UNIT_NAMES.some((name) => path.endsWith(`/${name}`))
}

function keptBy(settings: InstallSettings): string[] {
  const directories = `${backupsDirectory(settings)}, ${logDirectory(settings)}`
  return [
    `kept: ${directories}, the token file, the secrets, and everything on the drive`,
    'kept: the heartbeats "backup" and "backup-restore-drill" of the platform, which raise an alert when no run beats them; delete them with DELETE /alerts/heartbeats/<name>',
  ]
}
