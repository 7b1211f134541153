import { alignColumns } from '../../../src/kernel/text.ts'
import { toRfc3339 } from '../../../src/kernel/time.ts'
import type { InstallReport } from './install.ts'
import { localTimeText } from './next-run.ts'

export { installSettingsOf, shellVariablesOf } from './from-config.ts'
export {
  installRoutine,
  formatUnits,
  uninstallRoutine,
  type InstallDeps,
  type InstallReport,
} from './install.ts'
export { nextDrill, nextRun } from './next-run.ts'
export { backupsDirectory, type InstalledProgram, type InstallSettings } from './settings.ts'
export { TargetRoot } from './target-root.ts'

/** The outcome of `install` or `uninstall` for a terminal. */
export function installReportText({ entries, next, notes }: InstallReport): string {
  const rows = entries.map(({ path, result, note = '' }) => [result, path, note])
  const table = alignColumns([['result', 'path', 'note'], ...rows])
  const times = next
    ? [
        `next run: ${localTimeText(next.run, next.timeZone)}`,
        `next restore drill: ${localTimeText(next.drill, next.timeZone)}`,
      ]
    : []
  const below = [...times, ...notes]
  return below.length === 0 ? table : `${table}\n${below.join('\n')}\n`
}

/** The same as one object, for `--json`. */
export function installReportJson({ entries, next, notes }: InstallReport): object {
  const times = next ? { next_run: toRfc3339(next.run), next_drill: toRfc3339(next.drill) } : {}
  return { files: entries, ...times, notes }
}
