import { pipeline } from 'node:stream/promises'
import { Client } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { parsePostgresUrl } from '../../kernel/addresses.ts'
import type { Secret } from '../../kernel/secret.ts'
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
import { isUniqueViolation } from './postgres-errors.ts'
import { CHECKED_NUMBERS } from './postgres.ts'

const CONNECT_MS = 10_000
const [FEWEST_ROWS, MOST_ROWS, FIRST_ROWS] = [8, 2_000, 64]
const BATCH_CHARACTERS = 4_194_304

const COLUMNS = `
  select c.table_name as name, c.column_name as column, k.ordinal_position as place
  from information_schema.columns c
  join information_schema.tables t using (table_schema, table_name)
  left join information_schema.table_constraints p
    on p.table_schema = c.table_schema and p.table_name = c.table_name and p.constraint_type = 'PRIMARY KEY'
  left join information_schema.key_column_usage k
    on k.constraint_schema = p.constraint_schema and k.constraint_name = p.constraint_name
      and k.table_name = c.table_name and k.column_name = c.column_name
  where c.table_schema = current_schema() and t.table_type = 'BASE TABLE' and c.is_generated = 'NEVER'
  order by c.table_name collate "C", c.column_name collate "C"`

const FOREIGN_KEYS = `
  select conrelid::regclass::text as "table", conname as name, pg_get_constraintdef(oid) as definition
  from pg_constraint where contype = 'f' and connamespace = current_schema()::regnamespace`

const INDEXES = `
  select t.relname as "table", i.indexrelid::regclass::text as name, quote_ident(c.conname) as constraint,
    coalesce(pg_get_constraintdef(c.oid), pg_get_indexdef(i.indexrelid)) as definition
  from pg_index i join pg_class t on t.oid = i.indrelid
  left join pg_constraint c on c.conindid = i.indexrelid and c.contype in ('p', 'u')
  where t.relnamespace = current_schema()::regnamespace`

const NUMBERED = `
  select table_name as name, pg_get_serial_sequence(quote_ident(table_name), column_name) as sequence
  from information_schema.columns where table_schema = current_schema() and is_identity = 'YES'`

/** Begin the names of rows that keep what was removed instead of a progress. */
const [CONSTRAINT, INDEX] = ['constraint ', 'index ']

/** Connects to the first server that takes changes, or to any that the address allows. */
export async function openRawPostgres(url: Secret): Promise<CopyTarget> {
  return new PostgresCopy(await connect(url))
}

async function connect(url: Secret): Promise<Client> {
  const { urls = [], role } = parsePostgresUrl(url.reveal()) ?? {}
  let failure: unknown = new Error('the address names no server')
  for (const connectionString of urls) {
    const client = new Client({
      connectionString,
      connectionTimeoutMillis: CONNECT_MS,
      application_name: 'platform',
      types: CHECKED_NUMBERS,
    })
    client.on('error', () => undefined)
    try {
      await client.connect()
      const { rows } = await client.query<{ off: boolean }>(
        `select current_setting('transaction_read_only') = 'off' as off`,
      )
      if (role === 'any' || rows[0]?.off === true) return client
      failure = new Error('no server takes changes')
    } catch (error) {
      failure = error
    }
    await client.end().catch(() => undefined)
  }
  throw failure
}

class PostgresCopy implements CopyTarget {
  readonly #client: Client
  /** So many rows of the last batch of a table fill a batch. */
  readonly #limits = new Map<string, number>()

  constructor(client: Client) {
    this.#client = client
  }

  async tables(): Promise<CopiedTable[]> {
    const rows = await this.#all<{ name: string; column: string; place: number | null }>(COLUMNS)
    const byName = Map.groupBy(rows, ({ name }) => name)
    return [...byName]
      .filter(([name]) => !OWN_TABLES.includes(name))
      .map(([name, columns]) => {
        const key = columns
          .filter(({ place }) => place !== null)
          .sort((one, other) => (one.place ?? 0) - (other.place ?? 0))
        return copiedTable(
          name,
          columns.map(({ column }) => column),
          key.map(({ column }) => column),
        )
      })
  }

  async count(table: string): Promise<number> {
    const [row] = await this.#all<{ rows: number }>(`select count(*) as rows from ${quoteName(table)}`)
    return row?.rows ?? 0
  }

