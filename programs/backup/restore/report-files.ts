import { join } from 'node:path'
import { replaceFile } from '../../files/replace-file.ts'
import { drillMarkdown } from './drill-markdown.ts'
import type { DrillFacts, DrillReport } from './drill-report.ts'

/** Writes `restore-drill-<id>.json` and `.md`, each as a whole; a repeated drill replaces them. */
export function writeReports(directory: string, report: DrillReport, facts: DrillFacts): void {
  const name = join(directory, `restore-drill-${report.backup_id}`)
  replaceFile(`${name}.json`, `${JSON.stringify(report, null, 2)}\n`)
  replaceFile(`${name}.md`, drillMarkdown(report, facts))
}
