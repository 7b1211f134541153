import type { Tx } from '../store.ts'

/** One step of the schema. A released step is never changed; the next one is added behind it. */
export interface Migration {
  readonly name: string
  /** Whether a program that does not know this step must not work on the database any more. */
  readonly breaking: boolean
  up(tx: Tx): Promise<void>
}
