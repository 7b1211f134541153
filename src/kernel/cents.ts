const DECIMAL = /^(-?)(\d{1,17})(?:\.(\d{1,2})0*)?$/

/**
 * Integer cents of a decimal text with at most two places that are not zero, such as `12.3` or `-0.05`; undefined for
 * another text, and for an amount beyond 2^53 - 1 cents. Never a fraction on the way: 0.07 * 100 is not 7.
 */
export function parseCents(text: string): number | undefined {
  const [, sign, units = '', fraction = ''] = DECIMAL.exec(text) ?? []
  if (sign === undefined) return undefined
  const cents = Number(units + fraction.padEnd(2, '0'))
  if (!Number.isSafeInteger(cents)) return undefined
  return sign === '' || cents === 0 ? cents : -cents
}

/** The decimal text of integer cents with two places: `1230` → `12.30`. */
export function formatCents(cents: number): string {
  const digits = String(Math.abs(cents)).padStart(3, '0')
  return `${cents < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`
}

/** What is wrong with a bill; the cell itself may have a text of a payer. `row` counts from the row below the header. */
export function amountFault(row: number, column: string): string {
  return `row ${row} has no amount in the column ${column}; expected digits with at most two decimals, such as 1234.50`
}
