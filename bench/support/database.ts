import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { systemClock } from '../../src/kernel/clock.ts'
import { silentLogger } from '../../src/kernel/logger.ts'
import { noMetrics } from '../../src/kernel/metrics.ts'
import { migrate } from '../../src/store/migrate.ts'
import { openStore, type DatabaseAddress } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'

/** The store as the platform opens it, in this process; it says and records nothing. */
export function openQuietStore(database: DatabaseAddress): Promise<Store> {
  return openStore({ database, clock: systemClock, metrics: noMetrics, logger: silentLogger })
}

/** A database with the current schema and nothing in it. */
export async function migrateDatabase(database: DatabaseAddress): Promise<void> {
  const store = await openQuietStore(database)
  try {
    await migrate(store, systemClock)
  } finally {
    await store.close()
  }
}

/** The SQLite database of a data directory. */
export function sqliteIn(dataDir: string): DatabaseAddress & { kind: 'sqlite' } {
  return { kind: 'sqlite', path: join(dataDir, 'platform.db') }
}

/** The database of a data directory, beside the program that may have it open. */
export function openDatabase(dataDir: string): DatabaseSync {
  return new DatabaseSync(sqliteIn(dataDir).path, { timeout: 10_000 })
}
