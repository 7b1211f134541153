import type { Tx } from '../store.ts'

/** One migration of the schema. A released one is never changed; later ones are appended. */
export interface Migration {
  readonly name: string
  /** Whether a program that does not know this migration must refuse the database. */
  readonly breaking: boolean
  up(tx: Tx): Promise<void>
}
