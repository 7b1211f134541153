import { open, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { flushDirectory } from '../private-file.ts'
import { drillMarkdown } from './drill-markdown.ts'
import type { DrillFacts, DrillReport } from './drill-report.ts'

/** Writes `restore-drill-<id>.json` and `.md`, each as a whole; a repeated drill replaces them. */
export async function writeReports(directory: string, report: DrillReport, facts: DrillFacts): Promise<void> {
  const name = join(directory, `restore-drill-${report.backup_id}`)
  await replaceWhole(`${name}.json`, `${JSON.stringify(report, null, 2)}\n`)
  await replaceWhole(`${name}.md`, drillMarkdown(report, facts))
  flushDirectory(directory)
}

async function replaceWhole(path: string, text: string): Promise<void> {
  const temporary = `${path}.${process.pid}.tmp`
  {
    await using file = await open(temporary, 'w', 0o600)
    await file.writeFile(text)
    await file.sync()
  }
  await rename(temporary, path)
}
