import { systemClock, type Clock } from '../kernel/clock.ts'
import { readOnlyError } from '../kernel/errors.ts'
import { silentLogger, type Logger } from '../kernel/logger.ts'
import { noMetrics, type Metrics } from '../kernel/metrics.ts'
import type { Secret } from '../kernel/secret.ts'
import type { PostgresOptions } from './dialects/postgres.ts'
import type { SqliteOptions } from './dialects/sqlite.ts'
import type { RestoreTarget } from './files/restore-target.ts'
import { monitorStore, type MonitoredStore } from './monitor.ts'
import type { Store } from './store.ts'
import { STORE_LIMITS, type StoreLimits } from './unavailable.ts'

export type DatabaseAddress =
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'postgres'; readonly url: Secret }

export interface StoreOptions {
  readonly database: DatabaseAddress
  readonly clock: Clock
  readonly metrics: Metrics
  readonly logger: Logger
  /** Changes no file, not even to recover after another process crashed; such a store must not be written to. */
  readonly readOnly?: boolean
  /** Overrides of {@link STORE_LIMITS}. */
  readonly limits?: Partial<StoreLimits>
}

/** Opens the database of that address; creates a SQLite file when there is none. The caller closes it. */
export async function openStore({
  database,
  readOnly = false,
  limits,
  ...rest
}: StoreOptions): Promise<MonitoredStore> {
  const parts = { ...rest, limits: { ...STORE_LIMITS[database.kind], ...limits } }
  const store = await openEngine(database, { ...parts, readOnly })
  return monitorStore(store, { ...rest, checkMs: parts.limits.checkMs })
}

/** Runs `use` with the database of that address, for what neither logs nor measures, and closes it. */
export async function useStore<T>(
  options: Pick<StoreOptions, 'database' | 'readOnly'>,
  use: (store: Store) => Promise<T>,
): Promise<T> {
  const store = await openStore({ ...options, clock: systemClock, metrics: noMetrics, logger: silentLogger })
  try {
    return await use(store)
  } finally {
    await store.close()
  }
}

/** Loads the module of that engine only. */
async function openEngine(
  database: DatabaseAddress,
  parts: Omit<SqliteOptions, 'path'> & Omit<PostgresOptions, 'url'>,
): Promise<Store> {
  if (database.kind === 'sqlite') {
    const { openSqlite } = await import('./dialects/sqlite.ts')
    return openSqlite({ ...parts, path: database.path })
  }
  const { openPostgres } = await import('./dialects/postgres.ts')
  return openPostgres({ ...parts, url: database.url })
}

/** The restoration of the database at that address. */
export async function restoreTarget(database: DatabaseAddress): Promise<RestoreTarget> {
  if (database.kind === 'sqlite') {
    const { sqliteRestore } = await import('./dialects/sqlite-restore.ts')
    return sqliteRestore(database.path)
  }
  const { postgresRestore } = await import('./dialects/postgres-restore.ts')
  return postgresRestore(database.url, (work) => useStore({ database }, work))
}

/** The same store, with every write refused as `read_only`. */
export function readOnly(store: Store): Store {
  return {
    ...store,
    write: async () => {
      throw readOnlyError()
    },
  }
}
