import { join } from 'node:path'
import { toRfc3339 } from '../../../src/kernel/time.ts'
import { replaceFile } from '../../files/replace-file.ts'
import { DRILL_CHECKS, outcomeOf, type DrillFacts, type DrillReport } from './drill-report.ts'
import { countText, durationText, sizeText } from './words.ts'

/** Writes `restore-drill-<id>.json` and `.md`, each as a whole; a repeated drill replaces them. */
export function writeReports(directory: string, report: DrillReport, facts: DrillFacts): void {
  const name = join(directory, `restore-drill-${report.backup_id}`)
  replaceFile(`${name}.json`, `${JSON.stringify(report, null, 2)}\n`)
  replaceFile(`${name}.md`, drillMarkdown(report, facts))
}

/** `restore-drill-<id>.md` */
function drillMarkdown(report: DrillReport, facts: DrillFacts): string {
  const parts = [
    `# Restore drill ${report.backup_id}: ${outcomeOf(report)}`,
    introduction(report),
    factTable(report, facts),
    '## Checks',
    checkTable(report),
    ...notReached(report),
    ...(report.passed ? tableOfRows(facts) : remedy(report)),
  ]
  return `${parts.join('\n\n')}\n`
}

function introduction({ passed, checks }: DrillReport): string {
  const last = checks.at(-1)
  return passed
    ? 'The backup was downloaded, unpacked and read to its end. It can be restored.'
    : `**This backup could not be restored.** The check \`${last?.name ?? ''}\` failed: ${cell(last?.detail ?? '')}`
}

function factTable(report: DrillReport, facts: DrillFacts): string {
  return table([
    ['Fact', 'Value'],
    ...(facts.archive ? [['Archive', `\`${facts.archive.file}\`, ${sizeText(facts.archive.size)}`]] : []),
    ['Backup made', toRfc3339(facts.createdAt)],
    ['Drill begun', toRfc3339(facts.startedAt)],
    [report.passed ? 'Time to restore (RTO)' : 'Time to the failure', durationText(report.rto_seconds)],
    ['Age of the data (RPO)', durationText(report.rpo_seconds)],
    ...(facts.servers.length > 0 ? [['Servers', facts.servers.join(', ')]] : []),
    ...(facts.schemaVersion === '' ? [] : [['Schema', facts.schemaVersion]]),
  ])
}

function checkTable({ checks }: DrillReport): string {
  return table([
    ['Check', 'Result', 'Detail'],
    ...checks.map(({ name, ok, detail }) => [`\`${name}\``, ok ? 'ok' : '**failed**', detail]),
  ])
}

function notReached({ checks }: DrillReport): string[] {
  const reached = new Set(checks.map(({ name }) => name))
  const names = DRILL_CHECKS.filter((name) => !reached.has(name))
  return names.length === 0 ? [] : [`Not made: ${names.map((name) => `\`${name}\``).join(', ')}.`]
}

function tableOfRows({ rows }: DrillFacts): string[] {
  const filled = Object.entries(rows).toSorted(([, one], [, other]) => other - one)
  if (filled.length === 0) return []
  const lines = filled.map(([name, count]) => [`\`${name}\``, countText(count)])
  return ['## Restored rows', table([['Table', 'Rows'], ...lines])]
}

/** With the wrong key every sealed backup fails alike. */
const KEY_REMEDIES = [
  '`backup.encryption.identity_file` has to be the private key of `backup.encryption.recipients`: put your copy of it there, and run the drill again.',
  'If the key is lost, no backup that was sealed for it can be read. Make another key (`age-keygen`), name its public key in `backup.encryption.recipients`, and go on with the step that makes a new backup. Until then the files of `platform data backup` on the server are all there is.',
]
const REMEDIES = [
  'Restore another backup: `platform backup restore ID`. The one of the night before may be whole.',
  'Make a new one now: `platform backup run --no-reboot`, then `platform backup restore --latest`.',
  'The ticket of this drill stays open until a person closes it.',
]

function remedy({ checks }: DrillReport): string[] {
  const steps = [...(checks.at(-1)?.name === 'decrypts' ? KEY_REMEDIES : []), ...REMEDIES]
  return ['## What to do', steps.map((step, index) => `${index + 1}. ${step}`).join('\n')]
}

function table([head = [], ...rows]: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cell).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

/** A file name or an error may contain what ends a cell. */
function cell(text: string): string {
  return text.replaceAll(/[\n\r]+/g, ' ').replaceAll('|', '\\|')
}
