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

const HEADER = 'kind,type,number,payment_id,here_status,here_cents,there_status,there_cents,provider_id'

/** Differences as CSV (RFC 4180). */
export function differencesCsv(differences: readonly Difference[]): string {
  const lines = differences.map((difference) => COLUMNS.map((column) => cell(difference[column])).join(','))
  return [HEADER, ...lines, ''].join('\r\n')
}

// A spreadsheet would run a text that begins like this as a formula (OWASP, CSV injection).
const FORMULA = /^[=+\-@\t\r]/

function cell(value: string | number | null): string {
  if (value === null) return ''
  const text = String(value)
  const safe = typeof value === 'string' && FORMULA.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
