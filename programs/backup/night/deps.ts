import type { WaitingClock } from '../../../src/kernel/clock.ts'
import type { Logger } from '../../../src/kernel/logger.ts'
import type { NightAlerts } from '../alerts/night-alerts.ts'
import type { DatabaseFiles } from '../../../src/ports/database-files.ts'
import type { Drive } from '../drive/port.ts'
import type { Retention } from '../drive/retention.ts'
import type { ClosedGate } from '../host/gates.ts'
import type { LogRoots } from '../package/log-copies.ts'
import type { Compression } from '../package/write-package.ts'
import type { Schedule } from './schedule.ts'
import type { StateStore } from './state-file.ts'

/** The settings of `[backup]` that a run depends on. Paths are absolute. */
export interface NightSettings extends Schedule, LogRoots {
  readonly server: 'primary' | 'standby'
  readonly hostName: string
  /** Identifies this server among others that use the same folder of the drive. */
  readonly madeBy: string
  /** The database, as people may see it. */
  readonly sourcePath: string
  /** The directory with the files of the platform's certificates. */
  readonly certificates: string
  /** Where the package is made. Everything in it is removed. */
  readonly staging: string
  readonly compression: Compression
  readonly recipients: readonly string[]
  readonly remoteKeep: Retention
  readonly reboot: boolean
}

/** The drive, and the folder on it that has the backups. */
export interface OpenedDrive {
  readonly drive: Drive
  readonly rootDirectory: string
}

/** What a run reports. Never rejects because the platform is away. */
export type NightReporter = Pick<NightAlerts, 'report' | 'beat' | 'deliver'> & {
  openTicket(ticket: Parameters<NightAlerts['openTicket']>[0]): Promise<unknown>
}

/** What a cleaning step has done. */
export interface CleanedStep {
  readonly step: string
  readonly freedBytes: number
  /** One line. */
  readonly text: string
}

/** The outcome of the cleaning. */
export interface CleaningOutcome {
  readonly steps: readonly CleanedStep[]
  /** The failure of the steps that have failed; its code is `clean_failed`. */
  readonly failure: Error | undefined
}

/** Why a package has no journal. */
export interface NoJournal {
  readonly reason: string
  /** False on a server without one. */
  readonly isLost: boolean
}

/** This server. */
export interface NightHost {
  /** The names of the cleaning steps that are configured. */
  readonly cleaningSteps: readonly string[]
  clean(signal: AbortSignal | undefined): Promise<CleaningOutcome>
  /** The first gate that holds the reboot back. Never rejects. */
  closedGate(state: {
    readonly isVerified: boolean
    readonly rebootedOn: string | undefined
  }): Promise<ClosedGate | undefined>
  /** Resolves with undefined when the reboot has begun, otherwise with the reason. */
  reboot(): Promise<string | undefined>
  /** Writes the journal of the system. */
  exportJournal(target: string, signal: AbortSignal | undefined): Promise<NoJournal | undefined>
}

/** What a run needs. A dry run has other implementations of state, drive, alerts and host. */
export interface NightDeps {
  readonly settings: NightSettings
  readonly clock: WaitingClock
  /** The log file. */
  readonly logger: Logger
  readonly state: StateStore
  readonly databases: Pick<DatabaseFiles, 'packagedAs' | 'databaseBytes' | 'snapshot' | 'inspect'>
  /** Throws `token_unreadable`. */
  readonly openDrive: (signal: AbortSignal | undefined) => OpenedDrive
  readonly alerts: NightReporter
  readonly host: NightHost
  /** Takes what is being done, for a terminal. */
  readonly progress: (text: string) => void
  readonly signal?: AbortSignal | undefined
}
