import { csvLine } from '../../../wire/csv.ts'
import type { Difference } from './model.ts'

const COLUMNS = [
  'kind',
  'type',
  'number',
  'paymentId',
  'hereStatus',
  'hereCents',
  'thereStatus',
  'thereCents',
  'providerId',
] as const satisfies readonly (keyof Difference)[]

const TITLES =
  'kind,type,number,payment_id,here_status,here_cents,there_status,there_cents,provider_id'.split(',')

/** Differences as CSV (RFC 4180). */
export function differencesCsv(differences: readonly Difference[]): string {
  const lines = differences.map((difference) => csvLine(COLUMNS.map((column) => difference[column])))
  return [csvLine(TITLES), ...lines].join('')
}

/** Differences as a table of Markdown (GitHub Flavored Markdown, section 4.10). */
export function differencesMarkdown(differences: readonly Difference[]): string {
  const rowOf = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const rows = differences.map((difference) =>
    rowOf(COLUMNS.map((column) => markdownCell(difference[column]))),
  )
  return [rowOf(TITLES), rowOf(TITLES.map(() => '---')), ...rows, ''].join('\n')
}

/** The value as text of a Markdown table: it cannot add mark-up or links, nor end the cell. */
function markdownCell(value: string | number | null): string {
  return String(value ?? '')
    .replaceAll(/[\r\n]+/g, ' ')
    .replaceAll(/[\\`*_{}[\]()#+!|<>&~:.@-]/g, String.raw`\$&`)
}
