import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { Config, LoadedConfig } from '../../src/config/config.ts'
import { databaseLocation } from '../../src/config/address-types.ts'
import { systemClock, type WaitingClock } from '../../src/kernel/clock.ts'
import { errorMessage } from '../../src/kernel/errors.ts'
import type { Logger } from '../../src/kernel/logger.ts'
import type { DatabaseFiles } from '../../src/ports/database-files.ts'
import { NightAlerts } from './alerts/night-alerts.ts'
import { DirectoryOutboxFiles } from './alerts/outbox-files.ts'
import { PlatformClient } from './alerts/platform-client.ts'
import { DryRunDrive } from './drive/dry-run-drive.ts'
import { openRemoteDrive } from './drive/remote-drive.ts'
import { readDriveSecrets } from './drive/secrets-file.ts'
import { TokenFile } from './drive/token-file.ts'
import type { CleaningDeps } from './host/cleaning/step.ts'
import { dryRunFileChanges, hostFileChanges } from './host/file-changes.ts'
import { DryRunShell, HostShell } from './host/host-shell.ts'
import { readTokenFile } from './host/gateway-login.ts'
import { createNightHost } from './host/night-host.ts'
import { askRecognition, createPlatformReader, type Recognition } from './host/platform-reader.ts'
import type { SelfcheckPlatform } from './host/selfcheck.ts'
import type { Shell } from './host/shell.ts'
import { callSigner } from './host/signed-call.ts'
import { installSettingsOf, type InstalledProgram } from './install/index.ts'
import { timerFaults, type TimerFault } from './install/timer-faults.ts'
import { UNIT_DIRECTORY } from './install/unit-files.ts'
import { createLogFile } from './log-file.ts'
import { readIdentities } from './package/identity-file.ts'
import type { NightDeps, NightReporter, NightSettings, OpenedDrive } from './night/deps.ts'
import type { BackupState } from './night/state.ts'
import { FileStateStore, MemoryStateStore } from './night/state-file.ts'

/** What the routine gets from the process around it. */
export interface BackupRuntime {
  readonly loaded: LoadedConfig
  readonly databases: DatabaseFiles
  readonly selfcheck: SelfcheckPlatform
  /** How a unit starts this program. */
  readonly program: InstalledProgram
  readonly clock: WaitingClock
  /** Takes a line for people. */
  readonly print: (line: string) => void
  /** Takes what is being done, for a terminal. */
  readonly progress: (text: string) => void
  readonly signal?: AbortSignal | undefined
  /** Left out: the programs of this host. */
  readonly shell?: Shell
  /** Left out: where Linux keeps its files. */
  readonly places?: CleaningDeps['places']
}

export interface AlertsOptions {
  /** The directory of the outbox. */
  readonly directory?: string
  readonly logger?: Logger
  /** Ends the calls of the platform. A command that reports its own interruption leaves it out. */
  readonly signal?: AbortSignal | undefined
}

/** The paths of the routine below `install_root`. */
export function placesOf({ backup: { installRoot } }: Config) {
  const directory = join(installRoot, 'backups')
  return {
    directory,
    state: join(directory, 'state.json'),
    lock: join(directory, 'run.lock'),
    log: join(installRoot, 'logs/backend/backup.log'),
  }
}

/** The records of the last nights, for people; undefined if none is installed, or this user cannot read them. */
export function readNight(
  config: Config,
): Pick<BackupState, 'run' | 'lastSuccess' | 'drill' | 'sharedWith'> | undefined {
  const places = placesOf(config)
  const quiet = { clock: systemClock, onUnusable: () => undefined }
  if (!existsSync(places.directory)) return undefined
  try {
    return new FileStateStore(places.state, quiet).read()
  } catch {
    // The run itself reports a state that cannot be read.
    return undefined
  }
}

/** A file of secrets that the routine needs. */
export interface SecretFile {
  readonly setting: string
  readonly path: string
  /** Throws an error that says what is wrong, without anything of the file. */
  read(): void
}

