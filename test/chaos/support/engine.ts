import { copyFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import assert from 'node:assert/strict'
import { Client } from 'pg'
import { temporaryDirectory } from '../../support/platform.ts'
import { createTestDatabase } from '../../support/postgres.ts'

export type EngineName = 'sqlite' | 'postgres'

export interface Row {
  readonly [column: string]: unknown
}

/** Direct access to the database of a platform. */
export interface Engine {
  readonly name: EngineName
  /** The environment variables with which the platform uses it. */
  readonly env: Readonly<Record<string, string>>
  rows(sql: string): Promise<Row[]>
  /** Changes rows beside the platform. */
  change(sql: string): Promise<void>
  /** The number in the first column of the first row. */
  count(sql: string): Promise<number>
}

/** Opens an empty database; SQLite's is in the data directory of the platform. */
export async function openEngine(
  name: EngineName,
  dataDir: string,
  scope: AsyncDisposableStack,
): Promise<Engine> {
  const { env, rows, change } = name === 'postgres' ? await onPostgres(scope) : onSqlite(dataDir)
  const count = async (sql: string) => Number(Object.values((await rows(sql))[0] ?? {})[0])
  return { name, env, rows, change, count }
}

async function onPostgres(scope: AsyncDisposableStack) {
  const { url, drop } = await createTestDatabase()
  scope.defer(drop)
  const client = new Client({ connectionString: url })
  await client.connect()
  scope.defer(() => client.end())
  const rows = async (sql: string) => (await client.query<Row>(sql)).rows
  const change = async (sql: string) => void (await client.query(sql))
  return { env: { DATABASE_URL: url }, rows, change }
}

function onSqlite(dataDir: string) {
  const rows = async (sql: string): Promise<Row[]> => {
    using database = new DatabaseSync(join(dataDir, 'platform.db'), { readOnly: true, timeout: 5_000 })
    return database.prepare(sql).all()
  }
  const change = async (sql: string): Promise<void> => {
    using database = new DatabaseSync(join(dataDir, 'platform.db'), { timeout: 5_000 })
    database.exec(sql)
  }
  return { env: {}, rows, change }
}

/**
 * A copy of a SQLite database with its log. Reading the copy leaves the recovery of the original to the next start of
 * the platform.
 */
export function copyOf(dataDir: string): ReturnType<typeof temporaryDirectory> {
  const copy = temporaryDirectory()
  for (const name of ['platform.db', 'platform.db-wal', 'platform.db-journal']) {
    if (existsSync(join(dataDir, name))) copyFileSync(join(dataDir, name), join(copy.path, name))
  }
  return copy
}

export function requireIntegrity(dataDir: string, when: string): void {
  using copy = copyOf(dataDir)
  using database = new DatabaseSync(join(copy.path, 'platform.db'))
  const check = database.prepare('pragma integrity_check').all()
  assert.deepEqual(
    check.map((row) => row['integrity_check']),
    ['ok'],
    when,
  )
}
