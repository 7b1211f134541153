import { startPostgres } from '../../test/support/postgres.ts'

/** A PostgreSQL server with its own defaults, by which a commit is on disk; answers the address of its database. */
export async function startDurablePostgres(stack: AsyncDisposableStack): Promise<string> {
  const { url, stop } = await startPostgres({ durable: true })
  stack.defer(stop)
  return url
}