/** The files of secrets that the configuration names. */
export function secretFilesOf({ backup }: Pick<Config, 'backup'>): SecretFile[] {
  const { drive, standby, encryption } = backup
  const files: readonly (readonly [string, string | undefined, (path: string) => unknown])[] = [
    ['backup.drive.token_file', drive.tokenFile, (path) => new TokenFile(path).read()],
    ['backup.drive.secrets_file', drive.secretsFile, readDriveSecrets],
    ['backup.standby.token_file', standby.tokenFile, readTokenFile],
    ['backup.encryption.identity_file', encryption.identityFile, readIdentities],
  ]
  return files.flatMap(([setting, path, read]) =>
    path === undefined ? [] : [{ setting, path, read: () => void read(path) }],
  )
}

/** The directory of the routine that is gone although its units are installed on this host; undefined if all is well. */
export function lostNightDirectory(config: Config, unitDirectory = UNIT_DIRECTORY): string | undefined {
  const { directory } = placesOf(config)
  const isInstalled = existsSync(join(unitDirectory, 'platform-backup.timer'))
  return isInstalled && !existsSync(directory) ? directory : undefined
}

/** The installed timers that elapse at other times than the configuration says. */
export function findTimerFaults(config: Config, unitDirectory = UNIT_DIRECTORY): TimerFault[] {
  return timerFaults(installSettingsOf(config), unitDirectory)
}

/** Whether the platform takes the alerts of a routine with this configuration. */
export async function recognitionOf(config: Config, clock: WaitingClock): Promise<Recognition> {
  const reader = createPlatformReader(clock, callSigner(config, clock))
  try {
    return await askRecognition(reader, config.backup.platformApi)
  } finally {
    reader.close()
  }
}

/** The routine, put together from the configuration. */
export class BackupParts implements Disposable {
  readonly runtime: BackupRuntime
  readonly config: Config
  readonly logger: Logger
  readonly state: FileStateStore
  readonly shell: Shell
  readonly #resources = new DisposableStack()

  constructor(runtime: BackupRuntime) {
    const { loaded, clock, print, shell } = runtime
    const { log, state } = placesOf(loaded.config)
    this.runtime = runtime
    this.config = loaded.config
    this.logger = createLogFile(log, { clock, onFailure: print })
    this.shell = shell ?? new HostShell({ clock })
    const onUnusable = (message: string) => {
      this.logger.error({}, message)
      print(message)
    }
    this.state = new FileStateStore(state, { clock, onUnusable })
  }

