const CENTS = 100

interface Notation {
  readonly amount: RegExp
  /** Between the thousands. */
  readonly group: '' | ',' | '.'
  readonly decimal: ',' | '.'
}

/** As people write amounts. `1,250` has thousands, because lists show it so; `1.250` may be meant either way. */
const NOTATIONS: readonly Notation[] = [
  { amount: /^\d+(?:\.\d{1,2})?$/, group: '', decimal: '.' },
  { amount: /^\d+,\d{1,2}$/, group: '', decimal: ',' },
  { amount: /^\d{1,3}(?:,\d{3})+(?:\.\d{1,2})?$/, group: ',', decimal: '.' },
  { amount: /^\d{1,3}(?:\.\d{3})+,\d{1,2}$/, group: '.', decimal: ',' },
]

/** `1,299.00` → 129900. Undefined for what is not clearly an amount of at least 0 with at most two decimals. */
export function parseAmount(text: string): number | undefined {
  const given = text.trim()
  const notation = NOTATIONS.find(({ amount }) => amount.test(given))
  if (!notation) return undefined
  const number = given.replaceAll(notation.group, '').replace(notation.decimal, '.')
  const cents = Math.round(Number(number) * CENTS)
  return Number.isSafeInteger(cents) ? cents : undefined
}
