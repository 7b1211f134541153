import {
  installReportJson,
  installReportText,
  installRoutine,
  installSettingsOf,
  printedUnits,
  shellVariablesOf,
  TargetRoot,
  uninstallRoutine,
  type InstallDeps,
  type InstallReport,
} from '../install/index.ts'
import type { BackupParts } from '../parts.ts'
import type { CommandResult } from './result.ts'

export interface InstallOptions {
  /** An image, instead of this host. */
  readonly root?: string
  readonly print?: boolean
}

/** `platform backup install` */
export async function install(parts: BackupParts, { root, print }: InstallOptions): Promise<CommandResult> {
  const deps = installDeps(parts)
  if (print) {
    const units = printedUnits(deps)
    return { exitCode: 0, text: units, json: { units } }
  }
  return resultOf(await installRoutine(new TargetRoot(root), deps))
}

/** `platform backup uninstall` */
export async function uninstall(
  parts: BackupParts,
  { root }: Pick<InstallOptions, 'root'>,
): Promise<CommandResult> {
  return resultOf(await uninstallRoutine(new TargetRoot(root), installDeps(parts)))
}

function installDeps(parts: BackupParts): InstallDeps {
  const { config, runtime, shell } = parts
  return {
    settings: installSettingsOf(config),
    program: runtime.program,
    clock: runtime.clock,
    shell,
    shellVariables: shellVariablesOf(runtime.loaded),
    registerHeartbeats: () => parts.openAlerts().registerHeartbeats(),
  }
}

function resultOf(report: InstallReport): CommandResult {
  return { exitCode: 0, text: installReportText(report), json: installReportJson(report) }
}
