import type { ChannelError } from '../../ports/payments.ts'

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

/** The error of a bill that cannot be read, for a reason such as `it has no end`. */
type BillError = (reason: string) => ChannelError

/** The cell of a row in a column; empty in a bill without the column. */
export type CellOf<Column extends string> = (column: Column) => string

/**
 * How the rows of a bill are read: by the titles of the columns, which its header has in any order. Throws for a missing
 * column, unless it is one of `optional`.
 */
export function cellsByTitle<Column extends string>(
  titles: Readonly<Record<Column, string>>,
  header: readonly string[],
  missing: (title: string) => ChannelError,
  optional: readonly NoInfer<Column>[] = [],
): (cells: readonly string[]) => CellOf<Column> {
  const indexes = new Map<Column, number>()
  for (const column of Object.keys(titles) as Column[]) {
    const index = header.indexOf(titles[column])
    if (index < 0 && !optional.includes(column)) throw missing(titles[column])
    indexes.set(column, index)
  }
  return (cells) => (column) => cells[indexes.get(column) ?? -1] ?? ''
}

/**
 * The cents of a cell. The error has not the cell, which may have a text of a payer; `row` counts from the row below the
 * header.
 */
export function requireCents(cell: string, row: number, title: string, error: BillError): number {
  const cents = parseCents(cell)
  if (cents !== undefined) return cents
  throw error(
    `row ${row} has no amount in the column ${title}; expected digits with at most two decimals, such as 1234.50`,
  )
}

/**
 * The lines of a text that comes in pieces, without line ends, byte order mark and empty lines. The lines of one piece come
 * together, because waiting for each of a million lines takes longer than reading it.
 */
export async function* linesOf(
  chunks: AsyncIterable<Uint8Array>,
  encoding: 'utf-8' | 'gbk',
): AsyncGenerator<readonly string[]> {
  const decoder = new TextDecoder(encoding)
  let rest = ''
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > MAXIMUM_CHARACTERS)
      throw new Error(`a line has more than ${MAXIMUM_CHARACTERS} characters`)
    yield lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line)).filter((line) => line !== '')
  }
  rest = (rest + decoder.decode()).trimEnd()
  if (rest !== '') yield [rest]
}

// A row of a bill has some 500.
const MAXIMUM_CHARACTERS = 1_048_576
