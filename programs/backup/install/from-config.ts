import type { Config, LoadedConfig } from '../../../src/config/config.ts'
import type { InstallSettings } from './settings.ts'

/** The part of the configuration that the units depend on. */
export function installSettingsOf({ backup, dataDir, database }: Config): InstallSettings {
  const location = backup.database ?? database
  return {
    installRoot: backup.installRoot,
    dataDir,
    databaseFile: location.kind === 'sqlite' ? location.path : undefined,
    staging: backup.staging,
    hasDrive: backup.drive.apiUrl !== undefined,
    tokenFile: backup.drive.tokenFile,
    secretsFile: backup.drive.secretsFile,
    textfile: backup.textfile,
    tmpDir: backup.tmpDir,
    mediaGlobs: backup.mediaGlobs,
    clean: backup.clean,
    timeZone: backup.timeZone,
    window: { start: backup.windowStart, end: backup.windowEnd, retryEveryMs: backup.retryEveryMs },
    selfcheckForMs: backup.selfcheckForMs,
  }
}

const FROM_ENVIRONMENT = /^environment (\S+)$/

/** The environment variables that settings come from: a unit does not have those of a shell. */
export function shellVariablesOf({ settings }: Pick<LoadedConfig, 'settings'>): string[] {
  return settings.flatMap(({ source }) => FROM_ENVIRONMENT.exec(source)?.[1] ?? [])
}
