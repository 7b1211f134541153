import type { DatabaseSync } from 'node:sqlite'

/** A table, with the expressions that read it as a whole. */
export interface SqliteTable {
  readonly name: string
  /** In their order. */
  readonly columns: readonly string[]
  /** A name of the number by which the engine orders the rows; undefined for a table that has none. */
  readonly rowid: string | undefined
  /** An expression for all values of a row; no two rows with different values have the same text. */
  readonly rowText: string
}

interface Column {
  readonly name: string
  readonly type: string
}

// Names of the row number, as long as no column has the same (sqlite.org/lang_createtable.html, ROWIDs).
const ROWID_NAMES = ['rowid', '_rowid_', 'oid']
const COLUMNS_A_CALL = 20

/** The tables of the platform, without those of the engine itself. */
export function tablesOf(database: DatabaseSync): SqliteTable[] {
  const rows = database
    .prepare(
      `select name, wr, strict from pragma_table_list
       where schema = 'main' and type = 'table' and name not like 'sqlite^_%' escape '^' order by name`,
    )
    .all()
  return rows.map(({ name, wr, strict }) =>
    toTable(String(name), columnsOf(database, String(name)), { hasRowid: wr === 0, isStrict: strict === 1 }),
  )
}

function columnsOf(database: DatabaseSync, table: string): Column[] {
  const rows = database.prepare('select name, type from pragma_table_info(?) order by cid').all(table)
  return rows.map(({ name, type }) => ({ name: String(name), type: String(type).toUpperCase() }))
}

function toTable(
  name: string,
  columns: readonly Column[],
  { hasRowid, isStrict }: { readonly hasRowid: boolean; readonly isStrict: boolean },
): SqliteTable {
  const names = columns.map((column) => column.name)
  const taken = new Set(names.map((name) => name.toLowerCase()))
  const rowid = hasRowid ? ROWID_NAMES.find((name) => !taken.has(name)) : undefined
  const parts = columns.flatMap((column) => textOf(identifier(column.name), isStrict ? column.type : ''))
  return { name, columns: names, rowid, rowText: concatCall([...parts, `char(10)`]) }
}

/** Values of a known type are text already, or begin with their length, so that none looks like two. */
const TEXTS_OF_TYPES: Readonly<Record<string, (column: string) => string[]>> = {
  INTEGER: (column) => [column, `','`],
  INT: (column) => [column, `','`],
  // The length of a NULL is NULL, and `concat` leaves it out.
  TEXT: (column) => [`octet_length(${column})`, `':'`, column, `','`],
  BLOB: (column) => [`octet_length(${column})`, `':'`, column, `','`],
}

function textOf(column: string, type: string): string[] {
  return (TEXTS_OF_TYPES[type] ?? textOfAnyType)(column)
}

/** The value with its type: 1, 1.0, '1' and x'31' are different. `quote` writes a number with all its digits. */
function textOfAnyType(column: string): string[] {
  const value = `case typeof(${column}) when 'real' then quote(${column}) else ${column} end`
  return [`typeof(${column})`, `octet_length(${column})`, `':'`, value, `','`]
}

/** A call takes a limited number of arguments. */
function concatCall(parts: readonly string[]): string {
  const calls: string[] = []
  for (let at = 0; at < parts.length; at += COLUMNS_A_CALL)
    calls.push(`concat(${parts.slice(at, at + COLUMNS_A_CALL).join(', ')})`)
  return calls.length > 1 ? concatCall(calls) : (calls[0] ?? `''`)
}

export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
