import { createHash } from 'node:crypto'
import { createReadStream, mkdirSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

export interface BackupInput {
  readonly directory: string
  readonly database: string
  readonly logs: string
  /** SHA-256 of the database, as the step that makes the snapshot knows it. */
  readonly sha256: string
}

const MEGABYTE = 1_024 ** 2
const ROWS_A_MEGABYTE = 4_000
const LOGS = 4

/** Nine tenths are a SQLite database. Half of each record is random, so that it compresses about as data does. */
export async function makeBackupInput(directory: string, megabytes: number): Promise<BackupInput> {
  const logs = join(directory, 'logs')
  mkdirSync(logs, { recursive: true })
  const database = join(directory, 'platform.db')
  writeDatabase(database, Math.ceil(megabytes * 0.9))
  for (let log = 1; log <= LOGS; log++)
    await writeLog(join(logs, `${log}.log`), Math.ceil(megabytes / (10 * LOGS)))
  return { directory, database, logs, sha256: await sha256Of(database) }
}

function writeDatabase(path: string, megabytes: number): void {
  using database = new DatabaseSync(path)
  database.exec('pragma journal_mode = off; pragma synchronous = off; pragma locking_mode = exclusive')
  database.exec(
    'create table orders (seq integer primary key, order_id text not null unique, record text not null) strict',
  )
  const insert = database.prepare('insert into orders (order_id, record) values (?, ?)')
  const records = recordsFrom(1)
  for (let written = 0; written < megabytes; written++) {
    database.exec('begin')
    for (let row = 0; row < ROWS_A_MEGABYTE; row++) {
      const record = records.next().value
      insert.run(`${written}-${row}`, record.repeat(2))
    }
    database.exec('commit')
  }
  database.exec('pragma journal_mode = wal')
}

async function writeLog(path: string, megabytes: number): Promise<void> {
  const records = recordsFrom(2)
  await using file = await open(path, 'wx')
  for (let written = 0; written < megabytes; written++) {
    const lines: string[] = []
    for (let length = 0; length < MEGABYTE; length += lines.at(-1)?.length ?? 1)
      lines.push(`${records.next().value}\n`)
    await file.writeFile(Buffer.from(lines.join('')).subarray(0, MEGABYTE))
  }
}

// Numerical Recipes, chapter 7: enough for content that does not repeat
const MULTIPLIER = 1_664_525
const INCREMENT = 1_013_904_223

function* recordsFrom(start: number): Generator<string, never> {
  for (let seed = start; ;) {
    seed = (Math.imul(seed, MULTIPLIER) + INCREMENT) >>> 0
    const text = `${seed.toString(36)}${Math.imul(seed, 31).toString(36)}`
    yield `{"order_id":"${text}","platform":"shop","status":"paid","amount_cents":${seed % 100_000}}`
  }
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path, { highWaterMark: MEGABYTE })) hash.update(chunk as Buffer)
  return hash.digest('hex')
}
