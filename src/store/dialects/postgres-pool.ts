import type { PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely'
import type { Pool, PoolClient } from 'pg'
import type { Clock } from '../../kernel/clock.ts'
import { createWatch } from '../time-limit.ts'

/** The texts that the server parses and plans once for each connection, with the names that it knows them by. */
export type StatementNames = ReadonlyMap<string, string>

export interface AttentivePool extends PostgresPool {
  /** The same connections, with another limit for the answer to a query. */
  withLimit(queryMs: number): AttentivePool
}

/**
 * A pool that gives up a connection on which no answer comes. Nothing else tells of a server that has vanished, or of
 * a network that swallows what it is given: the system would wait for a quarter of an hour. Once one connection was
 * lost in that way, those that have not answered since are not used again either.
 */
export function attentivePool(
  pool: Pool,
  { clock, queryMs, names }: { clock: Clock; queryMs: number; names: StatementNames },
): AttentivePool {
  const answeredAt = new WeakMap<PoolClient, number>()
  let lostAt = Number.NEGATIVE_INFINITY

  const isSuspect = (client: PoolClient) => (answeredAt.get(client) ?? clock.monotonic()) <= lostAt

  const connect = async (limitMs: number): Promise<PostgresPoolClient> => {
    for (;;) {
      const client = await pool.connect()
      if (!isSuspect(client)) return attentive(client, limitMs)
      client.release(true)
    }
  }

  const attentive = (client: PoolClient, limitMs: number): PostgresPoolClient => {
    let lost: Error | undefined
    const watch = createWatch(limitMs)
    const query = async <R>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<R>> => {
      if (lost) throw lost
      const name = names.get(text)
      const config = { text, values: [...values], ...(name !== undefined && { name }) }
      const answer = await watch.over(client.query(config), () => {
        lostAt = clock.monotonic()
        return (lost = noAnswer(limitMs))
      })
      answeredAt.set(client, clock.monotonic())
      return answer as PostgresQueryResult<R>
    }
    return {
      query: query as PostgresPoolClient['query'],
      release(destroy) {
        watch.rest()
        client.release(lost ?? destroy)
      },
    }
  }

  const withLimit = (limitMs: number): AttentivePool => ({
    connect: () => connect(limitMs),
    end: () => pool.end(),
    options: pool.options,
    withLimit,
  })
  return withLimit(queryMs)
}

function noAnswer(limitMs: number): Error {
  return Object.assign(new Error(`the database gave no answer within ${limitMs} ms`), { code: 'ETIMEDOUT' })
}
