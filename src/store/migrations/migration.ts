import type { Tx } from '../store.ts'

/** One step of the schema. A released step is never changed; a change is a new step. */
export interface Migration {
  readonly name: string
  /** Whether a release without this step must refuse to work on the database. */
  readonly breaking: boolean
  up(tx: Tx): Promise<void>
}
