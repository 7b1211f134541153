import { existsSync, chmodSync, mkdirSync, statSync, type Stats } from 'node:fs'
import { join, dirname } from 'node:path'
import type { Clock } from '../../../src/kernel/clock.ts'
import { AppError, errorMessage } from '../../../src/kernel/errors.ts'
import { readDriveSecrets } from '../drive/secrets-file.ts'
import { TokenFile } from '../drive/token-file.ts'
import type { InstalledEntry } from './entry.ts'
import { nextDrill, nextRun } from './next-run.ts'
import { backupsDirectory, logDirectory, type InstalledProgram, type InstallSettings } from './settings.ts'
import type { TargetRoot } from './target-root.ts'
import { timerFaults, type TimerFault } from './timer-faults.ts'
import { UNIT_DIRECTORY, UnitFiles } from './unit-files.ts'
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
export function formatUnits({ settings, program }: Pick<InstallDeps, 'settings' | 'program'>): string {
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
  const entries = [...written, ...(await activation.enable(units.filter((unit) => isEnabled(unit, files))))]
  await deps.registerHeartbeats()
  const problem = await deps.platformProblem()
  const { timeZone, window } = settings
  const now = clock.now()
  const next = { run: nextRun(now, timeZone, window), drill: nextDrill(now, timeZone, window), timeZone }
  const timers = timerFaults(settings, root.locate(UNIT_DIRECTORY)).map(timerAdvice)
  return {
    entries,
    next,
    notes: [...adviceOn(entries, deps), ...timers, ...(problem === undefined ? [] : [problem])],
  }
}

/** `platform backup uninstall`: stops the timers, and removes the units that nobody has changed. */
export async function uninstallRoutine(root: TargetRoot, deps: InstallDeps): Promise<InstallReport> {
  const { settings, program, shell } = deps
  const files = new UnitFiles(root)
  const activation = root.isHost ? systemdActivation(shell) : linkActivation(files)
  const disabled = await activation.disable(
    unitsFor(settings, program).filter((unit) => isEnabled(unit, files)),
  )
  const removed = UNIT_NAMES.flatMap((name) => files.remove(name) ?? [])
  const dropIns = UNIT_NAMES.flatMap((name) => files.dropIns(name))
  if (removed.length > 0) await activation.reload()
  return { entries: [...disabled, ...removed, ...dropIns], notes: leftAfterUninstall(settings) }
}

/** Whether the routine enables the unit. One that a person wrote is enabled or disabled by that person. */
function isEnabled({ name, wantedBy }: Unit, files: UnitFiles): boolean {
  return wantedBy !== undefined && files.isOwn(name)
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

function timerAdvice({ name, calendar, expected, remedy }: TimerFault): string {
  return `${name} elapses at ${calendar.join(', ')}, and by the configuration at ${expected.join(', ')}: ${remedy}`
}

function isLeftUnit({ path, result }: InstalledEntry): boolean {
  return result === 'left' && UNIT_NAMES.some((name) => path.endsWith(`/${name}`))
}

function leftAfterUninstall(settings: InstallSettings): string[] {
  const directories = `${backupsDirectory(settings)}, ${logDirectory(settings)}`
  return [
    `kept: ${directories}, the token file, the secrets, and everything on the drive`,
    'kept: the heartbeats "backup" and "backup-restore-drill" of the platform, which raise an alert when no run beats them; delete them with DELETE /alerts/heartbeats/<name>',
  ]
}

const ZONES = '/usr/share/zoneinfo'

/** Throws one error with everything that would make each night fail. Nothing may be written before. */
function requirePrerequisites(settings: InstallSettings, root: TargetRoot): void {
  const checks = [
    () => void new TokenFile(existingFile(settings.tokenFile, root)).read(),
    () => void readDriveSecrets(existingFile(settings.secretsFile, root)),
    () => requireZone(settings.timeZone, root),
  ]
  const problems = checks.flatMap(problemOf)
  if (problems.length > 0) throw new AppError('invalid', 'backup_not_ready', problems.join('\n'))
}

/** The file of the image; if the image does not have it yet, the file of this host. */
function existingFile(path: string, root: TargetRoot): string {
  const located = root.locate(path)
  return existsSync(located) ? located : path
}

/**
 * Refuses a zone that systemd does not know, because it would never start the timer. Some names are only in the package
 * tzdata-legacy. An image without zones cannot be checked.
 */
function requireZone(timeZone: string, root: TargetRoot): void {
  const zones = root.locate(ZONES)
  const canBeChecked = root.isHost || existsSync(zones)
  if (timeZone === 'UTC' || !canBeChecked || existsSync(join(zones, timeZone))) return
  throw new Error(
    `backup.time_zone: systemd does not know ${timeZone}, which is not in ${zones}; install tzdata or tzdata-legacy, or name another zone`,
  )
}

function problemOf(check: () => void): string[] {
  try {
    check()
    return []
  } catch (error) {
    return [errorMessage(error)]
  }
}

// Set explicitly, so that the umask of a person's shell does not matter.
const PARENT_MODE = 0o755
const OTHERS = 0o007

/** The directories of the routine. State and staging contain what the database contains, so only root may read them. */
function createDirectories(settings: InstallSettings, root: TargetRoot): InstalledEntry[] {
  const modes = new Map([
    [backupsDirectory(settings), 0o700],
    [settings.staging, 0o700],
    [logDirectory(settings), 0o750],
  ])
  return [...modes].map(([path, mode]) => createDirectory(root.locate(path), mode))
}

function createDirectory(path: string, mode: number): InstalledEntry {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats) return inspect(path, stats, mode)
  const first = mkdirSync(dirname(path), { recursive: true, mode: PARENT_MODE })
  if (first !== undefined) openParents(dirname(path), first)
  mkdirSync(path)
  chmodSync(path, mode)
  return { path, result: 'created', note: `mode ${octalText(mode)}` }
}

/** A directory that is there keeps its owner and its mode. */
function inspect(path: string, { uid, mode }: Stats, wanted: number): InstalledEntry {
  if (uid !== process.getuid?.())
    return {
      path,
      result: 'left',
      note: `it belongs to the user ${uid}, who can replace what is in it; chown root it`,
    }
  if ((mode & OTHERS) === 0) return { path, result: 'unchanged' }
  return {
    path,
    result: 'left',
    note: `mode ${octalText(mode)}: every user may read it; chmod ${octalText(wanted)} it`,
  }
}

function openParents(path: string, first: string): void {
  chmodSync(path, PARENT_MODE)
  if (path !== first) openParents(dirname(path), first)
}

function octalText(mode: number): string {
  return (mode & 0o777).toString(8)
}

/** Makes systemd start units, and stop doing so. */
interface Activation {
  enable(units: readonly Unit[]): Promise<InstalledEntry[]>
  disable(units: readonly Unit[]): Promise<InstalledEntry[]>
  /** Makes files known that were removed. */
  reload(): Promise<void>
}

/** Runs programs of this host; never rejects. */
interface CommandRunner {
  run(command: readonly string[]): Promise<CommandResult>
}

type CommandResult =
  | { readonly status: 'succeeded' }
  | { readonly status: 'failed' | 'missing'; readonly reason: string }

/** The units of an image: links that its systemd finds when it starts. */
function linkActivation(files: UnitFiles): Activation {
  return {
    enable: async (units) => units.map((unit) => files.link(unit)),
    disable: async (units) => units.flatMap((unit) => files.unlink(unit) ?? []),
    reload: async () => undefined,
  }
}

/** The units of this host, by `systemctl`. */
function systemdActivation(shell: CommandRunner): Activation {
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
