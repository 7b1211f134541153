import { sql } from 'kysely'
import type { Capabilities } from './dialects/capabilities.ts'
import type { AnyQuery } from './pages.ts'

/**
 * The condition of a list that one of the columns contains a text. Capital and small letters of ASCII are the same; others as
 * the database compares them. No index helps: the list reads rows until its page is full, so it is read with `readsAside`.
 */
export function contains(...columns: readonly string[]) {
  return (query: AnyQuery, text: string, { positionIn }: Capabilities) => {
    const found = columns.map((column) => sql`${positionIn}(lower(${sql.ref(column)}), lower(${text})) > 0`)
    return query.where(sql<boolean>`(${sql.join(found, sql` or `)})`)
  }
}