  async rows({ name, columns, key }: CopiedTable, after: CopiedRow | null): Promise<CopiedRow[]> {
    const order = key.map(quoteName).join()
    const place = after ? `where (${order}) > (${after.map((_, index) => `$${index + 1}`).join()})` : ''
    const limit = this.#limits.get(name) ?? FIRST_ROWS
    const { rows } = await this.#client.query<(string | number | null)[]>({
      text: `select ${columns.map(quoteName).join()} from ${quoteName(name)} ${place} order by ${order} limit ${limit}`,
      values: [...(after ?? [])],
      rowMode: 'array',
    })
    const largest = Math.max(1, ...rows.map(charactersOf))
    const next = Math.min(Math.floor(BATCH_CHARACTERS / largest), limit * 2, MOST_ROWS)
    this.#limits.set(name, Math.max(next, FEWEST_ROWS))
    return rows
  }

  async lastNumbers(): Promise<ReadonlyMap<string, number>> {
    const numbers = new Map<string, number>()
    for (const { name, sequence } of await this.#numbered()) {
      const [row] = await this.#all<{ last: number; used: boolean }>(
        `select last_value as last, is_called as used from ${sequence}`,
      )
      if (row?.used) numbers.set(name, row.last)
    }
    return numbers
  }

  async leases(after: number, before: number): Promise<HeldLease[]> {
    const text = 'select name, holder from leases where expires_at > $1 and expires_at < $2'
    return this.#all<HeldLease>(text, after, before)
  }

  async progress(): Promise<ReadonlyMap<string, CopyProgress> | undefined> {
    const [found] = await this.#all<{ name: string | null }>(
      `select to_regclass('database_copy')::text as name`,
    )
    if (typeof found?.name !== 'string') return undefined
    const rows = await this.#all<{ name: string; progress: string }>(
      'select name, progress from database_copy',
    )
    return new Map(
      rows
        .filter(({ name }) => !name.startsWith(CONSTRAINT) && !name.startsWith(INDEX))
        .map(({ name, progress }) => [name, JSON.parse(progress) as CopyProgress]),
    )
  }

  async begin(tables: readonly CopiedTable[]): Promise<void> {
    await this.#transaction(async () => {
      await this.#all('create table database_copy (name text primary key, progress text not null)')
      for (const { table, name, definition } of await this.#all<ForeignKey>(FOREIGN_KEYS)) {
        const constraint = `${table} add constraint ${quoteName(name)} ${definition}`
        await this.#all('insert into database_copy values ($1, $2)', `${CONSTRAINT}${name}`, constraint)
        await this.#all(`alter table ${table} drop constraint ${quoteName(name)}`)
      }
      await this.#removeIndexes(new Set(tables.map(({ name }) => name)))
      await this.#all(`truncate ${tables.map(({ name }) => quoteName(name)).join()}`)
      await this.#all(
        'insert into schema_migrations (name, breaking, applied_at) values ($1, $2, $3) on conflict do nothing',
        UNFINISHED.name,
        UNFINISHED.breaking,
        UNFINISHED.applied_at,
      )
    })
  }

  async add(
    { name, columns }: CopiedTable,
    batches: AsyncIterable<readonly CopiedRow[]>,
    from: CopyProgress,
    progress: () => CopyProgress,
  ): Promise<void> {
    await this.#transaction(async () => {
      const command = `copy ${quoteName(name)} (${columns.map(quoteName).join()}) from stdin`
      await pipeline(batches, linesOf, this.#client.query(copyFrom(command)))
      await this.#saveProgress(name, from, progress())
    })
  }

  async clear(table: string): Promise<void> {
    await this.#transaction(async () => {
      await this.#all(`truncate ${quoteName(table)}`)
      await this.#all('delete from database_copy where name = $1', table)
    })
  }

  async addIndexes(onIndex: (table: string) => void): Promise<void> {
    const kept = await this.#all<{ name: string; progress: string }>(KEPT_INDEXES, INDEX)
    for (const { name, progress } of kept) {
      const { table, statement } = JSON.parse(progress) as RemovedIndex
      onIndex(table)
      try {
        await this.#addIndex(name, statement)
      } catch (error) {
        if (!isUniqueViolation(error)) throw error
        // The source was served between two parts of the copy, and the rows are of two times: all are copied again.
        await this.clear(table)
        await this.#addIndex(name, statement)
      }
    }
  }

  async finish(numbers: ReadonlyMap<string, number>): Promise<void> {
    await this.#transaction(
      async () => {
        const kept = await this.#all<{ progress: string }>(
          'select progress from database_copy where starts_with(name, $1)',
          CONSTRAINT,
        )
        for (const { progress } of kept) await this.#all(`alter table ${progress}`)
        for (const { name, sequence } of await this.#numbered()) {
          const number = numbers.get(name) ?? 0
          if (number > 0) await this.#all('select setval($1, $2)', sequence, number)
        }
        await this.#all('delete from schema_migrations where name = $1', UNFINISHED.name)
        await this.#all('drop table database_copy')
      },
      { isDurable: true },
    )
    await this.#transaction(async () => void (await this.#all('analyze')))
  }

  async close(): Promise<void> {
    await this.#client.end()
  }

  async #saveProgress(name: string, from: CopyProgress, to: CopyProgress): Promise<void> {
    const isFirst = from.after === null && !from.isDone
    const text = isFirst
      ? `insert into database_copy as known (name, progress) values ($1, $2)
         on conflict (name) do update set progress = excluded.progress where known.progress = $3`
      : 'update database_copy set progress = $2 where name = $1 and progress = $3'
    const { rowCount } = await this.#client.query(text, [name, JSON.stringify(to), JSON.stringify(from)])
    if (rowCount !== 1) throw copyRunning()
  }

  #numbered() {
    return this.#all<{ name: string; sequence: string }>(NUMBERED)
  }

  async #addIndex(name: string, statement: string): Promise<void> {
    await this.#transaction(async () => {
      const removed = await this.#all('delete from database_copy where name = $1 returning name', name)
      if (removed.length === 0) throw copyRunning()
      await this.#all(statement)
    })
  }

  /** An index is made faster at the end than it grows with each row. */
  async #removeIndexes(tables: ReadonlySet<string>): Promise<void> {
    for (const { table, name, constraint, definition } of await this.#all<Index>(INDEXES)) {
      if (!tables.has(table)) continue
      const change = `alter table ${quoteName(table)}`
      const statement =
        constraint === null ? definition : `${change} add constraint ${constraint} ${definition}`
      const removed: RemovedIndex = { table, statement }
      await this.#all('insert into database_copy values ($1, $2)', `${INDEX}${name}`, JSON.stringify(removed))
      await this.#all(constraint === null ? `drop index ${name}` : `${change} drop constraint ${constraint}`)
    }
  }

  async #all<R extends object>(text: string, ...values: unknown[]): Promise<R[]> {
    return (await this.#client.query<R>(text, values)).rows
  }

  async #transaction(work: () => Promise<void>, { isDurable = false } = {}): Promise<void> {
    // An index of a large table takes minutes, whatever the server allows other programs.
    await this.#client.query('begin; set local statement_timeout = 0')
    // A server that stops loses the last batches, and the copy goes on before them.
    if (!isDurable) await this.#client.query('set local synchronous_commit = off')
    try {
      await work()
      await this.#client.query('commit')
    } catch (error) {
      await this.#client.query('rollback').catch(() => undefined)
      throw error
    }
  }
}

