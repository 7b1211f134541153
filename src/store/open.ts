import type { Clock } from '../kernel/clock.ts'
import { AppError } from '../kernel/errors.ts'
import type { Logger } from '../kernel/logger.ts'
import type { Metrics } from '../kernel/metrics.ts'
import type { Secret } from '../kernel/secret.ts'
import { openPostgres } from './dialects/postgres.ts'
import { openSqlite } from './dialects/sqlite.ts'
import type { Store } from './store.ts'

export type DatabaseAddress =
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'postgres'; readonly url: Secret }

export interface StoreOptions {
  readonly database: DatabaseAddress
  readonly clock: Clock
  readonly metrics: Metrics
  readonly logger: Logger
}

/** Opens the database of that address; a SQLite file is made when it is not there. The caller closes it. */
export async function openStore({ database, ...rest }: StoreOptions): Promise<Store> {
  return database.kind === 'sqlite'
    ? openSqlite({ ...rest, path: database.path })
    : openPostgres({ ...rest, url: database.url })
}

/** The same store, with every write refused as `read_only`. */
export function readOnly(store: Store): Store {
  return {
    ...store,
    write: async () => {
      throw new AppError(
        'unavailable',
        'read_only',
        'The platform is read-only at the moment; nothing was changed.',
      )
    },
  }
}
