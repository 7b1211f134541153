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
  const lines = differences.map((difference) => COLUMNS.map((column) => cell(difference[column])).join(','))
  return [TITLES.join(','), ...lines, ''].join('\r\n')
}

// A spreadsheet would run a text that begins like this as a formula (OWASP, CSV injection).
const FORMULA = /^[=+\-@\t\r]/

function cell(value: string | number | null): string {
  if (value === null) return ''
  const text = String(value)
  const safe = typeof value === 'string' && FORMULA.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** Differences as a table of Markdown (GitHub Flavored Markdown, section 4.10). */
export function differencesMarkdown(differences: readonly Difference[]): string {
  const rowOf = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const rows = differences.map((difference) =>
    rowOf(COLUMNS.map((column) => markdownCell(difference[column]))),
  )
  return [rowOf(TITLES), rowOf(TITLES.map(() => '---')), ...rows, ''].join('\n')
}

/** A text of the provider stays text: no mark-up, no link of its own, no end of the cell. */
function markdownCell(value: string | number | null): string {
  return String(value ?? '')
    .replaceAll(/[\r\n]+/g, ' ')
    .replaceAll(/[\\`*_{}[\]()#+!|<>&~:.@-]/g, String.raw`\$&`)
}
