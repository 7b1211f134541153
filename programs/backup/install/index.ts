export { installSettingsOf, shellVariablesOf } from './from-config.ts'
export {
  installRoutine,
  printedUnits,
  uninstallRoutine,
  type InstallDeps,
  type InstallReport,
} from './install.ts'
export { nextDrill, nextRun } from './next-run.ts'
export { installReportJson, installReportText } from './report-text.ts'
export { backupsDirectory, type InstalledProgram, type InstallSettings } from './settings.ts'
export { TargetRoot } from './target-root.ts'
