import { createReadStream } from 'node:fs'

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

/** What is wrong with a bill; the cell itself may have a text of a payer. `row` counts from the row below the header. */
export function amountFault(row: number, column: string): string {
  return `row ${row} has no amount in the column ${column}; expected digits with at most two decimals, such as 1234.50`
}

/**
 * The lines of a text that comes in pieces, without their ends, the mark of the encoding and empty lines: those of one piece
 * together, for to wait for each of a million takes longer than to read them.
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

export function linesOfFile(file: string, encoding: 'utf-8' | 'gbk'): AsyncGenerator<readonly string[]> {
  return linesOf(createReadStream(file), encoding)
}
