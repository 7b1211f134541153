import { silentLogger } from '../../../src/kernel/logger.ts'
import {
  backupsDirectory,
  installReportJson,
  installReportText,
  installRoutine,
  installSettingsOf,
  formatUnits,
  shellVariablesOf,
  TargetRoot,
  uninstallRoutine,
  type InstallDeps,
  type InstallReport,
} from '../install/index.ts'
import { RECOGNITION_REMEDIES } from '../host/platform-reader.ts'
import { placesOf, readNight, recognitionOf, type BackupParts } from '../parts.ts'
import type { CommandResult } from './result.ts'

export interface InstallOptions {
  /** An image, instead of this host. */
  readonly root?: string
  readonly print?: boolean
}

/** `platform backup install` */
export async function install(parts: BackupParts, { root, print }: InstallOptions): Promise<CommandResult> {
  const target = new TargetRoot(root)
  const deps = installDeps(parts, target)
  if (print) {
    const units = formatUnits(deps)
    return { exitCode: 0, text: units, json: { units } }
  }
  return resultOf(await installRoutine(target, deps))
}

/** `platform backup uninstall` */
export async function uninstall(
  parts: BackupParts,
  { root }: Pick<InstallOptions, 'root'>,
): Promise<CommandResult> {
  const target = new TargetRoot(root)
  const report = await uninstallRoutine(target, installDeps(parts, target))
  if (target.isHost) await parts.openAlerts({ signal: parts.runtime.signal }).deliver()
  return resultOf(report)
}

function installDeps(parts: BackupParts, root: TargetRoot): InstallDeps {
  const { config, runtime, shell, logger } = parts
  const settings = installSettingsOf(config)
  return {
    settings,
    program: runtime.program,
    clock: runtime.clock,
    shell,
    shellVariables: shellVariablesOf(runtime.loaded),
    // An image has run no night yet.
    otherServers: (root.isHost ? readNight(config)?.sharedWith : undefined) ?? [],
    platformProblem: async () => (root.isHost ? platformProblem(parts) : undefined),
    registerHeartbeats() {
      // The alerts in an image are sent when the image runs, so the log of this host does not name them.
      const log = root.isHost ? logger : silentLogger
      const directory = root.locate(backupsDirectory(settings))
      return parts.openAlerts({ directory, logger: log, signal: runtime.signal }).registerHeartbeats()
    },
  }
}

async function platformProblem({ config, runtime }: BackupParts): Promise<string | undefined> {
  const answer = await recognitionOf(config, runtime.clock)
  if (answer.outcome === 'recognised') return undefined
  const { directory } = placesOf(config)
  return `the platform at ${config.backup.platformApi} takes no alerts: ${answer.reason}; until then they wait in ${directory}; ${RECOGNITION_REMEDIES[answer.outcome]}`
}

function resultOf(report: InstallReport): CommandResult {
  return { exitCode: 0, text: installReportText(report), json: installReportJson(report) }
}
