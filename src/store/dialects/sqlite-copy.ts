import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import {
  copiedTable,
  copyRunning,
  OWN_TABLES,
  UNFINISHED,
  type CopiedRow,
  type CopiedTable,
  type CopyProgress,
  type CopyTarget,
} from '../copy-database.ts'

const BATCH_ROWS = 5_000
const BATCH_CHARACTERS = 4_194_304

/** Opens an existing file. */
export function openRawSqlite(path: string): CopyTarget {
  const database = new DatabaseSync(path, { enableForeignKeyConstraints: false, timeout: 10_000 })
  const all = <R>(text: string, ...values: SQLInputValue[]) => database.prepare(text).all(...values) as R[]
  const transaction = (work: () => void) => {
    database.exec('begin immediate')
    try {
      work()
      database.exec('commit')
    } catch (error) {
      database.exec('rollback')
      throw error
    }
  }
  const names = (text: string) => all<{ name: string }>(text).map(({ name }) => name)
  const tables = () =>
    names(`select name from pragma_table_list where schema = 'main' and type = 'table' order by name`)
      .filter((name) => !name.startsWith('sqlite_') && !OWN_TABLES.includes(name))
      .map((name) => tableOf(all, name))

  return {
    tables: async () => tables(),
    count: async (table) =>
      all<{ rows: number }>(`select count(*) as rows from ${quote(table)}`)[0]?.rows ?? 0,
    rows: async (table, after) => readRows(database, table, after),
    async lastNumbers() {
      const given = all<{ name: string; seq: number }>('select name, seq from sqlite_sequence')
      const newest = tables()
        .filter(({ columns, key }) => columns.includes('seq') && key.join() === 'seq')
        .map(({ name }) => ({
          name,
          seq: all<{ seq: number | null }>(`select max(seq) as seq from ${quote(name)}`)[0]?.seq ?? 0,
        }))
      const numbers = new Map<string, number>()
      for (const { name, seq } of [...newest, ...given])
        numbers.set(name, Math.max(seq, numbers.get(name) ?? 0))
      return numbers
    },
    leaseHolders: async (now) =>
      all<{ holder: string }>(
        'select holder from leases where expires_at > ? and expires_at < ?',
        now,
        Number.MAX_SAFE_INTEGER,
      ).map(({ holder }) => holder),
    async progress() {
      if (names(`select name from sqlite_schema where name = 'database_copy'`).length === 0) return undefined
      const rows = all<{ name: string; progress: string }>('select name, progress from database_copy')
      return new Map(rows.map(({ name, progress }) => [name, JSON.parse(progress) as CopyProgress]))
    },
    async begin(copied) {
      transaction(() => {
        database.exec('create table database_copy (name text primary key, progress text not null) strict')
        for (const { name } of copied) database.exec(`delete from ${quote(name)}`)
        database
          .prepare('insert into schema_migrations (name, breaking, applied_at) values (?, ?, ?)')
          .run(UNFINISHED.name, UNFINISHED.breaking, UNFINISHED.applied_at)
      })
    },
    async add(table, rows, from, to) {
      const columns = table.columns.map(quote).join()
      const insert = database.prepare(
        `insert into ${quote(table.name)} (${columns}) values (${table.columns.map(() => '?').join()})`,
      )
      transaction(() => {
        saveProgress(database, table.name, from, to)
        for (const row of rows) insert.run(...row)
      })
    },
    async clear(table) {
      transaction(() => {
        database.exec(`delete from ${quote(table)}`)
        database.prepare('delete from database_copy where name = ?').run(table)
      })
    },
    async finish(numbers) {
      transaction(() => {
        const numbered = new Set(names('select name from sqlite_sequence'))
        for (const [name, seq] of numbers)
          if (numbered.has(name))
            database.prepare('update sqlite_sequence set seq = max(seq, ?) where name = ?').run(seq, name)
          else if (isNumbered(all, name))
            database.prepare('insert into sqlite_sequence (name, seq) values (?, ?)').run(name, seq)
        database.prepare('delete from schema_migrations where name = ?').run(UNFINISHED.name)
        database.exec('drop table database_copy')
      })
      database.exec('pragma wal_checkpoint(truncate)')
    },
    close: async () => database.close(),
  }
}

type All = <R>(text: string, ...values: SQLInputValue[]) => R[]

function tableOf(all: All, name: string): CopiedTable {
  // Generated columns are not listed.
  const found = all<{ name: string; pk: number }>(
    'select name, pk from pragma_table_info(?) order by name',
    name,
  )
  const key = found.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk)
  return copiedTable(
    name,
    found.map((each) => each.name),
    key.map((each) => each.name),
  )
}

function isNumbered(all: All, table: string): boolean {
  const [found] = all<{ sql: string }>('select sql from sqlite_schema where name = ?', table)
  return /autoincrement/i.test(found?.sql ?? '')
}

/** Row by row, so that no more than a batch is in memory. */
function readRows(
  database: DatabaseSync,
  { name, columns, key }: CopiedTable,
  after: CopiedRow | null,
): CopiedRow[] {
  const order = key.map(quote).join()
  const place = after ? `where (${order}) > (${after.map(() => '?').join()})` : ''
  const text = `select ${columns.map(quote).join()} from ${quote(name)} ${place} order by ${order} limit ${BATCH_ROWS}`
  const statement = database.prepare(text)
  statement.setReturnArrays(true)
  const rows: CopiedRow[] = []
  let characters = 0
  for (const row of statement.iterate(...(after ?? [])) as Iterable<unknown> as Iterable<CopiedRow>) {
    rows.push(row)
    for (const value of row) characters += typeof value === 'string' ? value.length : 1
    if (characters > BATCH_CHARACTERS) break
  }
  return rows
}

function saveProgress(database: DatabaseSync, name: string, from: CopyProgress, to: CopyProgress): void {
  const isFirst = from.after === null && !from.isDone
  const statement = isFirst
    ? database.prepare(
        `insert into database_copy (progress, name) values (?, ?) on conflict do update set progress = excluded.progress
         where progress = ?`,
      )
    : database.prepare('update database_copy set progress = ? where name = ? and progress = ?')
  const { changes } = statement.run(JSON.stringify(to), name, JSON.stringify(from))
  if (Number(changes) !== 1) throw copyRunning()
}

function quote(name: string): string {
  return `"${name}"`
}
