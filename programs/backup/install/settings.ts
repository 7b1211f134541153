import type { NightWindow } from './calendar.ts'

/** The settings of `[backup]` that the units depend on. Paths are absolute. */
export interface InstallSettings {
  readonly installRoot: string
  readonly dataDir: string
  /** The SQLite file; undefined for PostgreSQL. */
  readonly databaseFile: string | undefined
  readonly staging: string
  /** Whether `backup.drive.api_url` is set. */
  readonly hasDrive: boolean
  readonly tokenFile: string
  readonly secretsFile: string
  /** node_exporter's file; undefined without one. */
  readonly textfile: string | undefined
  readonly tmpDir: string
  readonly mediaGlobs: readonly string[]
  /** The names of the cleaning steps. */
  readonly clean: readonly string[]
  /** An IANA name, such as `Europe/Berlin`. */
  readonly timeZone: string
  readonly window: NightWindow
  readonly selfcheckForMs: number
}

/** How the units start the program. */
export interface InstalledProgram {
  /** The program as an argument list: `['/usr/bin/node', '/opt/platform/bin/platform.mjs']`. */
  readonly command: readonly string[]
  /** Undefined when there is none. */
  readonly configFile: string | undefined
  /** The directory in which `install` runs: relative paths of the configuration begin there. */
  readonly workingDirectory: string
}

/** Where the state, the outbox and the reports of drills are. */
export function backupsDirectory({ installRoot }: InstallSettings): string {
  return `${installRoot}/backups`
}

/** Where the log of the routine is. */
export function logDirectory({ installRoot }: InstallSettings): string {
  return `${installRoot}/logs/backend`
}
