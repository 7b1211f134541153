import type { Config } from '../../../src/config/config.ts'
import type { WaitingClock } from '../../../src/kernel/clock.ts'
import type { Logger } from '../../../src/kernel/logger.ts'
import type { NightHost } from '../night/deps.ts'
import { localTime } from '../night/local-time.ts'
import { clean, cleaningFailure, describeCleaning } from './cleaning/clean.ts'
import type { CleaningDeps } from './cleaning/step.ts'
import type { FileChanges } from './file-changes.ts'
import { firstClosedGate, rebootGates } from './gates.ts'
import { exportJournal } from './journal-export.ts'
import type { PlatformReader } from './platform-reader.ts'
import { drainAndReboot } from './reboot.ts'
import type { Shell } from './shell.ts'

export interface NightHostOptions {
  readonly config: Config
  readonly clock: WaitingClock
  readonly logger: Logger
  readonly shell: Shell
  readonly files: FileChanges
  readonly platform: PlatformReader
  /** Where the system keeps its files; left out: where Linux keeps them. */
  readonly places?: CleaningDeps['places']
  readonly signal?: AbortSignal | undefined
}

/** This server, as the configuration describes it. */
export function createNightHost(options: NightHostOptions): NightHost {
  const { config, clock, logger, shell, files, platform, places, signal } = options
  const { backup } = config
  const log = (line: string) => logger.info({}, line)
  const { gatewayUrl, tokenFile } = backup.standby
  return {
    cleaningSteps: backup.clean,
    async clean(stop) {
      const { tmpDir, mediaGlobs } = backup
      const deps = { shell, files, clock, tmpDir, mediaGlobs, protectedPaths: protectedPaths(config) }
      const results = await clean(backup.clean, { ...deps, signal: stop, ...(places && { places }) })
      const steps = results.map((result) => ({
        step: result.step,
        freedBytes: result.freedBytes,
        text: describeCleaning(result),
      }))
      return { steps, failure: cleaningFailure(results) }
    },
    closedGate({ isVerified, rebootedOn }) {
      const gates = rebootGates({
        clock,
        platform,
        platformApi: backup.platformApi,
        isVerified: () => isVerified,
        today: () => localTime(clock.now(), backup.timeZone).date,
        rebootedOn: () => rebootedOn,
        standby: gatewayUrl === undefined || tokenFile === undefined ? undefined : { gatewayUrl, tokenFile },
        signal,
      })
      return firstClosedGate(gates, (gate, answer) => logger.info({ gate, ...answer }, 'a gate was asked'))
    },
    reboot: () => drainAndReboot({ shell, command: backup.rebootCommand, log }),
    exportJournal,
  }
}

/** The paths that no cleaning step enters, even if a setting names a directory around them. */
function protectedPaths({ backup, dataDir, database }: Config): string[] {
  const databases = [backup.database, database].flatMap((each) =>
    each?.kind === 'sqlite' ? [each.path] : [],
  )
  return [dataDir, backup.installRoot, backup.staging, ...backup.logs, ...databases]
}
