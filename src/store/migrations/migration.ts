import type { Tx } from '../store.ts'

/** One migration of the schema. A released one is never changed; later ones are appended. */
export interface Migration {
  readonly name: string
  /** Whether a program that does not know this migration must refuse the database. */
  readonly breaking?: boolean
  /** `at` is the time of the migration, in epoch milliseconds. */
  up(tx: Tx, at: number): Promise<void>
}
