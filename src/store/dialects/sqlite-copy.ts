import { setImmediate } from 'node:timers/promises'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import {
  copiedTable,
  copyRunning,
  OWN_TABLES,
  quoteName,
  UNFINISHED,
  type CopiedRow,
  type CopiedTable,
  type CopyProgress,
  type CopyTarget,
  type HeldLease,
} from '../copy/raw-database.ts'

const LOCK_MS = 10_000
const BATCH_ROWS = 5_000
const BATCH_CHARACTERS = 4_194_304

/** Opens an existing file. */
export function openRawSqlite(path: string): CopyTarget {
  return new SqliteCopy(path)
}

class SqliteCopy implements CopyTarget {
  readonly #database: DatabaseSync

  constructor(path: string) {
    this.#database = new DatabaseSync(path, { enableForeignKeyConstraints: false, timeout: LOCK_MS })
  }

  async tables(): Promise<CopiedTable[]> {
    const list = `select name from pragma_table_list where schema = 'main' and type = 'table' order by name`
    return this.#names(list)
      .filter((name) => !name.startsWith('sqlite_') && !OWN_TABLES.includes(name))
      .map((name) => this.#table(name))
  }

  async count(table: string): Promise<number> {
    return this.#all<{ rows: number }>(`select count(*) as rows from ${quoteName(table)}`)[0]?.rows ?? 0
  }

  async rows(table: CopiedTable, after: CopiedRow | null): Promise<CopiedRow[]> {
    // Reading is synchronous, so that the answers of the other side get a turn of the event loop first.
    await setImmediate()
    return readRows(this.#database, table, after)
  }

  async lastNumbers(): Promise<ReadonlyMap<string, number>> {
    const sequences = this.#all<{ name: string; seq: number }>('select name, seq from sqlite_sequence')
    const numbers = new Map(sequences.map(({ name, seq }) => [name, seq]))
    for (const { name, key } of await this.tables()) {
      if (key.join() !== 'seq') continue
      const [newest] = this.#all<{ seq: number | null }>(`select max(seq) as seq from ${quoteName(name)}`)
      numbers.set(name, Math.max(newest?.seq ?? 0, numbers.get(name) ?? 0))
    }
    return numbers
  }

  async leases(after: number, before: number): Promise<HeldLease[]> {
    const text = 'select name, holder from leases where expires_at > ? and expires_at < ?'
    return this.#all<HeldLease>(text, after, before)
  }

  async progress(): Promise<ReadonlyMap<string, CopyProgress> | undefined> {
    if (this.#names(`select name from sqlite_schema where name = 'database_copy'`).length === 0)
      return undefined
    const rows = this.#all<{ name: string; progress: string }>('select name, progress from database_copy')
    return new Map(rows.map(({ name, progress }) => [name, JSON.parse(progress) as CopyProgress]))
  }

  async begin(tables: readonly CopiedTable[]): Promise<void> {
    const { name, breaking, applied_at: appliedAt } = UNFINISHED
    await this.#transaction(() => {
      this.#run('create table database_copy (name text primary key, progress text not null) strict')
      for (const table of tables) this.#run(`delete from ${quoteName(table.name)}`)
      const text = 'insert or ignore into schema_migrations (name, breaking, applied_at) values (?, ?, ?)'
      this.#run(text, name, breaking, appliedAt)
    })
  }

  async add(
    { name, columns }: CopiedTable,
    batches: AsyncIterable<readonly CopiedRow[]>,
    from: CopyProgress,
    progress: () => CopyProgress,
  ): Promise<void> {
    const places = columns.map(() => '?').join()
    const text = `insert into ${quoteName(name)} (${columns.map(quoteName).join()}) values (${places})`
    const insert = this.#database.prepare(text)
    await this.#transaction(async () => {
      for await (const rows of batches) for (const row of rows) insert.run(...row)
      saveProgress(this.#database, name, from, progress())
    })
  }

  async clear(table: string): Promise<void> {
    await this.#transaction(() => {
      this.#run(`delete from ${quoteName(table)}`)
      this.#run('delete from database_copy where name = ?', table)
    })
  }

  /** Does nothing: indexes of SQLite are not removed before the copy, which is only for test installations. */
  async addIndexes(): Promise<void> {}

  async finish(numbers: ReadonlyMap<string, number>): Promise<void> {
    await this.#transaction(() => {
      for (const [name, seq] of numbers) this.#continueAfter(name, seq)
      this.#run('delete from schema_migrations where name = ?', UNFINISHED.name)
      this.#run('drop table database_copy')
    })
    this.#run('pragma wal_checkpoint(truncate)')
  }

  async close(): Promise<void> {
    this.#database.close()
  }

  /** A table without `autoincrement` goes on after its newest row by itself. */
  #continueAfter(table: string, seq: number): void {
    const [found] = this.#all<{ sql: string }>('select sql from sqlite_schema where name = ?', table)
    if (!/autoincrement/i.test(found?.sql ?? '')) return
    const before = this.#all<{ seq: number }>('select seq from sqlite_sequence where name = ?', table)
    this.#run('delete from sqlite_sequence where name = ?', table)
    const highest = Math.max(seq, ...before.map((row) => row.seq))
    this.#run('insert into sqlite_sequence (name, seq) values (?, ?)', table, highest)
  }

  /** Generated columns are not listed. */
  #table(name: string): CopiedTable {
    const text = 'select name, pk from pragma_table_info(?) order by name'
    const found = this.#all<{ name: string; pk: number }>(text, name)
    const key = found.filter(({ pk }) => pk > 0).sort((one, other) => one.pk - other.pk)
    return copiedTable(
      name,
      found.map((column) => column.name),
      key.map((column) => column.name),
    )
  }

  #all<R>(text: string, ...values: SQLInputValue[]): R[] {
    return this.#database.prepare(text).all(...values) as R[]
  }

  #names(text: string): string[] {
    return this.#all<{ name: string }>(text).map(({ name }) => name)
  }

  #run(text: string, ...values: SQLInputValue[]): void {
    this.#database.prepare(text).run(...values)
  }

  async #transaction(work: () => void | Promise<void>): Promise<void> {
    this.#run('begin immediate')
    try {
      await work()
      this.#run('commit')
    } catch (error) {
      this.#run('rollback')
      throw error
    }
  }
}

/** Row by row, so that no more than a batch is in memory. */
function readRows(
  database: DatabaseSync,
  { name, columns, key }: CopiedTable,
  after: CopiedRow | null,
): CopiedRow[] {
  const order = key.map(quoteName).join()
  const place = after ? `where (${order}) > (${after.map(() => '?').join()})` : ''
  const text = `select ${columns.map(quoteName).join()} from ${quoteName(name)} ${place} order by ${order} limit ${BATCH_ROWS}`
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
