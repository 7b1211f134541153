import { CompiledQuery } from 'kysely'
import type { Queries, Store } from '../../src/store/store.ts'

interface Step {
  readonly detail: string
}

/** The plan of each prepared statement that `work` runs, as SQLite explains it; the steps of a plan are joined with `; `. */
export async function plansOf(
  { read }: Store,
  work: (queries: Queries) => Promise<unknown>,
): Promise<readonly string[]> {
  const plans: string[] = []
  await work({
    ...read,
    async run(statement, parameters) {
      const { text, values } = statement.bind('sqlite', read.db, parameters)
      const { rows } = await read.db.executeQuery<Step>(
        CompiledQuery.raw(`explain query plan ${text}`, [...values]),
      )
      plans.push(rows.map(({ detail }) => detail).join('; '))
      return read.run(statement, parameters)
    },
  })
  return plans
}