interface Index {
  readonly table: string
  readonly name: string
  /** The constraint that the index is for; null for one of its own. */
  readonly constraint: string | null
  readonly definition: string
}

/** The indexes of the largest tables first: they take long, and the source is read meanwhile. */
const KEPT_INDEXES = `
  select name, progress from database_copy where starts_with(name, $1)
  order by pg_relation_size(quote_ident(progress::json ->> 'table')::regclass) desc`

interface RemovedIndex {
  readonly table: string
  /** What makes it again. */
  readonly statement: string
}

interface ForeignKey {
  readonly table: string
  readonly name: string
  readonly definition: string
}

const ESCAPED = /[\\\t\n\r]/
const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }

async function* linesOf(batches: AsyncIterable<readonly CopiedRow[]>): AsyncGenerator<string> {
  for await (const rows of batches) yield rows.map(lineOf).join('')
}

/** A row in the text format of `COPY` (PostgreSQL, COPY, File Formats). */
function lineOf(row: CopiedRow): string {
  return `${row.map(fieldOf).join('\t')}\n`
}

function fieldOf(value: CopiedRow[number]): string {
  if (value === null) return '\\N'
  if (typeof value === 'number' || !ESCAPED.test(value)) return String(value)
  return value.replaceAll(/[\\\t\n\r]/g, (character) => ESCAPES[character] ?? character)
}

function charactersOf(row: CopiedRow): number {
  return row.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 1), 0)
}