  /** Every attempt opens its own: a {@link NightAlerts} waits for the platform only for a limited time in all. */
  openAlerts({
    directory = placesOf(this.config).directory,
    logger = this.logger,
    signal,
  }: AlertsOptions = {}): NightAlerts {
    const { config } = this
    const { clock } = this.runtime
    const { backup } = config
    return new NightAlerts({
      files: new DirectoryOutboxFiles(directory),
      api: this.#resources.use(
        new PlatformClient({ url: backup.platformApi, clock, signal, sign: callSigner(config, clock) }),
      ),
      clock,
      logger,
      server: backup.server,
      serverAddr: hostname(),
      variables: {
        server_name: hostname(),
        source_path: sourcePathOf(config),
        backup_window_start: backup.windowStart,
      },
      templates: backup.templates,
      signal,
    })
  }

  /** The drive of the configuration. Throws `token_unreadable`. */
  openDrive(signal = this.runtime.signal): OpenedDrive {
    const { drive: settings, upload } = this.config.backup
    const tokenFile = new TokenFile(settings.tokenFile)
    const drive = openRemoteDrive({
      apiUrl: settings.apiUrl ?? '',
      apiPrefix: settings.apiPrefix,
      secrets: readDriveSecrets(settings.secretsFile),
      tokenFile,
      partSize: settings.partSize,
      bytesPerSecond: upload.bytesPerSecond,
      clock: this.runtime.clock,
      signal,
    })
    return { drive, rootDirectory: tokenFile.read().rootDir }
  }

  nightDeps({ isDryRun }: { readonly isDryRun: boolean }): NightDeps {
    return isDryRun ? this.#dryRunDeps() : this.#realDeps()
  }

  [Symbol.dispose](): void {
    this.#resources.dispose()
  }

  #realDeps(): NightDeps {
    return {
      ...this.#commonDeps(),
      state: this.state,
      openDrive: (signal) => this.openDrive(signal),
      alerts: logFailures(this.openAlerts(), this.logger),
      host: this.#host(this.shell, hostFileChanges),
    }
  }

  #dryRunDeps(): NightDeps {
    const { clock, print } = this.runtime
    const common = this.#commonDeps()
    return {
      ...common,
      // The archive of a failed run stays in the configured staging directory.
      settings: { ...common.settings, staging: join(common.settings.staging, 'dry-run') },
      state: new MemoryStateStore({ ...this.state.read(), remoteIds: [], abandonedIds: [] }),
      openDrive: () => ({
        drive: new DryRunDrive({ clock, print }),
        rootDirectory: new TokenFile(this.config.backup.drive.tokenFile).read().rootDir,
      }),
      alerts: printedAlerts(print),
      host: this.#host(new DryRunShell({ reader: this.shell, print }), dryRunFileChanges(print)),
    }
  }

  #commonDeps() {
    const { databases, clock, progress, signal } = this.runtime
    return { settings: nightSettingsOf(this.config), clock, logger: this.logger, databases, progress, signal }
  }

  #host(shell: Shell, files: typeof hostFileChanges) {
    const { clock, signal, places } = this.runtime
    const { config, logger } = this
    const platform = createPlatformReader(clock, callSigner(config, clock))
    this.#resources.defer(() => platform.close())
    return createNightHost({
      config,
      clock,
      logger,
      shell,
      files,
      platform,
      signal,
      ...(places && { places }),
    })
  }
}

function nightSettingsOf(config: Config): NightSettings {
  const { backup } = config
  return {
    timeZone: backup.timeZone,
    windowStart: backup.windowStart,
    windowEnd: backup.windowEnd,
    retryEveryMs: backup.retryEveryMs,
    server: backup.server,
    hostName: hostname(),
    madeBy: `${hostname()}:${backup.installRoot}`,
    sourcePath: sourcePathOf(config),
    certificates: join(config.dataDir, 'certs'),
    logs: backup.logs,
    optionalLogs: backup.logsOptional,
    staging: backup.staging,
    compression: backup.compression,
    recipients: backup.encryption.recipients,
    remoteKeep: backup.remoteKeep,
    reboot: backup.reboot,
  }
}

/** The database, without the login of its server. */
function sourcePathOf({ backup, database }: Config): string {
  return databaseLocation.format(backup.database ?? database)
}

/** Logs alerts that cannot be stored, such as on a full disk, instead of failing the run. */
function logFailures(alerts: NightAlerts, logger: Logger): NightReporter {
  const attempt = async (what: string, work: Promise<unknown>) => {
    await work.catch((error: unknown) =>
      logger.error({ reason: errorMessage(error) }, `${what} was not stored`),
    )
  }
  return {
    report: (event, variables, details) =>
      attempt(`the alert ${event}`, alerts.report(event, variables, details)),
    openTicket: (ticket) => attempt(`the ticket "${ticket.title}"`, alerts.openTicket(ticket)),
    beat: (name) => attempt(`the beat of ${name}`, alerts.beat(name)),
    deliver: () => alerts.deliver(),
  }
}

function printedAlerts(print: (line: string) => void): NightReporter {
  return {
    async report(event) {
      print(`would report: ${event}`)
    },
    async openTicket(ticket) {
      print(`would open the ticket: ${ticket.title}`)
    },
    async beat(name) {
      print(`would beat: ${name}`)
    },
    deliver: async () => undefined,
  }
}
