const NEWLINE = 0x0a
const COPY = /^COPY (?:"?[^".]+"?\.)?"?([^" (]+)"? \((.*)\) FROM stdin;$/
const END_OF_COPY = '\\.'
// Longer lines outside of the data are no `COPY`.
const LONGEST_COPY = 16_384

/** Takes what a script contains: each table with its columns, then each of its rows as a line. */
export interface CopyListener {
  table(name: string, columns: string): void
  row(name: string, line: Uint8Array): void
}

/**
 * Counts the rows of each table in the script that `pg_restore` writes: in a `COPY` section each line is a row, because a
 * line break in a value is escaped (PostgreSQL, COPY, text format).
 */
export class CopySections {
  readonly rows: Record<string, number> = {}
  readonly #firstColumnOf: string
  readonly #firstColumn: string[] = []
  readonly #listener: CopyListener | undefined
  #rest: Buffer = Buffer.alloc(0)
  #table: string | undefined

  /** Keeps the first column of the rows of that table. */
  constructor(firstColumnOf: string, listener?: CopyListener) {
    this.#firstColumnOf = firstColumnOf
    this.#listener = listener
  }

  get firstColumn(): readonly string[] {
    return this.#firstColumn
  }

  push(chunk: Buffer): void {
    const data = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk
    let start = 0
    for (let end = data.indexOf(NEWLINE); end >= 0; end = data.indexOf(NEWLINE, start)) {
      this.#line(data, start, end)
      start = end + 1
    }
    this.#rest = data.subarray(start)
  }

  #line(data: Buffer, start: number, end: number): void {
    if (this.#table === undefined) return this.#begin(data, start, end)
    if (end - start === END_OF_COPY.length && data.toString('latin1', start, end) === END_OF_COPY) {
      this.#table = undefined
      return
    }
    this.rows[this.#table] = (this.rows[this.#table] ?? 0) + 1
    this.#listener?.row(this.#table, data.subarray(start, end))
    if (this.#table === this.#firstColumnOf)
      this.#firstColumn.push(data.toString('utf8', start, end).split('\t', 1)[0] ?? '')
  }

  #begin(data: Buffer, start: number, end: number): void {
    if (end - start > LONGEST_COPY) return
    const [, table, columns = ''] = COPY.exec(data.toString('utf8', start, end)) ?? []
    if (table === undefined) return
    this.#table = table
    this.rows[table] = 0
    this.#listener?.table(table, columns)
  }
}
